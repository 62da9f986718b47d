"""The wallet keys of channels, and which tokens were used. Keys arrive sealed, and tokens as fingerprints only."""

from __future__ import annotations

from typing import Any

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog import LIMITS
from tollgate.payments import WalletKey, WalletPublic
from tollgate.store.database import Database
from tollgate.store.directory import MERCHANTS_VERSION
from tollgate.store.schema import wallet_keys, wallet_uses
from tollgate.store.settings import add_to_setting_writes
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

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
    await _change(db, Write(_insert_key, flat, rows=1))


async def delete_wallet_key(db: Database, key_id: str) -> bool:
    """False: there is none."""
    return await _change(db, Write(_delete_key, {"key_id": key_id}, rows=1))


async def rewrap_wallet_key(db: Database, key_id: str, old: bytes, new: bytes) -> bool:
    """The same key under another of the ring. False: somebody changed it meanwhile."""
    return await _change(db, Write(_rewrap_key, {"key_id": key_id, "old": old, "new": new}, rows=1))


async def list_wallet_keys(db: Database) -> list[WalletKey]:
    return [_read_key(dict(zip(_KEY, row, strict=True))) for row in await db.fetch(_list_keys, {})]


async def record_wallet_use(
    db: Database, merchant_id: MerchantId, fingerprint: bytes, used_at: Instant, request: bytes | None = None
) -> bool:
    """False: the token was used before, by whichever process.

    A request that comes twice at once under one Idempotency-Key is the same use: the key lets only one of them pay.
    """
    of = {"merchant_id": merchant_id, "fingerprint": fingerprint}
    if await db.write([Write(_idempotency_key, {**of, "used_at": used_at, "request": request}, rows=1)]):
        return True
    # Well before the key itself is forgotten, or else the token could be used again by who comes in between.
    since = used_at - LIMITS.idempotency_lifetime // 2
    return request is not None and await db.fetch_one(_same, {**of, "request": request, "since": since}) is not None


async def purge_wallet_uses(db: Database, before: Instant, limit: int) -> int:
    """Remove the oldest; how many went."""
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))


async def _change(db: Database, write: Write) -> bool:
    """Keys belong to the directory: who keeps it in memory notices a change by its version."""
    return await db.write([write, *add_to_setting_writes(MERCHANTS_VERSION, 1)])


def _read_key(named: dict[str, Any]) -> WalletKey:
    return WalletKey(**named | {"public": msgspec.json.decode(named["public"], type=WalletPublic)})
