"""The keyring that protects a host's data: its file, its rotation, and the archive of retired keys.

What is sealed with it is not known here.
"""

from __future__ import annotations

import base64
import fcntl
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import Instant, RandomBytes, system_random_bytes

KEY_BYTES = 32
KEY_ID_BYTES = 4


class _KeyFile(msgspec.Struct, forbid_unknown_fields=True):
    """The key file: base64 texts by name."""

    active: str
    keys: dict[str, str]
    fingerprint_version: int
    fingerprint_key: str


class Keyring:
    """Holds clear keys, so it prints nothing and does not pickle."""

    __slots__ = ("_followed", "_keys", "active_id", "fingerprint_key", "fingerprint_version")

    def __init__(
        self, keys: Mapping[bytes, bytes], active_id: bytes, fingerprint_key: bytes, fingerprint_version: int = 1
    ) -> None:
        if active_id not in keys:
            raise KeyringError("the active key is not among the keys")
        lengths = {len(key) for key in (*keys.values(), fingerprint_key)}
        if lengths != {KEY_BYTES} or {len(key_id) for key_id in keys} != {KEY_ID_BYTES}:
            raise KeyringError(f"keys have {KEY_BYTES} bytes and their ids {KEY_ID_BYTES}")
        self._followed = 0
        self._keys = dict(keys)
        self.active_id = active_id
        self.fingerprint_key = fingerprint_key
        self.fingerprint_version = fingerprint_version

    def get_key(self, key_id: bytes) -> bytes:
        key = self._keys.get(key_id)
        if key is None:
            raise KeyringError(f"no key {key_id.hex()} in the keyring")
        return key

    @property
    def key_ids(self) -> tuple[bytes, ...]:
        return tuple(self._keys)

    def with_new_key(self, random_bytes: RandomBytes = system_random_bytes) -> Keyring:
        """Returns a keyring with a new active key; the older keys still open what they sealed."""
        key_id = random_bytes(KEY_ID_BYTES)
        keys = {**self._keys, key_id: random_bytes(KEY_BYTES)}
        return Keyring(keys, key_id, self.fingerprint_key, self.fingerprint_version)

    def with_older_keys(self, older: Mapping[bytes, bytes]) -> Keyring:
        """Returns a keyring that also opens what these keys sealed; its own keys win over theirs."""
        return Keyring({**older, **self._keys}, self.active_id, self.fingerprint_key, self.fingerprint_version)

    def without_retired_keys(self) -> Keyring:
        """Returns a keyring with the active key alone; nothing may be sealed under another."""
        active = {self.active_id: self._keys[self.active_id]}
        return Keyring(active, self.active_id, self.fingerprint_key, self.fingerprint_version)

    def follow(self, path: Path) -> bool:
        """Reloads the file if it was replaced; all users of this ring then see the new keys."""
        changed_at = path.stat().st_mtime_ns
        if changed_at == self._followed:
            return False
        fresh = load_keyring(path)
        self._keys, self.active_id = fresh._keys, fresh.active_id
        self.fingerprint_key, self.fingerprint_version = fresh.fingerprint_key, fresh.fingerprint_version
        self._followed = changed_at
        return True

    def __repr__(self) -> str:
        return f"Keyring({len(self._keys)} keys, active {self.active_id.hex()})"

    def __reduce__(self) -> str:
        raise TypeError("keyrings do not pickle")


def make_keyring(random_bytes: RandomBytes = system_random_bytes) -> Keyring:
    key_id = random_bytes(KEY_ID_BYTES)
    return Keyring({key_id: random_bytes(KEY_BYTES)}, key_id, random_bytes(KEY_BYTES))


def load_keyring(path: Path) -> Keyring:
    text = read_private(path, "key file")
    try:
        written = msgspec.json.decode(text, type=_KeyFile)
        keys = {bytes.fromhex(name): base64.b64decode(key, validate=True) for name, key in written.keys.items()}
        fingerprint_key = base64.b64decode(written.fingerprint_key, validate=True)
        return Keyring(keys, bytes.fromhex(written.active), fingerprint_key, written.fingerprint_version)
    except (msgspec.MsgspecError, ValueError):
        raise KeyringError(f"the key file {path} is malformed") from None


def save_keyring(keyring: Keyring, path: Path) -> None:
    written = _KeyFile(
        active=keyring.active_id.hex(),
        keys={key_id.hex(): base64.b64encode(keyring.get_key(key_id)).decode() for key_id in keyring.key_ids},
        fingerprint_version=keyring.fingerprint_version,
        fingerprint_key=base64.b64encode(keyring.fingerprint_key).decode(),
    )
    write_private(path, msgspec.json.format(msgspec.json.encode(written)) + b"\n")


_NONCE_BYTES = 12


@dataclass(frozen=True)
class ArchivedKey:
    """A retired key in clear, which does not print itself."""

    id: bytes
    retired_at: Instant
    key: bytes = field(repr=False)


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    retired_at: Instant
    wrapped: str


class _ArchiveFile(msgspec.Struct, forbid_unknown_fields=True):
    keys: list[_Entry]


def make_archive_key(path: Path, random_bytes: RandomBytes = system_random_bytes) -> None:
    """Writes the key that wraps an archive; one that exists is never overwritten."""
    if path.exists():
        raise KeyringError(f"{path} exists; a key is never overwritten")
    write_private(path, base64.b64encode(random_bytes(KEY_BYTES)) + b"\n")


def archive_keys(
    path: Path, wrapping_path: Path, keyring: Keyring, now: Instant, random_bytes: RandomBytes = system_random_bytes
) -> int:
    """Adds the retired keys of a ring and returns how many; when it returns, all of them can be read back from disk."""
    known = read_archive(path, wrapping_path) if path.exists() else []
    archived = {each.id for each in known}
    fresh = [
        ArchivedKey(key_id, now, keyring.get_key(key_id))
        for key_id in keyring.key_ids
        if key_id not in archived and key_id != keyring.active_id
    ]
    _write(path, _load_wrapping_key(wrapping_path), [*known, *fresh], random_bytes)
    kept = {each.id: each.key for each in read_archive(path, wrapping_path)}
    if any(kept.get(key_id) != keyring.get_key(key_id) for key_id in keyring.key_ids if key_id != keyring.active_id):
        raise KeyringError(f"the archive {path} does not hold what was written; no key was removed")
    return len(fresh)


def read_archive(path: Path, wrapping_path: Path) -> list[ArchivedKey]:
    cipher = AESGCM(_load_wrapping_key(wrapping_path))
    text = read_private(path, "key archive")
    try:
        entries = msgspec.json.decode(text, type=_ArchiveFile).keys
        return [_unwrap(entry, cipher) for entry in entries]
    except InvalidTag:
        raise KeyringError(f"the key archive {path} was changed, or {wrapping_path} is not its key") from None
    except (msgspec.MsgspecError, ValueError):
        raise KeyringError(f"the key archive {path} is malformed") from None


def restore_keys(path: Path, wrapping_path: Path, keyring: Keyring) -> Keyring:
    """Returns the ring with every archived key beside its own; the active key stays active."""
    return keyring.with_older_keys({each.id: each.key for each in read_archive(path, wrapping_path)})


def destroy_archived_keys(
    path: Path, wrapping_path: Path, before: Instant, random_bytes: RandomBytes = system_random_bytes
) -> tuple[int, int]:
    """Removes the keys that were retired before an instant; returns how many went and how many are left."""
    known = read_archive(path, wrapping_path)
    left = [each for each in known if each.retired_at >= before]
    if not left:
        path.unlink()
        flush_folder(path)
    elif len(left) < len(known):
        _write(path, _load_wrapping_key(wrapping_path), left, random_bytes)
    return len(known) - len(left), len(left)


def _write(path: Path, wrapping_key: bytes, keys: list[ArchivedKey], random_bytes: RandomBytes) -> None:
    cipher = AESGCM(wrapping_key)
    entries = []
    for each in keys:
        nonce = random_bytes(_NONCE_BYTES)
        wrapped = nonce + cipher.encrypt(nonce, each.key, _ties(each.id.hex(), each.retired_at))
        entries.append(_Entry(each.id.hex(), each.retired_at, base64.b64encode(wrapped).decode()))
    write_private(path, msgspec.json.format(msgspec.json.encode(_ArchiveFile(entries))) + b"\n")


def _unwrap(entry: _Entry, cipher: AESGCM) -> ArchivedKey:
    wrapped = base64.b64decode(entry.wrapped, validate=True)
    key = cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], _ties(entry.id, entry.retired_at))
    return ArchivedKey(bytes.fromhex(entry.id), entry.retired_at, key)


def _ties(key_id: str, retired_at: Instant) -> bytes:
    return f"tollgate archive 1\0{key_id}\0{retired_at}".encode()


def _load_wrapping_key(path: Path) -> bytes:
    try:
        key = base64.b64decode(read_private(path, "archive key").strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeyringError(f"the archive key {path} is malformed; `tollgate key-archive make-key` writes one")
    return key


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
    flush_folder(path)


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


def flush_folder(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
