"""The archive of retired keys, by which older backups can still be opened: each key wrapped by a key of another file.

Where the files lie and when they may go is decided by who runs the commands.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import Instant, RandomBytes, system_random_bytes
from tollgate.vault.keyring import KEY_BYTES, Keyring
from tollgate.vault.private_files import KeyringError, read_private, remove_private, write_private

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
        remove_private(path)
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
