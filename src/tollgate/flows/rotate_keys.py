"""Key rotation beside running servers: everything sealed under an older key is wrapped again under the active one.

Contents are not decrypted; what changes meanwhile is met again in the next round, and what does not open stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sized

from tollgate.catalog import LIMITS
from tollgate.flows.collect import FILE_NOUN
from tollgate.steps import CHECKOUT_NOUN, REGISTRATION_NOUN, TOKEN_NOUN, list_retired_settings, rewrap_settings
from tollgate.store import (
    Database,
    Rewrapping,
    SealedAccount,
    SealedCheckout,
    SealedFile,
    SealedRegistration,
    list_credentials,
    list_sealed,
    list_sealed_checkouts,
    list_sealed_files,
    list_sealed_registrations,
    list_wallet_keys,
    rewrap_checkout,
    rewrap_file,
    rewrap_registrations,
    rewrap_sealed,
    rewrap_token,
    rewrap_wallet_key,
)
from tollgate.values import MerchantId
from tollgate.vault import (
    EnvelopeError,
    Keyring,
    KeyringError,
    name_owner,
    name_wallet_key_owner,
    rewrap,
    sealed_prefix,
)

_log = logging.getLogger("tollgate.keys")

Progress = Callable[[int], None]

_FILES_AT_ONCE = 8
"""They are large."""


async def rewrap_everything(database: Database, keyring: Keyring, tell: Progress) -> int:
    """How many records were wrapped again."""
    done = await _rewrap_accounts(database, keyring, tell)
    done += await _rewrap_registrations(database, keyring, lambda count: tell(done + count))
    for rewrap_each in (_rewrap_checkouts, _rewrap_credentials, _rewrap_wallet_keys, rewrap_settings, _rewrap_files):
        done += await rewrap_each(database, keyring)
    return done


async def count_retired(database: Database, keyring: Keyring) -> int:
    """How many records a glance finds under keys other than the active one; zero means that those may go."""
    prefix = sealed_prefix(keyring.active_id)
    accounts = await list_sealed(database, None, prefix, limit=1)
    stored = await list_sealed_registrations(database, None, prefix, limit=1)
    checkouts = await list_sealed_checkouts(database, None, prefix, limit=1)
    tokens = [row for row in await list_credentials(database) if not row.sealed_token.startswith(prefix)]
    files = await list_sealed_files(database, None, prefix, limit=1)
    keys = [row for row in await list_wallet_keys(database) if not row.sealed_key.startswith(prefix)]
    settings = await list_retired_settings(database, keyring)
    found: tuple[Sized, ...] = (accounts, stored, checkouts, tokens, files, keys, settings)
    return sum(map(len, found))


async def _rewrap_credentials(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_credentials(database):
        if row.sealed_token.startswith(sealed_prefix(keyring.active_id)):
            continue
        owner = name_owner("credential", row.merchant_id, row.id)
        fresh = rewrap(row.sealed_token, owner=owner, keyring=keyring)
        done += await rewrap_token(database, row.id, row.sealed_token, fresh)
    return done


async def _rewrap_wallet_keys(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_wallet_keys(database):
        if row.sealed_key.startswith(sealed_prefix(keyring.active_id)):
            continue
        fresh = rewrap(row.sealed_key, owner=name_wallet_key_owner(row.channel_id, row.id), keyring=keyring)
        done += await rewrap_wallet_key(database, row.id, row.sealed_key, fresh)
    return done


async def _rewrap_accounts(database: Database, keyring: Keyring, tell: Progress) -> int:
    done = 0
    last: SealedAccount | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed(database, last, prefix, LIMITS.rewrap_batch):
        for account in batch:
            fresh = _rewrap_safely(account.sealed, "payment", account.merchant_id, account.payment_id, keyring)
            if fresh is not None:
                done += await rewrap_sealed(database, account, fresh)
        last = batch[-1]
        tell(done)
    return done


async def _rewrap_registrations(database: Database, keyring: Keyring, tell: Progress) -> int:
    """Many in one commit, because there may be a great many of them."""
    done = 0
    last: SealedRegistration | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed_registrations(database, last, prefix, LIMITS.rewrap_batch):
        for start in range(0, len(batch), LIMITS.rewrap_unit):
            some = batch[start : start + LIMITS.rewrap_unit]
            wrapped = [_rewrap_registration(each, keyring) for each in some]
            # One that did not open is what it was, and no reason to write.
            changed = [each for each in wrapped if (each.account, each.token) != (each.found.account, each.found.token)]
            done += await rewrap_registrations(database, changed) if changed else 0
        last = batch[-1]
        tell(done)
    return done


async def _rewrap_checkouts(database: Database, keyring: Keyring) -> int:
    done = 0
    last: SealedCheckout | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed_checkouts(database, last, prefix, LIMITS.rewrap_batch):
        for checkout in batch:
            fresh = _rewrap_safely(checkout.sealed, CHECKOUT_NOUN, checkout.merchant_id, checkout.id, keyring)
            if fresh is not None:
                done += await rewrap_checkout(database, checkout, fresh)
        last = batch[-1]
    return done


def _rewrap_registration(found: SealedRegistration, keyring: Keyring) -> Rewrapping:
    account, token = [
        None if sealed is None else _rewrap_safely(sealed, noun, found.merchant_id, found.id, keyring) or sealed
        for noun, sealed in ((REGISTRATION_NOUN, found.account), (TOKEN_NOUN, found.token))
    ]
    return Rewrapping(found, account, token)


def _rewrap_safely(sealed: bytes, noun: str, merchant_id: MerchantId, row_id: str, keyring: Keyring) -> bytes | None:
    """None: it does not open where it lies. Whoever looks at the store has to decide what becomes of it."""
    try:
        return rewrap(sealed, owner=name_owner(noun, merchant_id, row_id), keyring=keyring)
    except (EnvelopeError, KeyringError) as fault:
        _log.error("what is sealed in a row does not open", extra={"of": noun, "row": row_id, "why": str(fault)})
        return None


async def _rewrap_files(database: Database, keyring: Keyring) -> int:
    done = 0
    last: SealedFile | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed_files(database, last, prefix, _FILES_AT_ONCE):
        for file in batch:
            owner = name_owner(FILE_NOUN, file.merchant_id, file.file_id)
            done += await rewrap_file(database, file, rewrap(file.sealed, owner=owner, keyring=keyring))
        last = batch[-1]
    return done
