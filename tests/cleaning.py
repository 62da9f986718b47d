"""A test run removes what it started and stored when it ends, however it ends. Its callers say what that is."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

MEMORY = Path("/dev/shm")
ROOM_BYTES = 3 << 30
"""This is several times what the largest suite was seen to fill; with less, stores go to the disk."""
_SCRIPT = """
read -r _
[ $# = 0 ] || "$@"
[ -z "$0" ] || rm -rf -- "$0"
"""
_WAIT_FOR_USERS = """
tries=600
while [ $tries -gt 0 ] && grep -qsxzF "TMPDIR=$0" /proc/[0-9]*/environ; do
    tries=$((tries - 1))
    sleep 0.1
done
"""
"""A process that was told to put files into a folder may do so until it has ended, too."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Cleanup:
    """A process that runs a command and removes a folder when it is left, or when this process has ended.

    It waits in a session of its own, so that a signal to the whole test run does not reach it.
    """

    def __init__(self, folder: Path | None = None, command: Sequence[str] = ()) -> None:
        self._arguments = [str(folder or ""), *command]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    def start(self) -> None:
        # The read ends when the pipe is closed: by this process, or by the system when this process has ended.
        command = ["sh", "-c", _SCRIPT, *self._arguments]
        silent = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=silent, stderr=silent, cwd="/", start_new_session=True
        )

    def finish(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None


def make_run_folder() -> tuple[Path, Cleanup]:
    """A new temporary folder, in memory where the machine has such a folder with room, and how it is removed.

    Others may look for files in it that they know the names of: PostgreSQL runs as another user.
    """
    has_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    folder = Path(tempfile.mkdtemp(prefix="tollgate-run-", dir=MEMORY if has_memory else None))
    folder.chmod(0o711)
    return folder, Cleanup(folder, ["sh", "-c", _WAIT_FOR_USERS, str(folder)])


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """The system sends this process a signal when the one that started it ends."""
    _control(_PR_SET_PDEATHSIG, number)


def adopt_orphans(*, does_adopt: bool = True) -> None:
    """Processes that lose their parent become children of this one, if they descend from it."""
    _control(_PR_SET_CHILD_SUBREAPER, int(does_adopt))


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def list_descendants(root: int) -> dict[int, str]:
    """Returns the name of every running process below this one, by its number."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while it is looked at.
        with suppress(OSError):
            before, _, after = path.read_text(errors="replace").rpartition(")")
            number, _, title = before.partition(" (")
            state, parent = after.split()[:2]
            children.setdefault(int(parent), []).append(int(number))
            if state != "Z":
                names[int(number)] = title
    found, below = {}, [root]
    while below:
        for child in children.get(below.pop(), ()):
            below.append(child)
            if child in names:
                found[child] = names[child]
    return found
