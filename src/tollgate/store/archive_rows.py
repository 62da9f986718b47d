"""The rows of chains on their way to a file: walked by time, closed for follow-ups, gathered, and removed in the end.

Which chains may go is decided in `flows`.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.payments.archiving import CLOSED_FOR_ARCHIVE, ArchivedMonth, get_last_change
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.store import schema
from tollgate.store.archives import ARCHIVED_TABLES, COLUMNS, ChainRows, encode_row
from tollgate.store.codec import LIMIT, ONE, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.payment_months import OnPostgres, are_payments
from tollgate.store.payments import PAYMENTS
from tollgate.store.schema import TEXT, WHOLE, archived_payments, payment_months, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import HOUR, Instant, MerchantId, make_timed_id

CHAINS_PAGE = 200
"""Chains that are read, closed and removed at once."""

# ---- walking ----

_is_first = payments.c.chain_id.is_(None)
_page = Statement(
    sa.select(payments.c.created_at, payments.c.id)
    .where(
        payments.c.channel_id == sa.bindparam("channel_id"),
        payments.c.merchant_id == sa.bindparam("merchant_id"),
        sa.tuple_(payments.c.created_at, payments.c.id)
        > sa.tuple_(sa.bindparam("after_at", type_=WHOLE), sa.bindparam("after_id", type_=TEXT)),
        OnPostgres(payments.c.created_at >= sa.bindparam("after_at", type_=WHOLE)),
        payments.c.created_at < sa.bindparam("before", type_=WHOLE),
        _is_first,
    )
    .order_by(payments.c.created_at, payments.c.id)
    .limit(LIMIT)
)
_oldest = Statement(
    sa.select(payments.c.created_at)
    .where(
        payments.c.channel_id == sa.bindparam("channel_id"),
        payments.c.merchant_id == sa.bindparam("merchant_id"),
    )
    .order_by(payments.c.created_at)
    .limit(ONE)
)


async def find_oldest(db: Database, channels: Iterable[Channel]) -> Instant | None:
    """Returns when the oldest payment of these channels was made."""
    rows = [await db.fetch_one(_oldest, {"channel_id": each.id, "merchant_id": each.merchant_id}) for each in channels]
    return min([int(row[0]) for row in rows if row is not None], default=None)


async def walk_firsts(db: Database, channel: Channel, before: Instant) -> AsyncIterator[list[str]]:
    """Yields pages of ids of the payments that begin a chain and were made before an instant, oldest first."""
    after_at, after_id = -1, ""
    params = {"channel_id": channel.id, "merchant_id": channel.merchant_id, "before": before, "limit": CHAINS_PAGE}
    while rows := await db.fetch(_page, {**params, "after_at": after_at, "after_id": after_id}):
        yield [row[1] for row in rows]
        after_at, after_id = rows[-1]


# ---- closing ----

_closed = sa.bindparam("closed", type_=WHOLE)
_of = payments.c.merchant_id == bind("of", payments.c.merchant_id)
_are_its_members = are_payments(payments, bind("of", payments.c.merchant_id), "id", is_among_ids)
_are_its_followers = are_payments(payments, bind("of", payments.c.merchant_id), "chain_id", is_among_ids)
_close = Statement(
    sa.update(payments)
    .where(_are_its_members, payments.c.chain_length < _closed)
    .values(chain_length=payments.c.chain_length + _closed)
)
_open = Statement(
    sa.update(payments)
    .where(_are_its_members, payments.c.chain_length >= _closed)
    .values(chain_length=payments.c.chain_length - _closed)
)


def _write_ids(statement: Statement, merchant_id: MerchantId, ids: Sequence[str], **params: Any) -> list[Write]:
    return [Write(statement, {"of_merchant_id": merchant_id, **some, **params}) for _, some in spread_ids(ids)]


def close_writes(merchant_id: MerchantId, first_ids: Sequence[str]) -> list[Write]:
    """Closes chains for follow-ups; whoever reserves on one at the same moment comes before, or is refused."""
    return _write_ids(_close, merchant_id, first_ids, closed=CLOSED_FOR_ARCHIVE)


def open_writes(merchant_id: MerchantId, first_ids: Sequence[str]) -> list[Write]:
    """Opens chains that were closed; others stay as they are."""
    return _write_ids(_open, merchant_id, first_ids, closed=CLOSED_FOR_ARCHIVE)


# ---- gathering ----


def _select(table: str, *where: sa.ColumnElement[bool]) -> Statement:
    its = ARCHIVED_TABLES[table].c
    return Statement(sa.select(*COLUMNS[table]).where(its.merchant_id == bind("of", its.merchant_id), *where))


_outbox, _attempts = schema.outbox.c, schema.delivery_attempts.c
_by_ids = {
    table: _select(table, _are_its_members if its is payments else is_among_ids(its.c.id))
    for table, its in ARCHIVED_TABLES.items()
}
_followers = _select("payments", _are_its_followers)
_attempts_of_events = _select("delivery_attempts", is_among_ids(_attempts.event_id))
_events_between = _select(
    "outbox",
    _outbox.id >= sa.bindparam("first", type_=TEXT),
    _outbox.id < sa.bindparam("end", type_=TEXT),
    is_among_ids(_outbox.subject_id),
)


async def fetch_rows(db: Database, statement: Statement, merchant_id: MerchantId, ids: Sequence[str]) -> list[Row]:
    of = {"of_merchant_id": merchant_id}
    return [row for _, some in spread_ids(ids) for row in await db.fetch(statement, of | some)]


async def list_chains(db: Database, merchant_id: MerchantId, first_ids: Sequence[str]) -> dict[str, list[Row]]:
    """Lists the rows of payments of these chains, by the first payment and in the order of their numbers."""
    found = await fetch_rows(db, _by_ids["payments"], merchant_id, first_ids)
    found += await fetch_rows(db, _followers, merchant_id, first_ids)
    unique = {row[_ID]: row for row in found}
    chains: dict[str, list[Row]] = {}
    for row in sorted(unique.values(), key=lambda row: (row[_CHAIN_ID] is not None, row[_POSITION], row[_ID])):
        chains.setdefault(row[_CHAIN_ID] or row[_ID], []).append(row)
    return chains


_names = [column.name for column in COLUMNS["payments"]]
_ID, _CHAIN_ID, _POSITION = [_names.index(name) for name in ("id", "chain_id", "position")]
_READ = [_names.index(name) for name in PAYMENTS.names]


def pick_payment(row: Row) -> Row:
    """Returns the columns from which a payment is decoded."""
    return tuple([row[place] for place in _READ])


async def gather(
    db: Database, merchant_id: MerchantId, entry_ids: Sequence[str], event_ids: Sequence[str], waited: Sequence[Payment]
) -> dict[str, dict[str, list[Row]]]:
    """Lists the rows of the other tables by table and by the payment that they belong to.

    entry_ids, event_ids: what the payments of the chains posted and announced.
    waited: those that announced more, such as that the shopper has to be waited for.
    """
    found: dict[str, dict[str, list[Row]]] = {"ledger_entries": {}, "outbox": {}, "delivery_attempts": {}}
    for row in await fetch_rows(db, _by_ids["ledger_entries"], merchant_id, entry_ids):
        found["ledger_entries"].setdefault(row[_ENTRY_PAYMENT], []).append(row)
    events = {row[_EVENT_ID]: row for row in await fetch_rows(db, _by_ids["outbox"], merchant_id, event_ids)}
    for first, last, ids in _list_windows(waited):
        window = {"first": make_timed_id(first, ""), "end": make_timed_id(last + 1, "")}
        for _, some in spread_ids(ids):
            params = {"of_merchant_id": merchant_id, **window, **some}
            events |= {row[_EVENT_ID]: row for row in await db.fetch(_events_between, params)}
    for event_id in sorted(events):
        found["outbox"].setdefault(events[event_id][_EVENT_SUBJECT], []).append(events[event_id])
    for row in await fetch_rows(db, _attempts_of_events, merchant_id, sorted(events)):
        found["delivery_attempts"].setdefault(events[row[_ATTEMPT_EVENT]][_EVENT_SUBJECT], []).append(row)
    return found


def _get_place(table: str, name: str) -> int:
    return [column.name for column in COLUMNS[table]].index(name)


_ENTRY_PAYMENT = _get_place("ledger_entries", "payment_id")
_EVENT_ID, _EVENT_SUBJECT = _get_place("outbox", "id"), _get_place("outbox", "subject_id")
_ATTEMPT_EVENT = _get_place("delivery_attempts", "event_id")


def _list_windows(waited: Sequence[Payment]) -> list[tuple[Instant, Instant, list[str]]]:
    """Lists the times within which payments announced something, with the payments.

    No index knows what an event is about, but it is as old as what it announces. Payments that did not wait long share
    a window, because those of one page were made within a short time if there are many.
    """
    windows: list[tuple[Instant, Instant, list[str]]] = []
    for payment in sorted(waited, key=lambda payment: payment.created_at):
        first, last = payment.created_at, get_last_change(payment)
        begin, end, ids = windows[-1] if windows else (first, first, [])
        if ids and last - begin <= HOUR:
            windows[-1] = (begin, max(end, last), [*ids, payment.id])
        else:
            windows.append((first, last, [payment.id]))
    return windows


def join_chain(
    merchant_id: MerchantId, first_id: str, rows: Sequence[Row], gathered: dict[str, dict[str, list[Row]]]
) -> ChainRows:
    ids = [row[_ID] for row in rows]
    others = {
        table: [encode_row(table, row) for payment_id in ids for row in found.get(payment_id, [])]
        for table, found in gathered.items()
    }
    return ChainRows(
        merchant_id=merchant_id, first_id=first_id, payments=[encode_row("payments", row) for row in rows], **others
    )


# ---- what still needs a chain ----


def _select_needed(table: sa.Table, column: sa.Column[str], *where: Any) -> Statement:
    return Statement(
        sa.select(column).where(table.c.merchant_id == bind("of", table.c.merchant_id), is_among_ids(column), *where)
    )


_NEEDS = {
    "a job is still to be done for it": _select_needed(schema.jobs, schema.jobs.c.subject_id),
    "its review is open": _select_needed(schema.reviews, schema.reviews.c.id, sa.text(f"reviews.{schema.OPEN_REVIEW}")),
    "a bank is still to be told of it": _select_needed(
        schema.instructions, schema.instructions.c.id, sa.text(f"instructions.{schema.OPEN_INSTRUCTION}")
    ),
}
_pending_deliveries = Statement(
    sa.select(schema.deliveries.c.merchant_id, schema.deliveries.c.subject_id).where(
        sa.text(f"deliveries.{schema.PENDING_DELIVERY}"), schema.deliveries.c.event_id < sa.bindparam("end", type_=TEXT)
    )
)
_pending_announcements = Statement(
    sa.select(schema.announcements.c.merchant_id, schema.announcements.c.subject_id).where(
        sa.text(f"announcements.{schema.PENDING_ANNOUNCEMENT}"),
        schema.announcements.c.id < sa.bindparam("end", type_=TEXT),
    )
)


async def list_needs(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, str]:
    """Returns what is still to be done for payments, by their ids."""
    return {
        row[0]: reason
        for reason, statement in _NEEDS.items()
        for row in await fetch_rows(db, statement, merchant_id, ids)
    }


async def list_undelivered(db: Database, before: Instant) -> set[tuple[str, str]]:
    """Lists the merchants and subjects of events before an instant that are still to be delivered; they are few."""
    end = {"end": make_timed_id(before, "")}
    return {
        (row[0], row[1])
        for statement in (_pending_deliveries, _pending_announcements)
        for row in await db.fetch(statement, end)
    }


# ---- removing ----

# On PostgreSQL the time of a payment names its partition.
_is_of_time = sa.and_(
    payments.c.created_at >= sa.bindparam("first", type_=WHOLE),
    payments.c.created_at <= sa.bindparam("last", type_=WHOLE),
)
_forgotten = (
    sa.delete(payment_months)
    .where(payment_months.c.merchant_id == bind("of", payment_months.c.merchant_id), is_among_ids(payment_months.c.id))
    .cte("forgotten")
)
_inserted = (
    insert(archived_payments)
    .from_select(
        ["merchant_id", "id", "month", "part"],
        sa.select(
            payments.c.merchant_id,
            payments.c.id,
            sa.bindparam("month", type_=TEXT),
            sa.bindparam("part", type_=WHOLE),
        ).where(_of, is_among_ids(payments.c.id), _is_of_time),
    )
    .on_conflict_do_nothing()
)
_place = Statement(_inserted, on_postgres=_inserted.add_cte(_forgotten), is_write=True)
_live = Statement(sa.select(payments.c.id).where(_of, is_among_ids(payments.c.id), _is_of_time))
_remove = {
    table: Statement(
        sa.delete(its).where(
            its.c.merchant_id == bind("of", its.c.merchant_id),
            is_among_ids(its.c.id),
            *([_is_of_time] if its is payments else []),
        )
    )
    for table, its in ARCHIVED_TABLES.items()
}


async def list_live(db: Database, merchant_id: MerchantId, members: Sequence[Payment]) -> set[str]:
    """Lists those payments that are in the database, whether it knows them as archived or not."""
    if not members:
        return set()
    times = sorted(payment.created_at for payment in members)
    params = {"of_merchant_id": merchant_id, "first": times[0], "last": times[-1]}
    ids = [payment.id for payment in members]
    return {row[0] for _, some in spread_ids(ids) for row in await db.fetch(_live, params | some)}


def place_writes(archived: ArchivedMonth, chains: Sequence[ChainRows]) -> list[Write]:
    """Notes in which part each payment of these chains of one merchant is, and no longer in which month of a table."""
    merchant_id, ids, times = _sort_payments(chains)
    params = {"month": archived.month, "part": archived.part, "first": times[0], "last": times[-1]}
    return _write_ids(_place, merchant_id, ids, **params)


def _sort_payments(chains: Sequence[ChainRows]) -> tuple[MerchantId, list[str], list[Instant]]:
    rows = [row for chain in chains for row in chain.payments]
    return chains[0].merchant_id, [row["id"] for row in rows], sorted(row["created_at"] for row in rows)


def remove_writes(chains: Sequence[ChainRows]) -> list[Write]:
    """Removes exactly the rows of these chains of one merchant."""
    merchant_id, _, times = _sort_payments(chains)
    writes = []
    for table, statement in _remove.items():
        ids = [row_id for chain in chains for row_id in chain.list_ids(table)]
        bounds = {"first": times[0], "last": times[-1]} if table == "payments" else {}
        writes += _write_ids(statement, merchant_id, ids, **bounds)
    return writes
