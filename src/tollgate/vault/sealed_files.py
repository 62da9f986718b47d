"""Files with rows of a store: encrypted frame by frame, and authenticated as a whole by the host's key.

What is in a frame is not known here.
"""

import zlib
from collections.abc import Iterator
from enum import StrEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import RandomBytes, system_random_bytes
from tollgate.vault.keyring import KEY_BYTES, Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed, seal

RETIRED_HINT = "if it was retired, `tollgate key-archive restore` puts it back"

_MAC_BYTES = 32
_LENGTH_BYTES = 4
_NONCE_BYTES = 12
_PIECE_BYTES = 1 << 20
_COMPRESSION = 1


class FileKind(StrEnum):
    """A file of one kind is never taken for one of another."""

    SNAPSHOT = "snapshot"
    BACKUP = "backup"

    @property
    def beginning(self) -> bytes:
        return f"tollgate {self} 1\n".encode()

    @property
    def owner(self) -> str:
        return f"sandbox {self}" if self is FileKind.SNAPSHOT else f"store {self}"


class SealedFileError(Exception):
    """The file is none of this kind and host, or was changed; the message says which, never what it holds."""


class SealedWriter:
    """Writes frames under a key of the file's own; without `finish` the file is worth nothing."""

    def __init__(
        self, file: BinaryIO, keyring: Keyring, kind: FileKind, random_bytes: RandomBytes = system_random_bytes
    ) -> None:
        self._file = file
        self._mac = _start_mac(keyring, kind)
        self._frames = 0
        key = random_bytes(KEY_BYTES)
        self._cipher = AESGCM(key)
        self._write(kind.beginning)
        self._write_long(seal(key, owner=kind.owner, keyring=keyring, random_bytes=random_bytes))

    def add(self, plain: bytes) -> None:
        # The key is used for this file alone, so a counter never repeats a nonce.
        nonce = self._frames.to_bytes(_NONCE_BYTES, "big")
        self._write_long(self._cipher.encrypt(nonce, zlib.compress(plain, _COMPRESSION), None))
        self._frames += 1

    def finish(self) -> None:
        self._file.write(self._mac.digest())

    def _write_long(self, content: bytes) -> None:
        self._write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)

    def _write(self, content: bytes) -> None:
        self._mac.update(content)
        self._file.write(content)


def read_frames(file: BinaryIO, keyring: Keyring, kind: FileKind) -> Iterator[bytes]:
    """Yields the frames of a file whose every byte was authenticated before the first of them is looked at."""
    end = _authenticate(file, keyring, kind)
    file.seek(0)
    if file.read(len(kind.beginning)) != kind.beginning:
        raise SealedFileError("the file was written by another version of the program")
    try:
        cipher = AESGCM(open_sealed(_read_long(file), owner=kind.owner, keyring=keyring))
        number = 0
        while file.tell() < end:
            yield zlib.decompress(cipher.decrypt(number.to_bytes(_NONCE_BYTES, "big"), _read_long(file), None))
            number += 1
    except KeyringError:
        raise SealedFileError(
            f"the file is encrypted under a key that the key file does not have any more: {RETIRED_HINT}"
        ) from None
    except (EnvelopeError, InvalidTag, zlib.error):
        raise SealedFileError("the file was changed while it was read") from None


def _authenticate(file: BinaryIO, keyring: Keyring, kind: FileKind) -> int:
    """Returns where the frames end; raises unless the whole file was written with this host's key."""
    end = file.seek(0, 2) - _MAC_BYTES
    mac, left = _start_mac(keyring, kind), end
    file.seek(0)
    while left > 0 and (piece := file.read(min(left, _PIECE_BYTES))):
        mac.update(piece)
        left -= len(piece)
    if end < 0 or not compare_digest(mac.digest(), file.read(_MAC_BYTES)):
        raise SealedFileError(f"the file is no {kind} of this host: it was changed, cut off or saved with another key")
    return end


def _start_mac(keyring: Keyring, kind: FileKind) -> blake2b:
    return blake2b(digest_size=_MAC_BYTES, key=keyring.fingerprint_key, person=kind.owner.encode())


def _read_long(file: BinaryIO) -> bytes:
    return file.read(int.from_bytes(file.read(_LENGTH_BYTES), "big"))
