"""Merchants, channels, credentials and wallet keys. Caching them is done elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog.limits import LIMITS
from tollgate.payments.accounts import WalletKey, WalletPublic
from tollgate.payments.merchants import Channel, Credential, Creditor, Merchant, ThreeDsTerms, TokenTerms
from tollgate.store.database import Database
from tollgate.store.opening import add_to_setting_writes, get_setting
from tollgate.store.schema import channels, credentials, merchants, wallet_keys, wallet_uses
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

MERCHANTS_VERSION = "directory_version"


class MerchantSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    merchants: tuple[Merchant, ...]
    channels: tuple[Channel, ...]
    credentials: tuple[Credential, ...]


def _all_of(table: sa.Table, members: tuple[str, ...]) -> sa.Select[Any]:
    return sa.select(*[table.c[name] for name in members]).order_by(table.c.created_at, table.c.id)


def _insert_into(table: sa.Table, members: tuple[str, ...]) -> Statement:
    return Statement(sa.insert(table).values({name: sa.bindparam(name) for name in members}))


_MERCHANT, _CHANNEL, _CREDENTIAL = (kind.__struct_fields__ for kind in (Merchant, Channel, Credential))
_FLAGS = ("is_lenient", "requires_cvv", "is_closed", "reuses_registrations", "uses_network_tokens")
_STRUCTURES: dict[str, Any] = {
    "creditor": Creditor,
    "three_ds": ThreeDsTerms,
    "token_terms": TokenTerms,
    "return_schemes": tuple[str, ...],
}
_insert_merchant = _insert_into(merchants, _MERCHANT)
_insert_channel = _insert_into(channels, _CHANNEL)
_insert_credential = _insert_into(credentials, _CREDENTIAL)
_list_merchants = Statement(_all_of(merchants, _MERCHANT))
_list_channels = Statement(_all_of(channels, _CHANNEL))
_list_credentials = Statement(_all_of(credentials, _CREDENTIAL))
_CHANGEABLE = tuple(name for name in _CHANNEL if name not in {"id", "merchant_id", "created_at"})
_update_channel = Statement(
    sa.update(channels)
    .where(channels.c.id == sa.bindparam("channel_id"))
    .values({name: sa.bindparam(f"new_{name}") for name in _CHANGEABLE})
)
_revoke_credential = Statement(
    sa.update(credentials)
    .where(credentials.c.id == sa.bindparam("credential_id"), credentials.c.revoked_at.is_(None))
    .values(revoked_at=sa.bindparam("at"))
)
_rewrap_token = Statement(
    sa.update(credentials)
    .where(credentials.c.id == sa.bindparam("credential_id"), credentials.c.sealed_token == sa.bindparam("old"))
    .values(sealed_token=sa.bindparam("new"))
)


async def insert_merchant(db: Database, merchant: Merchant) -> None:
    await _change(db, Write(_insert_merchant, msgspec.structs.asdict(merchant), rows=1))


async def insert_channel(db: Database, channel: Channel) -> None:
    await _change(db, Write(_insert_channel, _flatten(channel), rows=1))


async def update_channel(db: Database, channel: Channel) -> bool:
    """Saves the settings of a channel; to which merchant it belongs cannot change. False: there is none."""
    flat = _flatten(channel)
    params = {f"new_{name}": flat[name] for name in _CHANGEABLE} | {"channel_id": channel.id}
    return await _change(db, Write(_update_channel, params, rows=1))


async def insert_credential(db: Database, credential: Credential) -> None:
    await _change(db, Write(_insert_credential, msgspec.structs.asdict(credential), rows=1))


async def revoke_credential(db: Database, credential_id: str, at: Instant) -> bool:
    """False: there is none, or it was revoked before."""
    return await _change(db, Write(_revoke_credential, {"credential_id": credential_id, "at": at}, rows=1))


async def rewrap_token(db: Database, credential_id: str, old: bytes, new: bytes) -> bool:
    """The same token under another key. False: somebody changed it meanwhile."""
    return await _change(db, Write(_rewrap_token, {"credential_id": credential_id, "old": old, "new": new}, rows=1))


async def list_merchants(db: Database) -> list[Merchant]:
    return [Merchant(**_name(_MERCHANT, row)) for row in await db.fetch(_list_merchants, {})]


async def list_channels(db: Database) -> list[Channel]:
    return [_read_channel(_name(_CHANNEL, row)) for row in await db.fetch(_list_channels, {})]


async def list_credentials(db: Database) -> list[Credential]:
    return [Credential(**_name(_CREDENTIAL, row)) for row in await db.fetch(_list_credentials, {})]


async def get_merchants_version(db: Database) -> int:
    """Cheap enough to ask often."""
    return int(await get_setting(db, MERCHANTS_VERSION, "0"))


async def load_merchants(db: Database) -> MerchantSnapshot:
    """The version is read first: a change made while reading moves it again, so that nobody keeps a stale directory."""
    return MerchantSnapshot(
        version=await get_merchants_version(db),
        merchants=tuple(await list_merchants(db)),
        channels=tuple(await list_channels(db)),
        credentials=tuple(await list_credentials(db)),
    )


async def _change(db: Database, write: Write) -> bool:
    return await db.write([write, *add_to_setting_writes(MERCHANTS_VERSION, 1)], label="merchant configuration")


def _name(members: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(members, row, strict=True))


def _flatten(channel: Channel) -> Mapping[str, Any]:
    flat = msgspec.structs.asdict(channel)
    written = {name: msgspec.json.encode(flat[name]).decode() if flat[name] else None for name in _STRUCTURES}
    return flat | written | {name: int(flat[name]) for name in _FLAGS}


def _read_channel(named: dict[str, Any]) -> Channel:
    read = {name: msgspec.json.decode(named[name], type=kind) for name, kind in _STRUCTURES.items() if named[name]}
    schemes = {"return_schemes": read.get("return_schemes", ())}
    return Channel(**named | read | schemes | {name: bool(named[name]) for name in _FLAGS})


_KEY = WalletKey.__struct_fields__
_insert_key = Statement(sa.insert(wallet_keys).values({name: sa.bindparam(name) for name in _KEY}))
_list_keys = Statement(
    sa.select(*[wallet_keys.c[name] for name in _KEY]).order_by(wallet_keys.c.created_at, wallet_keys.c.id)
)
_delete_key = Statement(sa.delete(wallet_keys).where(wallet_keys.c.id == sa.bindparam("key_id")))
_rewrap_key = Statement(
    sa.update(wallet_keys)
    .where(wallet_keys.c.id == sa.bindparam("key_id"), wallet_keys.c.sealed_key == sa.bindparam("old"))
    .values(sealed_key=sa.bindparam("new"))
)
_idempotency_key = Statement(
    insert(wallet_uses)
    .values({name: sa.bindparam(name) for name in ("merchant_id", "fingerprint", "used_at", "request")})
    .on_conflict_do_nothing()
)
_same = Statement(
    sa.select(wallet_uses.c.used_at).where(
        wallet_uses.c.merchant_id == sa.bindparam("merchant_id"),
        wallet_uses.c.fingerprint == sa.bindparam("fingerprint"),
        wallet_uses.c.request == sa.bindparam("request"),
        wallet_uses.c.used_at > sa.bindparam("since"),
    )
)
_oldest = (
    sa.select(wallet_uses.c.merchant_id, wallet_uses.c.fingerprint)
    .where(wallet_uses.c.used_at < sa.bindparam("before"))
    .order_by(wallet_uses.c.used_at)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_purge = Statement(
    sa.delete(wallet_uses)
    .where(sa.tuple_(wallet_uses.c.merchant_id, wallet_uses.c.fingerprint).in_(_oldest))
    .returning(wallet_uses.c.used_at)
)


async def insert_wallet_key(db: Database, key: WalletKey) -> None:
    flat = msgspec.structs.asdict(key) | {"public": msgspec.json.encode(key.public).decode()}
    await _change_wallet_keys(db, Write(_insert_key, flat, rows=1))


async def delete_wallet_key(db: Database, key_id: str) -> bool:
    """False: there is none."""
    return await _change_wallet_keys(db, Write(_delete_key, {"key_id": key_id}, rows=1))


async def rewrap_wallet_key(db: Database, key_id: str, old: bytes, new: bytes) -> bool:
    """The same key under another of the ring. False: somebody changed it meanwhile."""
    return await _change_wallet_keys(db, Write(_rewrap_key, {"key_id": key_id, "old": old, "new": new}, rows=1))


async def list_wallet_keys(db: Database) -> list[WalletKey]:
    return [_read_key(dict(zip(_KEY, row, strict=True))) for row in await db.fetch(_list_keys, {})]


async def record_wallet_use(
    db: Database, merchant_id: MerchantId, fingerprint: bytes, used_at: Instant, request: bytes | None = None
) -> bool:
    """False: the token was used before, by whichever process.

    A request that comes twice at once under one Idempotency-Key is the same use: the key lets only one of them pay.
    """
    of = {"merchant_id": merchant_id, "fingerprint": fingerprint}
    if await db.write(
        [Write(_idempotency_key, {**of, "used_at": used_at, "request": request}, rows=1)], label="wallet token used"
    ):
        return True
    # Well before the key itself is forgotten, or else the token could be used again by who comes in between.
    since = used_at - LIMITS.idempotency_lifetime // 2
    return request is not None and await db.fetch_one(_same, {**of, "request": request, "since": since}) is not None


async def purge_wallet_uses(db: Database, before: Instant, limit: int) -> int:
    """Remove the oldest; how many went."""
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))


async def _change_wallet_keys(db: Database, write: Write) -> bool:
    """Keys belong to the directory: who keeps it in memory notices a change by its version."""
    return await db.write([write, *add_to_setting_writes(MERCHANTS_VERSION, 1)], label="merchant configuration")


def _read_key(named: dict[str, Any]) -> WalletKey:
    return WalletKey(**named | {"public": msgspec.json.decode(named["public"], type=WalletPublic)})
