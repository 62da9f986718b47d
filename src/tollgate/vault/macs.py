"""Seals over facts that stay in clear. Whoever changes one of them without the key leaves a seal that does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import orjson

from tollgate.vault.keyring import Keyring

_DIGEST_BYTES = 32
MAC_BYTES = 1 + _DIGEST_BYTES
"""The version of its key stands before the hash."""


def make_mac(purpose: str, facts: Sequence[object], keyring: Keyring) -> bytes:
    """The facts are written as a JSON list, so that no two lists read the same; a purpose has up to 16 bytes.

    Keyed BLAKE2b takes less than half the time of HMAC over the same facts, and every payment waits for it.
    """
    version = keyring.fingerprint_version
    message, key, person = orjson.dumps(facts, default=dict), keyring.fingerprint_key, purpose.encode()
    return bytes([version & 0xFF]) + blake2b(message, digest_size=_DIGEST_BYTES, key=key, person=person).digest()
