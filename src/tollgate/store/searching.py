"""Reads payments for a search, one index at a time: by time, by reference, by term, and what no index shows yet.

Lists are sorted by time and then by id, in either direction, and begin at a place in that order. Whether a payment
fits is decided elsewhere.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import Payment
from tollgate.payments.reporting import FOREVER, Place
from tollgate.store import database, hot, search_index, statements
from tollgate.store.codec import LIMIT, ZERO
from tollgate.store.payment_months import JoinedPayments, OnPostgres
from tollgate.store.payments import PAYMENTS, read_if_sound
from tollgate.store.schema import STARTED, TEXT, WHOLE, outbox, payment_terms, payments
from tollgate.values import Instant, MerchantId


class Candidate(msgspec.Struct, frozen=True):
    """A payment that may fit a search."""

    place: Place
    channel_id: str
    payment: Payment | None
    """It is None if the row cannot be read."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list: from a place on, in one direction, within a time."""

    begins_at: Instant = 0
    ends_at: Instant = FOREVER
    after: Place | None = None
    """The last place that was seen; it is not part of the span."""
    is_newest_first: bool = True

    def bind(self) -> dict[str, Any]:
        """Returns the place to begin behind and the time to end at; no id is empty, so a bare time is a place too."""
        bound = Place(self.ends_at if self.is_newest_first else self.begins_at, "")
        # The nearer of two bounds counts: with both in the statement a planner may start at the farther one.
        places = [bound] if self.after is None else [bound, self.after]
        choose = min if self.is_newest_first else max
        start = choose(places, key=lambda place: (place.at, place.id))
        last_at = self.begins_at if self.is_newest_first else self.ends_at
        return {"start_at": start.at, "start_id": start.id, "last_at": last_at}


def _within(
    query: sa.Select[Any], at: sa.Column[Any], key: sa.Column[Any], *, is_newest_first: bool
) -> statements.Statement:
    here = sa.tuple_(at, key)
    start_at = sa.bindparam("start_at", type_=WHOLE)
    start = sa.tuple_(start_at, sa.bindparam("start_id", type_=TEXT))
    if is_newest_first:
        query = query.where(here < start, OnPostgres(at <= start_at), at >= sa.bindparam("last_at"))
        query = query.order_by(at.desc(), key.desc())
    else:
        query = query.where(here > start, OnPostgres(at >= start_at), at < sa.bindparam("last_at")).order_by(at, key)
    return statements.Statement(query.limit(LIMIT))


_of_channel = PAYMENTS.select(
    payments.c.merchant_id == sa.bindparam("merchant_id"), payments.c.channel_id == sa.bindparam("channel_id")
)
_of_reference = _of_channel.where(payments.c.merchant_transaction_id == sa.bindparam("reference"))
_of_term = sa.select(payment_terms.c.created_at, payment_terms.c.payment_id).where(
    payment_terms.c.merchant_id == sa.bindparam("merchant_id"), payment_terms.c.term == sa.bindparam("term")
)
_DIRECTIONS = (True, False)
BY_TIME, BY_REFERENCE = (
    {
        is_newest_first: _within(query, payments.c.created_at, payments.c.id, is_newest_first=is_newest_first)
        for is_newest_first in _DIRECTIONS
    }
    for query in (_of_channel, _of_reference)
)
BY_TERM = {
    is_newest_first: _within(
        _of_term, payment_terms.c.created_at, payment_terms.c.payment_id, is_newest_first=is_newest_first
    )
    for is_newest_first in _DIRECTIONS
}

_unindexed = (
    sa.select(outbox.c.subject_id)
    .where(outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id > sa.bindparam("cursor"))
    .order_by(outbox.c.id.desc())
    .limit(LIMIT)
).subquery("unindexed")
CHANGED = statements.Statement(
    sa.select(*PAYMENTS.columns)
    .select_from(JoinedPayments(_unindexed, payments, sa.bindparam("merchant_id"), _unindexed.c.subject_id))
    .where(payments.c.created_at < sa.bindparam("before"))
)
# Spelled so that no planner takes the key of the merchant's payments for it, of which there are many more.
_merchant_of_few = payments.c.merchant_id.concat(sa.literal_column("''"))
IN_FLIGHT = statements.Statement(
    PAYMENTS.select(
        sa.text(f"payments.{STARTED}"),
        payments.c.deadline_at > ZERO,
        _merchant_of_few == sa.bindparam("merchant_id", type_=TEXT),
        payments.c.created_at < sa.bindparam("before"),
    ).limit(LIMIT)
)


def _read(row: hot.Row) -> Candidate:
    place = Place(row[PAYMENTS.at["created_at"]], row[PAYMENTS.at["id"]])
    return Candidate(place, row[PAYMENTS.at["channel_id"]], read_if_sound(row))


async def list_by_time(
    db: database.Database, merchant_id: MerchantId, channel_id: str, span: Span, limit: int
) -> list[Candidate]:
    params = {"merchant_id": merchant_id, "channel_id": channel_id, "limit": limit, **span.bind()}
    return [_read(row) for row in await db.fetch(BY_TIME[span.is_newest_first], params)]


async def list_by_reference(
    db: database.Database, merchant_id: MerchantId, channel_id: str, reference: str, span: Span, limit: int
) -> list[Candidate]:
    params = {"merchant_id": merchant_id, "channel_id": channel_id, "reference": reference, "limit": limit}
    return [_read(row) for row in await db.fetch(BY_REFERENCE[span.is_newest_first], params | span.bind())]


async def list_by_term(
    db: database.Database, merchant_id: MerchantId, term: str, span: Span, limit: int
) -> tuple[list[Candidate], Place | None]:
    """Lists payments with a term, and returns the place of the last term, at which the next list begins.

    A payment that cannot be read, or is gone, is left out.
    """
    params = {"merchant_id": merchant_id, "term": term, "limit": limit, **span.bind()}
    places = [Place(at, payment_id) for at, payment_id in await db.fetch(BY_TERM[span.is_newest_first], params)]
    loaded = await search_index.load_payments(db, merchant_id, [place.id for place in places])
    found = [(place, loaded.get(place.id)) for place in places]
    listed = [Candidate(place, payment.channel_id, payment) for place, payment in found if payment is not None]
    return listed, places[-1] if len(places) == limit else None


async def list_changed(
    db: database.Database, merchant_id: MerchantId, cursor: str, before: Instant, limit: int
) -> list[Candidate]:
    """Lists payments from before a time that changed since the index was written, and those still in flight."""
    params = {"merchant_id": merchant_id, "before": before, "limit": limit}
    rows = [*await db.fetch(CHANGED, params | {"cursor": cursor}), *await db.fetch(IN_FLIGHT, params)]
    return [_read(row) for row in rows]
