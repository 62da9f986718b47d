"""Access tokens: made, hashed to be found, sealed to be shown again. Who may use one is decided elsewhere."""

import base64
import hashlib
import math
import string

import msgspec

from tollgate.payments.merchants import Credential
from tollgate.values import Instant, MerchantId, RandomBytes, Secret, is_id, make_id, system_random_bytes
from tollgate.vault import sealing, signing
from tollgate.vault.keyring import Keyring

_PASSWORD_BYTES = 32
_TOKEN_MAX = 1024
_KEPT_BITS_MIN = 40
"""Eight letters and digits of either case have 47; that is what other hosts hand out."""
_DISTINCT_MIN = 5
_KINDS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_OTHERS = 32


class TokenError(Exception):
    """A token of another host cannot be used; the message says why, never what it is."""


class NewCredential(msgspec.Struct, frozen=True):
    credential: Credential
    token: Secret


def make_credential(
    merchant_id: MerchantId,
    keyring: Keyring,
    now: Instant,
    random_bytes: RandomBytes = system_random_bytes,
    *,
    credential_id: str = "",
) -> NewCredential:
    """Makes a token, base64 of `userId|password`, so that both spellings of a login name the same credential.

    credential_id: chosen by the caller when a retry must not add a second token; the store rejects a duplicate.
    """
    user_id, credential_id = make_id(random_bytes), credential_id or make_id(random_bytes)
    password = base64.urlsafe_b64encode(random_bytes(_PASSWORD_BYTES)).decode().rstrip("=")
    token = make_token(user_id, Secret(password))
    owner = sealing.make_owner("credential", merchant_id, credential_id)
    credential = Credential(
        id=credential_id,
        merchant_id=merchant_id,
        user_id=user_id,
        token_hash=hash_token(token),
        sealed_token=sealing.seal(token.reveal().encode(), owner=owner, keyring=keyring),
        created_at=now,
    )
    return NewCredential(credential, token)


def keep_credential(
    merchant_id: MerchantId,
    token: Secret,
    keyring: Keyring,
    now: Instant,
    random_bytes: RandomBytes = system_random_bytes,
) -> Credential:
    """Makes a credential of a token that a merchant brings from another host; a weak one is a TokenError."""
    credential_id = make_id(random_bytes)
    owner = sealing.make_owner("credential", merchant_id, credential_id)
    return Credential(
        id=credential_id,
        merchant_id=merchant_id,
        user_id=_read_user_id(token),
        token_hash=hash_kept_token(token, keyring),
        sealed_token=sealing.seal(token.reveal().encode(), owner=owner, keyring=keyring),
        created_at=now,
    )


def _read_user_id(token: Secret) -> str:
    """Returns the user of a token of the usual form; the complaint never repeats what was sent."""
    try:
        login = base64.b64decode(token.reveal(), validate=True).decode()
    except ValueError:
        raise TokenError("it is not base64 of userId|password") from None
    user_id, _, password = login.partition("|")
    if not is_id(user_id) or not password.isprintable():
        raise TokenError("it is base64 of something else than userId|password with a user id of 32 hex digits")
    if not make_token(user_id, Secret(password)).matches(token) or len(token) > _TOKEN_MAX:
        raise TokenError(f"it is not written in the usual base64, or is longer than {_TOKEN_MAX} characters")
    if len(set(password)) < _DISTINCT_MIN or _estimate_bits(password) < _KEPT_BITS_MIN:
        raise TokenError("its password is too easy to guess; make a new token instead")
    return user_id


def _estimate_bits(password: str) -> float:
    """Says how many bits a random text of this length, made of the same kinds of characters, would have."""
    pool = sum(len(kind) for kind in _KINDS if set(kind) & set(password)) + _OTHERS * (not password.isalnum())
    return len(password) * math.log2(pool or 1)


def make_token(user_id: str, password: Secret) -> Secret:
    return Secret(base64.b64encode(f"{user_id}|{password.reveal()}".encode()).decode())


def hash_token(token: Secret) -> bytes:
    """Returns a plain hash, which is enough: the token carries 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(token.reveal().encode()).digest()


def hash_kept_token(token: Secret, keyring: Keyring) -> bytes:
    """Hashes a token of another host with a key, because a short password could be found behind a plain hash."""
    return signing.make_mac("access token", [token.reveal()], keyring)


def open_token(credential: Credential, keyring: Keyring) -> Secret:
    owner = sealing.make_owner("credential", credential.merchant_id, credential.id)
    return Secret(sealing.open_sealed(credential.sealed_token, owner=owner, keyring=keyring).decode())


def show_token(token: Secret) -> str:
    """Returns the clear token, for the places where a person is shown it on purpose."""
    return token.reveal()
