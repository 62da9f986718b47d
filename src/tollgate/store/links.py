"""Payment links: written, given a checkout, ended, wiped, forgotten. What may happen is decided before.

Every change names what it expects, so that of two who do the same one has no effect.
"""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.payments.checkout import Checkout, CheckoutState, LinkState, PaymentLink
from tollgate.store.checkouts import insert_checkout_writes
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.retention import is_after, is_sealed_otherwise, name_page
from tollgate.store.schema import TEXT, checkouts, payment_links
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, LinkId, MerchantId

LINK_COLUMNS = PaymentLink.__struct_fields__
_STATE_AT = LINK_COLUMNS.index("state")
_KEY = (payment_links.c.merchant_id, payment_links.c.id)

_of_key = (
    payment_links.c.merchant_id == sa.bindparam("of_merchant_id"),
    payment_links.c.id == sa.bindparam("link_id"),
)
_is_as_seen = (
    payment_links.c.state == int(LinkState.OPEN),
    payment_links.c.checkout_id.is_not_distinct_from(sa.bindparam("seen_checkout_id", type_=TEXT)),
)

_UNPAID = (CheckoutState.OPEN, CheckoutState.CANCELLED)

_insert = Statement(sa.insert(payment_links).values({name: sa.bindparam(name) for name in LINK_COLUMNS}))
_find = Statement(
    sa.select(*[payment_links.c[name] for name in LINK_COLUMNS]).where(
        payment_links.c.merchant_id == sa.bindparam("merchant_id"), payment_links.c.id == sa.bindparam("id")
    ),
    is_quick=True,
)
_give_checkout = Statement(
    sa.update(payment_links)
    .where(*_of_key, *_is_as_seen, payment_links.c.expires_at > sa.bindparam("now"))
    .values(checkout_id=sa.bindparam("new_checkout_id"), mac=sa.bindparam("new_mac"))
)
_end = Statement(
    sa.update(payment_links)
    .where(*_of_key, *_is_as_seen)
    .values(state=int(LinkState.ENDED), mac=sa.bindparam("new_mac"))
)
# However old the checkout is: what a provider approves for it from now on is given back.
_withdraw = Statement(
    sa.update(checkouts)
    .where(
        checkouts.c.merchant_id == sa.bindparam("of_merchant_id"),
        checkouts.c.id == sa.bindparam("seen_checkout_id"),
        checkouts.c.state.in_([sa.literal_column(str(int(state))) for state in _UNPAID]),
    )
    .values(state=int(CheckoutState.CANCELLED))
)

_over = (
    sa.select(*_KEY)
    .where(payment_links.c.sealed_fields.is_not(None), payment_links.c.expires_at < sa.bindparam("before"))
    .order_by(payment_links.c.expires_at)
    .limit(sa.bindparam("limit"))
)
_wipe = Statement(
    sa.update(payment_links)
    .where(sa.tuple_(*_KEY).in_(_over))
    .values(sealed_fields=sa.null())
    .returning(payment_links.c.id)
)
_oldest = (
    sa.select(*_KEY)
    .where(payment_links.c.expires_at < sa.bindparam("before"))
    .order_by(payment_links.c.expires_at)
    .limit(sa.bindparam("limit"))
)
_purge = Statement(sa.delete(payment_links).where(sa.tuple_(*_KEY).in_(_oldest)).returning(payment_links.c.id))
_sealed_otherwise = Statement(
    sa.select(*_KEY, payment_links.c.sealed_fields)
    .where(
        payment_links.c.sealed_fields.is_not(None),
        is_sealed_otherwise(payment_links.c.sealed_fields),
        is_after(*_KEY),
    )
    .order_by(*_KEY)
    .limit(sa.bindparam("limit"))
)
_rewrap = Statement(
    sa.update(payment_links)
    .where(*_of_key, payment_links.c.sealed_fields == sa.bindparam("old"))
    .values(sealed_fields=sa.bindparam("new"))
)


class SealedLink(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: LinkId
    sealed: bytes


async def find_link(db: Database, merchant_id: MerchantId, link_id: str) -> PaymentLink | None:
    row = await db.fetch_one(_find, {"merchant_id": merchant_id, "id": link_id})
    return None if row is None else read_link_row(row)


def read_link_row(row: Row) -> PaymentLink:
    return PaymentLink(**dict(zip(LINK_COLUMNS, row, strict=True)) | {"state": LinkState(row[_STATE_AT])})


def insert_link_writes(link: PaymentLink) -> list[Write]:
    return [Write(_insert, msgspec.structs.asdict(link) | {"state": int(link.state)}, rows=1)]


async def give_checkout(
    db: Database, seen: PaymentLink, changed: PaymentLink, checkout: Checkout, now: Instant
) -> bool:
    """Makes a checkout the link's only one and withdraws the one before it.

    Returns False if another process was faster, if somebody pays or has paid the one before, or if the link is over.
    """
    params = _name(seen) | {"new_checkout_id": checkout.id, "new_mac": changed.mac, "now": now}
    giving = Write(_give_checkout, params, rows=1)
    return await db.write([giving, *_withdraw_writes(seen), *insert_checkout_writes(checkout)], label="link checkout")


async def end_link(db: Database, seen: PaymentLink, ended: PaymentLink) -> bool:
    """Returns False if the link has another checkout by now, is ended already, is being paid or is paid."""
    ending = Write(_end, _name(seen) | {"new_mac": ended.mac}, rows=1)
    return await db.write([ending, *_withdraw_writes(seen)], label="payment link ended")


def _withdraw_writes(seen: PaymentLink) -> list[Write]:
    if seen.checkout_id is None:
        return []
    return [Write(_withdraw, {"of_merchant_id": seen.merchant_id, "seen_checkout_id": seen.checkout_id}, rows=1)]


async def wipe_links(db: Database, before: Instant, limit: int) -> int:
    """Returns how many of those that ended before lost their fields."""
    return len(await db.fetch(_wipe, {"before": before, "limit": limit}))


async def purge_links(db: Database, before: Instant, limit: int) -> int:
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))


async def list_sealed_links(
    db: Database, after: SealedLink | None, active_prefix: bytes, limit: int
) -> list[SealedLink]:
    """Lists those whose first bytes are not those of the active key, in the order of the primary key."""
    return [SealedLink(*row) for row in await db.fetch(_sealed_otherwise, name_page(after, active_prefix, limit))]


async def rewrap_link(db: Database, found: SealedLink, new: bytes) -> bool:
    """Returns False if it was changed meanwhile."""
    of = {"of_merchant_id": found.merchant_id, "link_id": found.id}
    return await db.write([Write(_rewrap, {**of, "old": found.sealed, "new": new}, rows=1)], label="key rotation")


def _name(link: PaymentLink) -> dict[str, object]:
    return {"of_merchant_id": link.merchant_id, "link_id": link.id, "seen_checkout_id": link.checkout_id}
