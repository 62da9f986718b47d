"""The keys of the house: one active sealing key, older ones kept for opening, and the fingerprint key.

Files only; nothing is sealed here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tollgate.values import RandomBytes, system_random_bytes
from tollgate.vault.private_files import KeyringError, read_private, write_private

KEY_BYTES = 32
KEY_ID_BYTES = 4


class _KeyFile(msgspec.Struct, forbid_unknown_fields=True):
    """How a keyring is written down: base64 texts by name."""

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
        """A keyring whose new active key stands beside the old ones, which still open what they sealed."""
        key_id = random_bytes(KEY_ID_BYTES)
        keys = {**self._keys, key_id: random_bytes(KEY_BYTES)}
        return Keyring(keys, key_id, self.fingerprint_key, self.fingerprint_version)

    def with_older_keys(self, older: Mapping[bytes, bytes]) -> Keyring:
        """Returns a keyring that also opens what these keys sealed; its own keys win over theirs."""
        return Keyring({**older, **self._keys}, self.active_id, self.fingerprint_key, self.fingerprint_version)

    def without_retired_keys(self) -> Keyring:
        """Only the active key remains; call it when nothing is sealed under another."""
        active = {self.active_id: self._keys[self.active_id]}
        return Keyring(active, self.active_id, self.fingerprint_key, self.fingerprint_version)

    def follow(self, path: Path) -> bool:
        """Take over what the file now holds, if it was replaced; everybody who has this ring sees the new keys."""
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
