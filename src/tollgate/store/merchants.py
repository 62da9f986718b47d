"""Merchants, channels, credentials and wallet keys. Caching them is done elsewhere."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from tollgate.catalog.limits import LIMITS
from tollgate.payments.accounts import WalletKey
from tollgate.payments.dispatching import DispatchRow
from tollgate.payments.merchants import Channel, Credential, FurtherAccount, Merchant
from tollgate.store.codec import Codec
from tollgate.store.database import Database
from tollgate.store.notices import notice_writes
from tollgate.store.opening import add_to_setting_writes, get_setting
from tollgate.store.schema import (
    acquirer_accounts,
    channels,
    credentials,
    dispatch_rows,
    merchants,
    wallet_keys,
    wallet_uses,
)
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

MERCHANTS_VERSION = "merchants_version"


class MerchantSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    merchants: tuple[Merchant, ...]
    channels: tuple[Channel, ...]
    credentials: tuple[Credential, ...]
    accounts: tuple[FurtherAccount, ...] = ()
    dispatch_rows: tuple[DispatchRow, ...] = ()


class WalletUse(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    fingerprint: bytes
    used_at: Instant
    request: bytes | None
    """The request that used the token, where it has a key by which it may come again."""


MERCHANTS = Codec(merchants, Merchant, key=["id"])
CHANNELS = Codec(channels, Channel, key=["id"])
CREDENTIALS = Codec(credentials, Credential, key=["id"])
ACCOUNTS = Codec(acquirer_accounts, FurtherAccount, key=["id"])
DISPATCH_ROWS = Codec(dispatch_rows, DispatchRow)
WALLET_KEYS = Codec(wallet_keys, WalletKey, key=["id"])
WALLET_USES = Codec(wallet_uses, WalletUse, key=["merchant_id", "fingerprint"])


list_merchants = MERCHANTS.make_list("created_at", "id")
list_channels = CHANNELS.make_list("created_at", "id")
list_credentials = CREDENTIALS.make_list("created_at", "id")
list_wallet_keys = WALLET_KEYS.make_list("created_at", "id")
list_accounts = ACCOUNTS.make_list("created_at", "id")
list_dispatch_rows = DISPATCH_ROWS.make_list("position", "id")
_insert_merchant, _insert_channel = MERCHANTS.insert(), CHANNELS.insert()
_insert_account = ACCOUNTS.insert()
_update_account = ACCOUNTS.update(new=["name", "terms"])
# By itself: whoever changes the terms must not open an account that another closes at that moment.
_update_account_state = ACCOUNTS.update(new=["is_closed"])
# A form that is sent twice at once makes one token.
_insert_credential, _insert_wallet_key = CREDENTIALS.insert(ignores_taken_key=True), WALLET_KEYS.insert()
_update_channel = CHANNELS.update(
    seen=["account_id"], new=[name for name in CHANNELS.names if name not in {"id", "merchant_id", "created_at"}]
)
_revoke_credential = CREDENTIALS.update(credentials.c.revoked_at.is_(None), new=["revoked_at"])
_TERMS = ["label", "scopes", "expires_at"]
_update_credential = CREDENTIALS.update(credentials.c.revoked_at.is_(None), new=_TERMS)
_rewrap_token = CREDENTIALS.update(seen=["sealed_token"], new=["sealed_token"])
_rewrap_wallet_key = WALLET_KEYS.update(seen=["sealed_key"], new=["sealed_key"])
_delete_wallet_key = WALLET_KEYS.delete()
_insert_dispatch_row, _delete_dispatch_row = DISPATCH_ROWS.insert(), DISPATCH_ROWS.delete()
_place_dispatch_row = DISPATCH_ROWS.update(seen=["position"], new=["position"])
_use_token = WALLET_USES.insert(ignores_taken=True)
_find_same_use = Statement(
    WALLET_USES.select(
        *WALLET_USES.is_it,
        wallet_uses.c.request == sa.bindparam("request"),
        wallet_uses.c.used_at > sa.bindparam("since"),
    )
)
purge_wallet_uses = WALLET_USES.purge(wallet_uses.c.used_at)


async def insert_merchant(db: Database, merchant: Merchant) -> None:
    await change_merchants(db, _insert_merchant(merchant))


async def insert_channel(db: Database, channel: Channel) -> None:
    await change_merchants(db, _insert_channel(channel))


async def update_channel(db: Database, channel: Channel, kept: FurtherAccount | None = None) -> bool:
    """Saves the settings of a channel; its merchant cannot change.

    Returns False if there is no such channel, or if it has another first account by now: payments may have gone there.

    kept: the first account as it was, if later messages about its payments could not reach it otherwise.
    """
    if kept is None:
        return await change_merchants(db, _update_channel(channel, channel))
    seen = msgspec.structs.replace(channel, account_id=None if kept.id == channel.id else kept.id)
    return await change_merchants(db, [*_update_channel(seen, channel), *_insert_account(kept)])


async def insert_account(db: Database, account: FurtherAccount) -> None:
    await change_merchants(db, _insert_account(account))


async def update_account(db: Database, account: FurtherAccount) -> bool:
    """Saves name and terms; returns False if there is no such account."""
    return await change_merchants(db, _update_account(account, account))


async def update_account_state(db: Database, account: FurtherAccount) -> bool:
    """Saves whether an account is closed; returns False if there is no such account."""
    return await change_merchants(db, _update_account_state(account, account))


async def insert_dispatch_row(db: Database, row: DispatchRow) -> None:
    await change_merchants(db, _insert_dispatch_row(row))


async def delete_dispatch_row(db: Database, merchant_id: MerchantId, row_id: str) -> bool:
    """Returns False if there is no such row."""
    return await change_merchants(db, _delete_dispatch_row.by_key(merchant_id, row_id))


async def place_dispatch_rows(db: Database, seen: Sequence[DispatchRow], changed: Sequence[DispatchRow]) -> bool:
    """Saves the positions of all rows in one commit; False if one of them was moved or removed meanwhile."""
    # In the order of their ids, because two who lock the same rows in different orders would wait for each other.
    pairs = sorted(zip(seen, changed, strict=True), key=lambda pair: pair[0].id)
    return await change_merchants(db, [write for old, new in pairs for write in _place_dispatch_row(old, new)])


async def insert_credential(db: Database, credential: Credential) -> None:
    await change_merchants(db, _insert_credential(credential))


async def update_credential(db: Database, changed: Credential) -> bool:
    """Saves label, scopes and end; returns False if there is no such credential, or it was revoked."""
    return await change_merchants(db, _update_credential(changed, changed))


async def rotate_credential(db: Database, ending: Credential, new: Credential) -> bool:
    """Adds a credential and the end of the one that it follows in one commit; False if that one was revoked."""
    return await change_merchants(db, [*_update_credential(ending, ending), *_insert_credential(new)])


async def revoke_credential(db: Database, credential_id: str, at: Instant) -> bool:
    """Returns False if there is no such credential, or it was revoked before."""
    return await change_merchants(db, _revoke_credential.by_key(credential_id, new_revoked_at=at))


async def rewrap_token(db: Database, credential_id: str, old: bytes, new: bytes) -> bool:
    """Writes the same token under another key; returns False if it was changed meanwhile."""
    return await change_merchants(db, _rewrap_token.by_key(credential_id, seen_sealed_token=old, new_sealed_token=new))


async def insert_wallet_key(db: Database, key: WalletKey) -> None:
    await change_merchants(db, _insert_wallet_key(key))


async def delete_wallet_key(db: Database, key_id: str) -> bool:
    """Returns False if there is no such key."""
    return await change_merchants(db, _delete_wallet_key.by_key(key_id))


async def rewrap_wallet_key(db: Database, key_id: str, old: bytes, new: bytes) -> bool:
    """Writes the same key under another of the ring; returns False if it was changed meanwhile."""
    return await change_merchants(db, _rewrap_wallet_key.by_key(key_id, seen_sealed_key=old, new_sealed_key=new))


async def change_merchants(db: Database, writes: list[Write]) -> bool:
    """Counts the version up, by which processes that keep merchants in memory notice a change."""
    counting = add_to_setting_writes(MERCHANTS_VERSION, 1)
    return await db.write([*writes, *counting, *notice_writes(db.dialect)], label="merchant configuration")


async def get_merchants_version(db: Database) -> int:
    """Returns a number that changes with every change of merchants; it is cheap enough to be read often."""
    return int(await get_setting(db, MERCHANTS_VERSION, "0"))


async def load_merchants(db: Database) -> MerchantSnapshot:
    """The version is read first: a change made while reading moves it again, so that no process keeps stale rows."""
    return MerchantSnapshot(
        version=await get_merchants_version(db),
        merchants=tuple(await list_merchants(db)),
        channels=tuple(await list_channels(db)),
        credentials=tuple(await list_credentials(db)),
        accounts=tuple(await list_accounts(db)),
        dispatch_rows=tuple(await list_dispatch_rows(db)),
    )


async def record_wallet_use(
    db: Database, merchant_id: MerchantId, fingerprint: bytes, used_at: Instant, request: bytes | None = None
) -> bool:
    """Returns False if the token was used before, by whichever process.

    A request that comes twice at once under one Idempotency-Key is the same use: the key lets only one of them pay.
    """
    use = WalletUse(merchant_id, fingerprint, used_at, request)
    if await db.write(_use_token(use), label="wallet token used"):
        return True
    # Well before the key itself is forgotten, or else the token could be used again by who comes in between.
    since = used_at - LIMITS.idempotency_lifetime // 2
    same = WALLET_USES.of(use) | {"request": request, "since": since}
    return request is not None and await db.fetch_one(_find_same_use, same) is not None
