"""Access tokens: made, hashed to be found, sealed to be shown again. Who may use one is decided elsewhere."""

from __future__ import annotations

import base64
import hashlib

import msgspec

from tollgate.payments import Credential
from tollgate.values import Chance, Instant, MerchantId, Secret, make_id, system_chance
from tollgate.vault.accounts import name_owner
from tollgate.vault.envelope import open_sealed, seal
from tollgate.vault.keyring import Keyring

_PASSWORD_BYTES = 32


class NewCredential(msgspec.Struct, frozen=True):
    credential: Credential
    token: Secret


def make_credential(
    merchant_id: MerchantId, keyring: Keyring, now: Instant, chance: Chance = system_chance
) -> NewCredential:
    """A token is base64 of `userId|password`, so that both spellings of a login name the same credential."""
    user_id, credential_id = make_id(chance), make_id(chance)
    password = base64.urlsafe_b64encode(chance(_PASSWORD_BYTES)).decode().rstrip("=")
    token = make_token(user_id, Secret(password))
    owner = name_owner("credential", merchant_id, credential_id)
    credential = Credential(
        id=credential_id,
        merchant_id=merchant_id,
        user_id=user_id,
        token_hash=hash_token(token),
        sealed_token=seal(token.reveal().encode(), owner=owner, keyring=keyring),
        created_at=now,
    )
    return NewCredential(credential, token)


def make_token(user_id: str, password: Secret) -> Secret:
    return Secret(base64.b64encode(f"{user_id}|{password.reveal()}".encode()).decode())


def hash_token(token: Secret) -> bytes:
    """A plain hash is enough: the token carries 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(token.reveal().encode()).digest()


def open_token(credential: Credential, keyring: Keyring) -> Secret:
    owner = name_owner("credential", credential.merchant_id, credential.id)
    return Secret(open_sealed(credential.sealed_token, owner=owner, keyring=keyring).decode())


def show_token(token: Secret) -> str:
    """The clear token, for the places where a person is shown it on purpose."""
    return token.reveal()
