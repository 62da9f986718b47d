"""What becomes of checkouts with time: their fields are wrapped under newer keys and wiped, at last the row goes.

Also of the scripts that were promised for them. Nothing is opened here.
"""

from __future__ import annotations

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments import Script
from tollgate.store.database import Database
from tollgate.store.schema_checkouts import checkouts, scripts
from tollgate.store.schema_links import payment_links
from tollgate.store.sealed_pages import is_after, is_sealed_otherwise, name_page
from tollgate.store.statements import Statement, Write
from tollgate.values import CheckoutId, Instant, MerchantId

_KEY = (checkouts.c.merchant_id, checkouts.c.id)


class SealedCheckout(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: CheckoutId
    sealed: bytes


_over = (
    sa.select(*_KEY)
    .where(checkouts.c.sealed_fields.is_not(None), checkouts.c.expires_at < sa.bindparam("before"))
    .order_by(checkouts.c.expires_at)
    .limit(sa.bindparam("limit"))
)
_wipe = Statement(
    sa.update(checkouts).where(sa.tuple_(*_KEY).in_(_over)).values(sealed_fields=sa.null()).returning(checkouts.c.id)
)
_is_linked = sa.exists().where(
    payment_links.c.merchant_id == checkouts.c.merchant_id, payment_links.c.checkout_id == checkouts.c.id
)
# A payment link tells for as long as it is remembered whether it was paid.
_oldest = (
    sa.select(*_KEY)
    .where(checkouts.c.created_at < sa.bindparam("before"), ~_is_linked)
    .order_by(checkouts.c.created_at)
    .limit(sa.bindparam("limit"))
)
_purge = Statement(sa.delete(checkouts).where(sa.tuple_(*_KEY).in_(_oldest)).returning(checkouts.c.id))
_sealed_otherwise = Statement(
    sa.select(*_KEY, checkouts.c.sealed_fields)
    .where(checkouts.c.sealed_fields.is_not(None), is_sealed_otherwise(checkouts.c.sealed_fields), is_after(*_KEY))
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
_rewrap = Statement(
    sa.update(checkouts)
    .where(
        checkouts.c.merchant_id == sa.bindparam("of_merchant_id"),
        checkouts.c.id == sa.bindparam("checkout_id"),
        checkouts.c.sealed_fields == sa.bindparam("old"),
    )
    .values(sealed_fields=sa.bindparam("new"))
)
_SCRIPT = Script.__struct_fields__
_keep_script = Statement(
    insert(scripts)
    .values({name: sa.bindparam(name) for name in (*_SCRIPT, "promised_at")})
    .on_conflict_do_update(index_elements=["version"], set_={"promised_at": sa.bindparam("promised_at")})
)
_find_script = Statement(
    sa.select(*[scripts.c[name] for name in _SCRIPT]).where(scripts.c.version == sa.bindparam("version"))
)
_purge_scripts = Statement(
    sa.delete(scripts).where(scripts.c.promised_at < sa.bindparam("before")).returning(scripts.c.version)
)


async def wipe_checkouts(db: Database, before: Instant, limit: int) -> int:
    """Of those that were over before; how many lost their fields."""
    return len(await db.fetch(_wipe, {"before": before, "limit": limit}))


async def purge_checkouts(db: Database, before: Instant, limit: int) -> int:
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))


async def list_sealed_checkouts(
    db: Database, after: SealedCheckout | None, active_prefix: bytes, limit: int
) -> list[SealedCheckout]:
    """Those whose first bytes are not those of the active key, in the order of the primary key."""
    rows = await db.fetch(_sealed_otherwise, name_page(after, active_prefix, limit))
    return [SealedCheckout(*row) for row in rows]


async def rewrap_checkout(db: Database, found: SealedCheckout, new: bytes) -> bool:
    """False: it was changed meanwhile."""
    of = {"of_merchant_id": found.merchant_id, "checkout_id": found.id}
    return await db.write([Write(_rewrap, {**of, "old": found.sealed, "new": new}, rows=1)])


async def keep_script(db: Database, script: Script, now: Instant) -> None:
    """Promised again, it is kept for longer."""
    await db.write([Write(_keep_script, msgspec.structs.asdict(script) | {"promised_at": now})])


async def find_script(db: Database, version: str) -> Script | None:
    row = await db.fetch_one(_find_script, {"version": version})
    return None if row is None else Script(*row)


async def purge_scripts(db: Database, before: Instant) -> int:
    return len(await db.fetch(_purge_scripts, {"before": before}))
