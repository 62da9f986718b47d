"""Keyed fingerprints: equal inputs give equal bytes, and nobody without the key can guess back. Not for passwords."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from tollgate.vault.keyring import Keyring


def fingerprint(purpose: str, parts: Iterable[str], keyring: Keyring) -> bytes:
    """Every part is preceded by its length, so that shifting text between parts changes the result."""
    mac = hmac.new(keyring.fingerprint_key, f"tollgate {purpose} {keyring.fingerprint_version}\0".encode(), "sha256")
    for part in parts:
        encoded = part.encode()
        mac.update(len(encoded).to_bytes(4, "big") + encoded)
    return bytes([keyring.fingerprint_version & 0xFF]) + mac.digest()
