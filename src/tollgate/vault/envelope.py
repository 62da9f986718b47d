"""Envelopes: each record has a key of its own, wrapped by a key of the ring, both tied to the record's owner.

No card is known here.

layout: version (1) | key id (4) | wrap nonce (12) | wrapped record key (48) | nonce (12) | ciphertext and tag
"""

from __future__ import annotations

from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import RandomBytes, system_random_bytes
from tollgate.vault.keyring import KEY_BYTES, KEY_ID_BYTES, Keyring

_VERSION = b"\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16
_WRAP_AT = 1 + KEY_ID_BYTES
_WRAPPED_AT = _WRAP_AT + _NONCE_BYTES
_BODY_AT = _WRAPPED_AT + KEY_BYTES + _TAG_BYTES
_SEALED_MIN = _BODY_AT + _NONCE_BYTES + _TAG_BYTES


class EnvelopeError(Exception):
    """The envelope does not open: changed, moved to another row, or sealed under a key this ring does not hold."""


@lru_cache(maxsize=16)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def seal(plain: bytes, *, owner: str, keyring: Keyring, random_bytes: RandomBytes = system_random_bytes) -> bytes:
    dice = random_bytes(KEY_BYTES + 2 * _NONCE_BYTES)
    record_key, wrap_nonce, nonce = dice[:KEY_BYTES], dice[KEY_BYTES:-_NONCE_BYTES], dice[-_NONCE_BYTES:]
    key_id = keyring.active_id
    wrapped = _cipher(keyring.get_key(key_id)).encrypt(wrap_nonce, record_key, _wrap_ties(key_id, owner))
    body = AESGCM(record_key).encrypt(nonce, plain, _body_ties(owner))
    return b"".join((_VERSION, key_id, wrap_nonce, wrapped, nonce, body))


def open_sealed(sealed: bytes, *, owner: str, keyring: Keyring) -> bytes:
    record_key = _unwrap(sealed, owner, keyring)
    nonce_end = _BODY_AT + _NONCE_BYTES
    try:
        return AESGCM(record_key).decrypt(sealed[_BODY_AT:nonce_end], sealed[nonce_end:], _body_ties(owner))
    except InvalidTag:
        raise EnvelopeError("the sealed record does not open") from None


def rewrap(sealed: bytes, *, owner: str, keyring: Keyring, random_bytes: RandomBytes = system_random_bytes) -> bytes:
    """The same record under the active key; its content is not decrypted."""
    record_key = _unwrap(sealed, owner, keyring)
    key_id, wrap_nonce = keyring.active_id, random_bytes(_NONCE_BYTES)
    wrapped = _cipher(keyring.get_key(key_id)).encrypt(wrap_nonce, record_key, _wrap_ties(key_id, owner))
    return b"".join((_VERSION, key_id, wrap_nonce, wrapped, sealed[_BODY_AT:]))


def sealing_key_id(sealed: bytes) -> bytes:
    return sealed[1:_WRAP_AT]


def sealed_prefix(key_id: bytes) -> bytes:
    """The first bytes of everything sealed under a key, by which a store can find what to rewrap."""
    return _VERSION + key_id


def _unwrap(sealed: bytes, owner: str, keyring: Keyring) -> bytes:
    if len(sealed) < _SEALED_MIN or sealed[:1] != _VERSION:
        raise EnvelopeError("not a sealed record of a known version") from None
    key_id = sealing_key_id(sealed)
    wrap_key = keyring.get_key(key_id)
    try:
        return _cipher(wrap_key).decrypt(
            sealed[_WRAP_AT:_WRAPPED_AT], sealed[_WRAPPED_AT:_BODY_AT], _wrap_ties(key_id, owner)
        )
    except InvalidTag:
        raise EnvelopeError("the sealed record belongs to another owner or was changed") from None


def _wrap_ties(key_id: bytes, owner: str) -> bytes:
    return b"tollgate wrap 1\0" + key_id + b"\0" + owner.encode()


def _body_ties(owner: str) -> bytes:
    return b"tollgate body 1\0" + owner.encode()
