"""Servers that start fast and die on command, forked from a process that has read the whole program already.

Starting anew sixty times would be most of what the suite does; the gateway itself runs as ever.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from crash.knife import CUTS, hone
from gateway import find_free_port

START_S = 30.0
DEATH_S = 20.0
LOOK_EVERY_S = 0.02

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["tollgate.cli", "tollgate.sandbox", "tollgate.store.sqlite", "tollgate.store.postgres", "uvicorn.lifespan.off"]
)
# Two threads that look at once after one process could each read a half of how it ended.
_LOCK = threading.Lock()


@dataclass
class Server:
    """`kill` is the power cord, `stop` the polite way; with a seam it dies by its own knife."""

    folder: Path
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seam: str = ""
    port: int = 0
    process: BaseProcess | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log_path(self) -> Path:
        return self.folder / "server.log"

    @property
    def pid(self) -> int:
        assert self.process is not None
        assert self.process.pid is not None
        return self.process.pid

    def start(self) -> None:
        self.launch()
        deadline = time.monotonic() + START_S
        while not self._is_ready():
            assert self.find_exit_code() is None, f"the server did not start:\n{self.read_log()}"
            assert time.monotonic() < deadline, f"the server is not ready after {START_S} s:\n{self.read_log()}"
            time.sleep(LOOK_EVERY_S)

    def launch(self) -> None:
        """Without waiting: it may be made to die before it is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = self.port or find_free_port()
        command = ["tollgate", "serve", "--data", str(self.folder), "--port", str(self.port), *self.arguments]
        with _LOCK:
            self.process = _CONTEXT.Process(
                target=become_server, args=(command, dict(self.environment), str(self.log_path), self.seam)
            )
            self.process.start()

    def stop(self) -> int:
        """Ask it to end and wait; the exit code tells whether it went well."""
        self.ask_to_stop()
        return self._wait()

    def ask_to_stop(self) -> None:
        assert self.process is not None
        self.process.terminate()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self._wait()

    def wait_for_death(self) -> None:
        """By its own hand; anything but SIGKILL was an accident."""
        code = self._wait()
        assert code == -9, f"{self.read_log()}\nended with {code} instead of its knife {self.seam}"

    def find_exit_code(self) -> int | None:
        assert self.process is not None
        with _LOCK:
            return self.process.exitcode

    def read_log(self) -> str:
        return self.log_path.read_text()[-4000:]

    def _wait(self) -> int:
        deadline = time.monotonic() + DEATH_S
        while (code := self.find_exit_code()) is None:
            assert time.monotonic() < deadline, f"{self.read_log()}\nstill alive after {DEATH_S} s, knife: {self.seam}"
            time.sleep(LOOK_EVERY_S)
        self.process = None
        return code

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def become_server(command: list[str], environment: dict[str, str], log_path: str, seam: str) -> None:
    """What the forked process does; from here on nothing is shared with the tests."""
    with open(log_path, "ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    inherited = [name for name in os.environ if name.startswith("TOLLGATE_")]
    for name in inherited:
        del os.environ[name]
    os.environ.update(environment)
    sys.argv = command
    if seam:
        hone(CUTS[seam])
    from tollgate.cli import main

    main()
