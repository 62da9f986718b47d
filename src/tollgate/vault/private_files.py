"""Files with keys in them: readable by their owner alone, replaced whole and durably.

What they hold is not known here.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PRIVATE_MODE = 0o600


class KeyringError(Exception):
    """A file with keys is missing, readable by others or malformed; the message says which, never what it holds."""


def read_private(path: Path, noun: str) -> bytes:
    """Returns the content; refuses a file that others could read."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        content = path.read_bytes()
    except OSError as error:
        raise KeyringError(f"cannot read the {noun} {path}: {error.strerror}") from None
    if mode & 0o077:
        raise KeyringError(f"the {noun} {path} is open to others (mode {mode:04o}); make it 0600")
    return content


def write_private(path: Path, content: bytes) -> None:
    """Replaces the file in one step and makes it durable, so that a crash leaves the old or the new one, never half."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _flush_folder(path)


def remove_private(path: Path) -> None:
    path.unlink()
    _flush_folder(path)


@contextmanager
def hold_alone(path: Path) -> Iterator[None]:
    """Keeps other commands from replacing a file in the same folder between reading and writing it."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise KeyringError(f"cannot read the folder of {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"another command is changing keys in {path.parent}; try again when it is done"
            raise KeyringError(text) from None
        yield
    finally:
        os.close(folder)


def _flush_folder(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
