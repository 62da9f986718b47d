"""Seals over facts that stay in clear: whoever changes one of them without the key leaves a seal that does not fit."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

import orjson

from tollgate.vault.keyring import Keyring


def make_mac(purpose: str, facts: Sequence[str | int | None], keyring: Keyring) -> bytes:
    """The facts are written as a JSON list, so that no two lists read the same."""
    version = keyring.fingerprint_version
    message = f"tollgate {purpose} {version}\0".encode() + orjson.dumps(facts)
    return bytes([version & 0xFF]) + hmac.digest(keyring.fingerprint_key, message, "sha256")
