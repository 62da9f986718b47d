"""Key rotation beside running servers: everything sealed under an older key is wrapped again under the active one.

Contents are not decrypted; what changes meanwhile is met again in the next round, and what does not open stays.
"""

import logging
from collections.abc import Callable, Sized
from dataclasses import dataclass

from tollgate.catalog.limits import LIMITS
from tollgate.flows.evidence import EVIDENCE_NOUN
from tollgate.flows.sepa_files import FILE_NOUN
from tollgate.operations.accounts import REGISTRATION_NOUN
from tollgate.operations.checkouts import CHECKOUT_NOUN, LINK_NOUN
from tollgate.operations.network_tokens import TOKEN_NOUN
from tollgate.operations.settings import list_retired_settings, rewrap_settings
from tollgate.operations.webhooks import WEBHOOK_NOUN
from tollgate.payments.users import User
from tollgate.store import bank_files, checkouts, evidence, links, users
from tollgate.store.database import Database
from tollgate.store.merchants import list_credentials, list_wallet_keys, rewrap_token, rewrap_wallet_key
from tollgate.store.registrations import SealedRegistration, list_sealed_registrations, rewrap_registrations
from tollgate.store.retention import SEALED_ACCOUNTS, SealedColumn, SealedRow
from tollgate.store.webhooks import list_all_webhooks, rewrap_secrets
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.passwords import get_totp_owner
from tollgate.vault.sealing import EnvelopeError, make_owner, rewrap, sealed_prefix
from tollgate.vault.wallets.contents import get_wallet_key_owner

_log = logging.getLogger("tollgate.keys")

Progress = Callable[[int], None]


@dataclass(frozen=True)
class _Kind:
    """Rows in which one thing is sealed."""

    noun: str
    column: SealedColumn
    at_once: int = LIMITS.rewrap_batch


_KINDS = (
    _Kind("payment", SEALED_ACCOUNTS),
    _Kind(CHECKOUT_NOUN, checkouts.SEALED),
    _Kind(LINK_NOUN, links.SEALED),
    # They are large.
    _Kind(FILE_NOUN, bank_files.SEALED, at_once=8),
    _Kind(EVIDENCE_NOUN, evidence.SEALED, at_once=8),
)


async def rewrap_everything(database: Database, keyring: Keyring, report_progress: Progress) -> int:
    """Returns how many records were wrapped again."""
    done = await _rewrap_registrations(database, keyring, report_progress)
    for kind in _KINDS:
        done = await _rewrap_rows(database, keyring, kind, report_progress, done)
    for rewrap_each in (_rewrap_credentials, _rewrap_wallet_keys, _rewrap_webhooks, _rewrap_totp, rewrap_settings):
        done += await rewrap_each(database, keyring)
    return done


async def count_retired(database: Database, keyring: Keyring) -> int:
    """Returns how many records a glance finds under keys other than the active one; zero means that those may go."""
    prefix = sealed_prefix(keyring.active_id)
    found: list[Sized] = [await kind.column.list_page(database, None, prefix, limit=1) for kind in _KINDS]
    found += [
        await list_sealed_registrations(database, None, prefix, limit=1),
        [row for row in await list_credentials(database) if not row.sealed_token.startswith(prefix)],
        [row for row in await list_wallet_keys(database) if not row.sealed_key.startswith(prefix)],
        [row for row in await list_all_webhooks(database) if not row.sealed_secrets.startswith(prefix)],
        await _list_retired_totp(database, keyring),
        await list_retired_settings(database, keyring),
    ]
    return sum(map(len, found))


async def _rewrap_credentials(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_credentials(database):
        if row.sealed_token.startswith(sealed_prefix(keyring.active_id)):
            continue
        owner = make_owner("credential", row.merchant_id, row.id)
        fresh = rewrap(row.sealed_token, owner=owner, keyring=keyring)
        done += await rewrap_token(database, row.id, row.sealed_token, fresh)
    return done


async def _rewrap_wallet_keys(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_wallet_keys(database):
        if row.sealed_key.startswith(sealed_prefix(keyring.active_id)):
            continue
        fresh = rewrap(row.sealed_key, owner=get_wallet_key_owner(row.channel_id, row.id), keyring=keyring)
        done += await rewrap_wallet_key(database, row.id, row.sealed_key, fresh)
    return done


async def _rewrap_webhooks(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_all_webhooks(database):
        if row.sealed_secrets.startswith(sealed_prefix(keyring.active_id)):
            continue
        fresh = _rewrap_safely(row.sealed_secrets, WEBHOOK_NOUN, row.merchant_id, row.id, keyring)
        if fresh is not None:
            done += await rewrap_secrets(database, row, fresh)
    return done


async def _list_retired_totp(database: Database, keyring: Keyring) -> list[User]:
    prefix = sealed_prefix(keyring.active_id)
    return [
        user
        for user in await users.list_users(database)
        if user.sealed_totp and not user.sealed_totp.startswith(prefix)
    ]


async def _rewrap_totp(database: Database, keyring: Keyring) -> int:
    """Wraps the secrets of one-time codes again."""
    done = 0
    for user in await _list_retired_totp(database, keyring):
        fresh = _rewrap_owned(user.sealed_totp or b"", get_totp_owner(user.id), "user", user.id, keyring)
        if fresh is not None:
            done += await users.rewrap_totp(database, user, fresh)
    return done


async def _rewrap_rows(database: Database, keyring: Keyring, kind: _Kind, report_progress: Progress, done: int) -> int:
    """Returns how many records were wrapped again, with those that were done before."""
    last: SealedRow | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await kind.column.list_page(database, last, prefix, kind.at_once):
        for row in batch:
            fresh = _rewrap_safely(row.sealed, kind.noun, row.merchant_id, row.id, keyring)
            if fresh is not None:
                done += await kind.column.rewrap(database, row, fresh)
        last = batch[-1]
        report_progress(done)
    return done


async def _rewrap_registrations(database: Database, keyring: Keyring, report_progress: Progress) -> int:
    """Many in one commit, because there may be a great many of them."""
    done = 0
    last: SealedRegistration | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed_registrations(database, last, prefix, LIMITS.rewrap_batch):
        for start in range(0, len(batch), LIMITS.rewrap_unit):
            some = batch[start : start + LIMITS.rewrap_unit]
            wrapped = [(each, _rewrap_registration(each, keyring)) for each in some]
            # One that did not open is what it was, and no reason to write.
            changed = [(found, fresh) for found, fresh in wrapped if found != fresh]
            done += await rewrap_registrations(database, changed) if changed else 0
        last = batch[-1]
        report_progress(done)
    return done


def _rewrap_registration(found: SealedRegistration, keyring: Keyring) -> SealedRegistration:
    account, token = [
        None if sealed is None else _rewrap_safely(sealed, noun, found.merchant_id, found.id, keyring) or sealed
        for noun, sealed in ((REGISTRATION_NOUN, found.sealed_account), (TOKEN_NOUN, found.sealed_token))
    ]
    return SealedRegistration(found.merchant_id, found.id, account, token)


def _rewrap_safely(sealed: bytes, noun: str, merchant_id: MerchantId, row_id: str, keyring: Keyring) -> bytes | None:
    return _rewrap_owned(sealed, make_owner(noun, merchant_id, row_id), noun, row_id, keyring)


def _rewrap_owned(sealed: bytes, owner: str, noun: str, row_id: str, keyring: Keyring) -> bytes | None:
    """Seals a value under the active key; None if it does not open, which is for the operator to decide."""
    try:
        return rewrap(sealed, owner=owner, keyring=keyring)
    except (EnvelopeError, KeyringError) as fault:
        _log.error("what is sealed in a row does not open", extra={"of": noun, "row": row_id, "why": str(fault)})
        return None
