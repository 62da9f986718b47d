"""The command started warm: forked from a process that has read the whole program already, and otherwise as ever.

Reading it anew takes a second of computing, and the suites start it hundreds of times. How it starts cold is tested
where starting is the subject.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import tollgate.cli

_LOOK_EVERY_S = 0.01

_COMMANDS = tuple(f"tollgate.cli.{path.stem}" for path in sorted(Path(tollgate.cli.__file__).parent.glob("*.py")))
_PROGRAM = (*_COMMANDS, "tollgate.sandbox", "tollgate.wire.names", "tollgate.store.sqlite", "tollgate.store.postgres")
_MIGRATING = ("alembic.migration", "alembic.operations", "alembic.script")
"""Most servers of the tests have a new store."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([*_PROGRAM, *_MIGRATING])
# Two threads that look at once after one process could each read a half of how it ended.
_LOCK = threading.Lock()

Prepare = Callable[[], None]
"""This runs in the new process before the command begins; it is found there by name, so it stands in a module."""


class WarmProcess:
    """The part of `subprocess.Popen` that is needed; it ends with its starter and starts no process itself."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        out: Path,
        err: Path,
        prepare: Prepare | None = None,
    ) -> None:
        self.args = ["tollgate", *command]
        arguments = (self.args, dict(environment), str(out), str(err), prepare)
        with _LOCK:
            self._process = _CONTEXT.Process(target=_become_command, args=arguments, daemon=True)
            self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        with _LOCK:
            return self._process.exitcode

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(_LOOK_EVERY_S)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_warm(
    command: Sequence[str],
    environment: Mapping[str, str],
    timeout_s: float,
    *,
    check: bool = True,
    prepare: Prepare | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, as `subprocess.run` does."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = WarmProcess(command, environment, out, err, prepare)
        try:
            code = process.wait(timeout_s)
        finally:
            process.kill()
        done = subprocess.CompletedProcess(process.args, code, out.read_text(), err.read_text())
    if check:
        done.check_returncode()
    return done


def _become_command(
    command: list[str], environment: dict[str, str], out: str, err: str, prepare: Prepare | None
) -> None:
    """The forked process runs this; from here on nothing is shared with the tests."""
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    for number, path in ((1, out), (2, err)):
        with open(path, "ab") as file:
            os.dup2(file.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    if prepare is not None:
        prepare()
    tollgate.cli.main()


def _end_with_the_tests() -> None:
    """The process that was forked from does not end before its last child, so it cannot be waited for."""
    tests = multiprocessing.parent_process()
    assert tests is not None
    tests.join()
    os.kill(os.getpid(), signal.SIGKILL)
