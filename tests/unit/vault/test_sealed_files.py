"""Sealed files: frames come back as they were, and a file tells nothing without its key."""

from __future__ import annotations

from io import BytesIO

import pytest

from tollgate.vault.keyring import Keyring, make_keyring
from tollgate.vault.sealed_files import FileKind, SealedFileError, SealedWriter, read_frames

FRAMES = [b"header", b"", b"row " * 5_000, bytes(range(256))]


def write(keyring: Keyring) -> BytesIO:
    file = BytesIO()
    writer = SealedWriter(file, keyring, FileKind.SNAPSHOT)
    for frame in FRAMES:
        writer.add(frame)
    writer.finish()
    return file


def test_frames_come_back_in_their_order() -> None:
    keyring = make_keyring()
    assert list(read_frames(write(keyring), keyring, FileKind.SNAPSHOT)) == FRAMES


def test_the_same_frames_look_different_every_time() -> None:
    keyring = make_keyring()
    first, second = write(keyring).getvalue(), write(keyring).getvalue()
    assert first != second
    assert b"row row" not in first


def test_an_unfinished_file_is_refused() -> None:
    keyring, file = make_keyring(), BytesIO()
    SealedWriter(file, keyring, FileKind.SNAPSHOT).add(b"header")
    with pytest.raises(SealedFileError, match="no snapshot of this host"):
        list(read_frames(file, keyring, FileKind.SNAPSHOT))


def test_a_file_opens_after_a_rotation_as_long_as_its_key_is_there() -> None:
    keyring = make_keyring()
    file, rotated = write(keyring), keyring.with_new_key()
    assert list(read_frames(file, rotated, FileKind.SNAPSHOT)) == FRAMES
    with pytest.raises(SealedFileError, match="a key that the key file does not have any more"):
        list(read_frames(file, rotated.without_retired_keys(), FileKind.SNAPSHOT))


def test_a_file_of_one_kind_is_none_of_another() -> None:
    keyring = make_keyring()
    with pytest.raises(SealedFileError, match="no backup of this host"):
        list(read_frames(write(keyring), keyring, FileKind.BACKUP))
