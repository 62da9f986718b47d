"""The search index of payments, their tallies by the hour, and how far both were written.

What a payment is found by is decided elsewhere.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments.payment import Payment, State
from tollgate.store import database, opening, statements
from tollgate.store.codec import LIMIT, ONE, Codec, bind, is_among_ids, spread_ids
from tollgate.store.events import Event
from tollgate.store.payment_months import JoinedPayments, are_payments
from tollgate.store.payments import PAYMENTS, read_if_sound
from tollgate.store.schema import merchants, outbox, payment_tallies, payment_terms, payments
from tollgate.values import HOUR, Instant, MerchantId

CURSOR = "payment_index."
"""The settings with the id of the last event that was indexed, one for each merchant."""
REMOVALS = "payment_removals."
"""The settings that count how often payments lost what they are found by, or were removed, one for each merchant."""
_INSTANT_DIGITS = 16
_TERMS_AT_ONCE = 48


class Term(msgspec.Struct, frozen=True, order=True):
    merchant_id: MerchantId
    term: str
    created_at: Instant
    """The payment's own, by which what is found is sorted."""
    payment_id: str


class HourTally(msgspec.Struct, frozen=True, kw_only=True):
    """The completed payments of an hour that are alike."""

    hour: int
    """Hours since 1970, or a longer step of time where several were added up."""
    channel_id: str
    payment_type: str
    brand: str
    result_code: str
    currency: str
    payments: int
    amount: int


# ---- how far the index was written ----

_newest = (
    sa.select(sa.func.max(outbox.c.id)).where(outbox.c.merchant_id == merchants.c.id).correlate(merchants)
).scalar_subquery()
_newest_events = statements.Statement(sa.select(merchants.c.id, _newest))


async def get_cursor(db: database.Database, merchant_id: MerchantId) -> str:
    """Returns the id of the last event that was indexed; "" before the first."""
    return await opening.get_setting(db, CURSOR + merchant_id)


def get_cursor_time(cursor: str) -> Instant:
    return int(cursor[:_INSTANT_DIGITS], 16) if cursor else 0


async def list_behind(db: database.Database) -> list[MerchantId]:
    """Lists the merchants with events that are not indexed yet, by two statements however many merchants there are."""
    cursors = dict(await opening.list_settings(db, CURSOR))
    rows = await db.fetch(_newest_events, {})
    return [merchant_id for merchant_id, newest in rows if newest and newest > cursors.get(CURSOR + merchant_id, "")]


_far = statements.Statement(
    sa.select(outbox.c.id)
    .where(outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id > sa.bindparam("cursor"))
    .order_by(outbox.c.id)
    .limit(ONE)
    .offset(sa.bindparam("limit"))
)


async def is_far_behind(db: database.Database, merchant_id: MerchantId, cursor: str, limit: int) -> bool:
    """Tells whether more than so many events are not indexed yet."""
    return bool(await db.fetch(_far, {"merchant_id": merchant_id, "cursor": cursor, "limit": limit}))


async def begin_cursor(db: database.Database, merchant_id: MerchantId) -> None:
    await opening.add_setting(db, CURSOR + merchant_id, "")
    await begin_removals(db, merchant_id)


def move_cursor_writes(merchant_id: MerchantId, old: str, new: str, removals: str) -> list[statements.Write]:
    """Moves the cursor, first of its unit: of two processes with the same events, one writes and the other nothing.

    removals: their number before the payments were read; nothing is written if one of them may be gone since.
    """
    return [
        *opening.replace_setting_writes(CURSOR + merchant_id, old, new),
        *expect_removals_writes(merchant_id, removals),
    ]


async def begin_removals(db: database.Database, merchant_id: MerchantId) -> None:
    await opening.add_setting(db, REMOVALS + merchant_id, "0")


async def list_removals(db: database.Database) -> dict[str, str]:
    """Returns the number of removals of each merchant whose removals are counted."""
    return {name.removeprefix(REMOVALS): count for name, count in await opening.list_settings(db, REMOVALS)}


def expect_removals_writes(merchant_id: MerchantId, count: str) -> list[statements.Write]:
    """Undoes the unit if there was a removal since they were counted, and keeps the next one waiting for its end."""
    return opening.replace_setting_writes(REMOVALS + merchant_id, count, count)


async def get_removals(db: database.Database, merchant_id: MerchantId) -> str:
    """Returns how many removals there were; "" before `begin_cursor`."""
    return await opening.get_setting(db, REMOVALS + merchant_id)


def count_removal_writes(merchant_id: MerchantId) -> list[statements.Write]:
    """Counts a removal, first of its unit: terms that are being written now are committed before it, or not at all."""
    return opening.add_to_setting_writes(REMOVALS + merchant_id, 1)


def count_all_removals_writes() -> list[statements.Write]:
    """Counts a removal for every merchant."""
    return opening.add_to_settings_writes(REMOVALS, 1)


# ---- terms ----

TERMS = Codec(payment_terms, Term, key=["merchant_id", "term", "created_at", "payment_id"])
_delete_term = TERMS.delete()
_insert_terms = statements.Statement(
    insert(payment_terms)
    .values(
        [
            {name: sa.bindparam(f"{name}_{place}", type_=payment_terms.c[name].type) for name in TERMS.names}
            for place in range(_TERMS_AT_ONCE)
        ]
    )
    .on_conflict_do_nothing()
)


def insert_terms_writes(terms: Sequence[Term]) -> list[statements.Write]:
    """Inserts terms; one that exists is left alone. The last statement repeats its last term to be full."""
    writes = []
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        some = terms[start : start + _TERMS_AT_ONCE]
        params: dict[str, Any] = {}
        for place in range(_TERMS_AT_ONCE):
            encoded = TERMS.encode(some[min(place, len(some) - 1)])
            params |= {f"{name}_{place}": value for name, value in encoded.items()}
        writes.append(statements.Write(_insert_terms, params))
    return writes


_counted = (
    sa.select(payment_terms.c.payment_id)
    .where(
        payment_terms.c.merchant_id == bind("of", payment_terms.c.merchant_id),
        payment_terms.c.term == bind("of", payment_terms.c.term),
        payment_terms.c.created_at >= sa.bindparam("since", type_=payment_terms.c.created_at.type),
    )
    .limit(LIMIT)
)
_count_term = statements.Statement(sa.select(sa.func.count()).select_from(_counted.subquery()))


async def count_term(db: database.Database, merchant_id: MerchantId, term: str, since: Instant, limit: int) -> int:
    """Counts the payments with a term that were made since then, up to the limit; the last minute is not indexed."""
    params = {"of_merchant_id": merchant_id, "of_term": term, "since": since, "limit": limit}
    [row] = await db.fetch(_count_term, params)
    return int(row[0])


def delete_terms_writes(terms: Iterable[Term]) -> list[statements.Write]:
    """Deletes terms that must not be kept, such as the e-mail of a person whose data is erased."""
    return [write for term in terms for write in _delete_term(term, rows=None)]


# ---- tallies ----

_KEY = ("hour", "channel_id", "payment_type", "brand", "result_code", "currency")
_added = insert(payment_tallies).values(
    {name: sa.bindparam(name, type_=payment_tallies.c[name].type) for name in ("merchant_id", *_KEY)}
    | {name: sa.bindparam(name, type_=payment_tallies.c[name].type) for name in ("payments", "amount")}
)
_add = statements.Statement(
    _added.on_conflict_do_update(
        index_elements=["merchant_id", *_KEY],
        set_={name: payment_tallies.c[name] + _added.excluded[name] for name in ("payments", "amount")},
    )
)


def add_tallies_writes(merchant_id: MerchantId, tallies: Iterable[HourTally]) -> list[statements.Write]:
    return [
        statements.Write(_add, {"merchant_id": merchant_id, **msgspec.structs.asdict(tally)}, rows=1)
        for tally in tallies
    ]


def _make_step(column: sa.ColumnElement[Any], hours: int) -> sa.ColumnElement[Any]:
    return column.op("/")(sa.literal_column(str(hours)))


def _make_tallies(hours: int) -> statements.Statement:
    step = _make_step(payment_tallies.c.hour, hours)
    group = (step, *[payment_tallies.c[name] for name in _KEY[1:]])
    return statements.Statement(
        sa.select(*group, sa.func.sum(payment_tallies.c.payments), sa.func.sum(payment_tallies.c.amount))
        .where(
            payment_tallies.c.merchant_id == sa.bindparam("merchant_id"),
            payment_tallies.c.hour >= sa.bindparam("first"),
            payment_tallies.c.hour < sa.bindparam("beyond"),
        )
        .group_by(*group)
    )


def _make_tail(hours: int) -> statements.Statement:
    """Counts the payments whose completing event is behind the cursor; an earlier event of theirs counts nothing."""
    unindexed = (
        sa.select(outbox.c.subject_id, outbox.c.created_at)
        .where(outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id > sa.bindparam("cursor"))
        .order_by(outbox.c.id)
        .limit(sa.bindparam("limit"))
    ).subquery("unindexed")
    joined = JoinedPayments(unindexed, payments, sa.bindparam("merchant_id"), unindexed.c.subject_id)
    step = _make_step(payments.c.completed_at, hours * HOUR)
    group = (step, *[payments.c[name] for name in _KEY[1:]])
    return statements.Statement(
        sa.select(*group, sa.func.count(), sa.func.sum(payments.c.amount))
        .select_from(joined)
        .where(
            payments.c.completed_at == unindexed.c.created_at,
            payments.c.state.in_([sa.literal_column(str(int(state))) for state in (State.APPROVED, State.DECLINED)]),
            payments.c.completed_at >= sa.bindparam("begins_at"),
            payments.c.completed_at < sa.bindparam("ends_at"),
        )
        .group_by(*group)
    )


STEPS = (1, 24)
"""The hours that are added up: each by itself, or those of a day."""
_tallies = {hours: _make_tallies(hours) for hours in STEPS}
_tails = {hours: _make_tail(hours) for hours in STEPS}


async def list_tallies(
    db: database.Database, merchant_id: MerchantId, begins_at: Instant, ends_at: Instant, hours: int
) -> list[HourTally]:
    """Adds up what was counted between two full hours; `hours` is one of the steps."""
    params = {"merchant_id": merchant_id, "first": begins_at // HOUR, "beyond": ends_at // HOUR}
    return [_read_tally(row) for row in await db.fetch(_tallies[hours], params)]


async def list_tail_tallies(
    db: database.Database,
    merchant_id: MerchantId,
    cursor: str,
    begins_at: Instant,
    ends_at: Instant,
    hours: int,
    limit: int,
) -> list[HourTally]:
    """Adds up what is not counted yet, up to a number of events after the cursor."""
    bounds = {"cursor": cursor, "begins_at": begins_at, "ends_at": ends_at, "limit": limit}
    rows = await db.fetch(_tails[hours], {"merchant_id": merchant_id, **bounds})
    return [_read_tally(row) for row in rows]


def _read_tally(row: Sequence[Any]) -> HourTally:
    *key, count, amount = row
    # PostgreSQL sums into a wider type of its own.
    return HourTally(**dict(zip(_KEY, key, strict=True)), payments=int(count), amount=int(amount))


# ---- the payments of events ----

_by_ids = statements.Statement(
    PAYMENTS.select(are_payments(payments, bind("of", payments.c.merchant_id), "id", is_among_ids))
)


async def load_payments(
    db: database.Database, merchant_id: MerchantId, ids: Sequence[str]
) -> dict[str, Payment | None]:
    """Returns the payments with these ids that exist; one that cannot be read is None."""
    found: dict[str, Payment | None] = {}
    for _, some in spread_ids(ids):
        for row in await db.fetch(_by_ids, {"of_merchant_id": merchant_id, **some}):
            found[row[PAYMENTS.at["id"]]] = read_if_sound(row)
    return found


def list_payment_ids(events: Iterable[Event]) -> list[str]:
    """Lists the subjects of events of payments, each once."""
    return [*dict.fromkeys(event.subject_id for event in events if event.topic.startswith("payment."))]
