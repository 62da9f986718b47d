"""Sealing what is needed once more and never again, under a key that is handed away and kept nowhere.

Whoever has the store and the keyring, and not that key, cannot open it.
"""

from __future__ import annotations

import base64
import hashlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import RandomBytes, Secret, system_random_bytes

_KEY_BYTES = 32
_NONCE_BYTES = 12


def make_once_key(random_bytes: RandomBytes = system_random_bytes) -> bytes:
    return random_bytes(_KEY_BYTES)


def seal_once(
    plain: Secret | None, key: bytes, *, owner: str, random_bytes: RandomBytes = system_random_bytes
) -> bytes:
    """Nothing is sealed too, so that the key itself can always be proven."""
    nonce = random_bytes(_NONCE_BYTES)
    text = plain.reveal().encode() if plain else b""
    return nonce + AESGCM(key).encrypt(nonce, text, _ties(owner))


def open_once(sealed: bytes, key: Secret, *, owner: str) -> Secret | None:
    """Empty where nothing was sealed; None where the key is another, or what was sealed is not whole."""
    raw = _decode(key)
    if len(raw) != _KEY_BYTES or len(sealed) < _NONCE_BYTES:
        return None
    try:
        return Secret(AESGCM(raw).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _ties(owner)).decode())
    except InvalidTag:
        return None


def hash_once_key(key: Secret | bytes) -> str:
    """By which a key is known again; it has 256 random bits, so a plain hash tells nothing of it."""
    return hashlib.sha256(key if isinstance(key, bytes) else _decode(key)).hexdigest()


def _decode(key: Secret) -> bytes:
    text = key.reveal()
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _ties(owner: str) -> bytes:
    return b"tollgate once 1\0" + owner.encode()
