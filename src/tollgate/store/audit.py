"""Walking the whole store in the order of its keys, a page at a time, and reading what belongs to a page. Only reads.

A row is given as it is found, even where it is no payment any more; what is wrong with it is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment
from tollgate.store import schema
from tollgate.store.codec import is_among_ids, spread_ids
from tollgate.store.database import Database, Unreadable
from tollgate.store.hot import Row
from tollgate.store.idempotency import IdempotencyRecord
from tollgate.store.jobs import Event, Job
from tollgate.store.payment_rows import SHOWN, read_payment
from tollgate.store.statements import Statement
from tollgate.values import MerchantId

_T = TypeVar("_T")

PAGE = 500
FIRSTS_PAGE = 200
"""Chains of a page; those have followers besides."""

_OF_PAYMENTS = (
    schema.payments,
    schema.ledger,
    schema.outbox,
    schema.jobs,
    schema.idempotency_records,
    schema.authentications,
    schema.instructions,
    schema.bank_files,
)
_WALKED = (
    *_OF_PAYMENTS,
    schema.registrations,
    schema.schedules,
    schema.schedule_runs,
    schema.checkouts,
    schema.payment_links,
)
WALKED = {table.name: table for table in _WALKED}


class AuditedPayment(msgspec.Struct, frozen=True):
    """A row of payments. Without the payment: it is there and cannot be read as one."""

    merchant_id: MerchantId
    id: str
    chain_id: str | None
    payment: Payment | None

    @property
    def first_id(self) -> str:
        return self.chain_id or self.id


class SealedSample(msgspec.Struct, frozen=True):
    payment_row: AuditedPayment
    sealed_account: bytes | None


def _bind(name: str, type_: Any = schema.TEXT) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=type_)


def _walk(columns: Sequence[sa.Column[Any]], keys: Sequence[sa.Column[Any]], *where: Any) -> Statement:
    """A page of rows behind the key that the last page ended with."""
    seen = sa.tuple_(*[_bind(f"after_{key.name}", key.type) for key in keys])
    page = sa.select(*columns).where(sa.tuple_(*keys) > seen, *where).order_by(*keys)
    return Statement(page.limit(sa.bindparam("limit")))


# ---- chains ----

_KEY = (schema.payments.c.merchant_id, schema.payments.c.id)
_LINK = (schema.payments.c.merchant_id, schema.payments.c.chain_id, schema.payments.c.position, schema.payments.c.id)
_at = {column.name: place for place, column in enumerate(SHOWN)}
_firsts = _walk(SHOWN, _KEY, schema.payments.c.chain_id.is_(None))
_followers = _walk(SHOWN, _LINK, schema.payments.c.chain_id.is_not(None))
# One statement sees one moment, so a chain that is read by it agrees with itself while others write.
_chain = Statement(
    sa.select(*SHOWN)
    .where(
        schema.payments.c.merchant_id == sa.bindparam("merchant_id"),
        sa.or_(
            schema.payments.c.id == sa.bindparam("first_id"), schema.payments.c.chain_id == sa.bindparam("first_id")
        ),
    )
    .order_by(schema.payments.c.position, schema.payments.c.id)
)


async def walk_chains(db: Database) -> AsyncIterator[list[AuditedPayment]]:
    """Pages of whole chains, in no order within a page; a follower whose first payment is gone is there as well.

    Two walks side by side: a range with two ends was planned on the wrong index as soon as the plan was kept.
    """
    followers = _walk_followers(db)
    follower = await anext(followers, None)
    async for page in _walk_audited_payments(db, _firsts, _KEY, FIRSTS_PAGE):
        last = (page[-1].merchant_id, page[-1].id)
        while follower is not None and (follower.merchant_id, follower.first_id) <= last:
            page.append(follower)
            follower = await anext(followers, None)
        yield page
    orphans: list[AuditedPayment] = []
    while follower is not None:
        if len(orphans) >= PAGE and follower.chain_id != orphans[-1].chain_id:
            yield orphans
            orphans = []
        orphans.append(follower)
        follower = await anext(followers, None)
    if orphans:
        yield orphans


async def _walk_followers(db: Database) -> AsyncIterator[AuditedPayment]:
    async for page in _walk_audited_payments(db, _followers, _LINK, PAGE):
        for payment_row in page:
            yield payment_row


async def _walk_audited_payments(
    db: Database, statement: Statement, keys: Sequence[sa.Column[Any]], limit: int
) -> AsyncIterator[list[AuditedPayment]]:
    seen: Sequence[Any] = [0 if key is schema.payments.c.position else "" for key in keys]
    while True:
        params = {f"after_{key.name}": value for key, value in zip(keys, seen, strict=True)}
        rows = await db.fetch(statement, {**params, "limit": limit})
        if not rows:
            return
        yield [_read_audited_payment(row) for row in rows]
        seen = [rows[-1][_at[key.name]] for key in keys]


async def read_chain(db: Database, merchant_id: MerchantId, first_id: str) -> list[AuditedPayment]:
    """All of one chain at one moment."""
    return [
        _read_audited_payment(row) for row in await db.fetch(_chain, {"merchant_id": merchant_id, "first_id": first_id})
    ]


def _read_audited_payment(row: Row) -> AuditedPayment:
    try:
        payment = read_payment(row)
    except Unreadable:
        payment = None
    return AuditedPayment(row[_at["merchant_id"]], row[_at["id"]], row[_at["chain_id"]], payment)


_sample = Statement(sa.select(*SHOWN, schema.payments.c.sealed_account).order_by(*_KEY).limit(sa.bindparam("limit")))


async def sample_sealed(db: Database, limit: int) -> list[SealedSample]:
    """Those of the first rows that carry a seal, with their sealed accounts."""
    rows = await db.fetch(_sample, {"limit": limit})
    return [SealedSample(_read_audited_payment(row[:-1]), row[-1]) for row in rows if row[_at["mac"]] is not None]


# ---- what belongs to payments ----

_ENTRY, _EVENT = Entry.__struct_fields__, Event.__struct_fields__
_JOB = ("id", "merchant_id", "topic", "subject_id", "due_at", "failures")
_IDEMPOTENCY_KEY = IdempotencyRecord.__struct_fields__


def look_up(members: Sequence[str], table: sa.Table) -> Statement:
    """Rows by the ids of one merchant."""
    columns = [table.c[name] for name in members]
    return Statement(
        sa.select(*columns).where(table.c.merchant_id == sa.bindparam("merchant_id"), is_among_ids(table.c.id))
    )


_entries = look_up(_ENTRY, schema.ledger)
_events = look_up(_EVENT, schema.outbox)
_job_ids = look_up(("id",), schema.jobs)
_audited_payments = look_up([column.name for column in SHOWN], schema.payments)


async def fetch_by_ids(db: Database, statement: Statement, merchant_id: str, ids: Sequence[str]) -> list[Row]:
    """As many statements as it takes; the last one asks for its last id several times."""
    of = {"merchant_id": merchant_id}
    return [row for _, some in spread_ids(ids) for row in await db.fetch(statement, of | some)]


async def find_entries(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[Entry]:
    return [make_row(Entry, _ENTRY, row) for row in await fetch_by_ids(db, _entries, merchant_id, ids)]


async def find_events(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[Event]:
    return [make_row(Event, _EVENT, row) for row in await fetch_by_ids(db, _events, merchant_id, ids)]


async def find_job_ids(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> set[str]:
    return {str(row[0]) for row in await fetch_by_ids(db, _job_ids, merchant_id, ids)}


async def find_audited_payments(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, AuditedPayment]:
    found = [_read_audited_payment(row) for row in await fetch_by_ids(db, _audited_payments, merchant_id, ids)]
    return {payment_row.id: payment_row for payment_row in found}


def make_row(kind: Callable[..., _T], members: Sequence[str], row: Row) -> _T:
    return kind(**dict(zip(members, row, strict=True)))


# ---- what speaks of payments ----

_BY_ID = ("merchant_id", "id")
_BY_IDEMPOTENCY_KEY = ("channel_id", "key", "merchant_id")


def walk_table(table: sa.Table, members: Sequence[str], keys: Sequence[str]) -> Statement:
    return _walk([table.c[name] for name in members], [table.c[name] for name in keys])


_ledger = walk_table(schema.ledger, _ENTRY, _BY_ID)
_outbox = walk_table(schema.outbox, _EVENT, _BY_ID)
_jobs = walk_table(schema.jobs, _JOB, _BY_ID)
_idempotency_records = walk_table(schema.idempotency_records, _IDEMPOTENCY_KEY, _BY_IDEMPOTENCY_KEY)


def walk_ledger(db: Database) -> AsyncIterator[list[Entry]]:
    return walk_pages(db, _ledger, Entry, _ENTRY, _BY_ID)


def walk_events(db: Database) -> AsyncIterator[list[Event]]:
    return walk_pages(db, _outbox, Event, _EVENT, _BY_ID)


def walk_jobs(db: Database) -> AsyncIterator[list[Job]]:
    return walk_pages(db, _jobs, Job, _JOB, _BY_ID)


def walk_idempotency_records(db: Database) -> AsyncIterator[list[IdempotencyRecord]]:
    return walk_pages(db, _idempotency_records, IdempotencyRecord, _IDEMPOTENCY_KEY, _BY_IDEMPOTENCY_KEY)


async def walk_pages(
    db: Database, statement: Statement, kind: Callable[..., _T], members: Sequence[str], keys: Sequence[str]
) -> AsyncIterator[list[_T]]:
    after: dict[str, Any] = {f"after_{key}": "" for key in keys}
    while rows := await db.fetch(statement, after | {"limit": PAGE}):
        yield [make_row(kind, members, row) for row in rows]
        after = {f"after_{key}": rows[-1][members.index(key)] for key in keys}


_counts = {name: Statement(sa.select(sa.func.count()).select_from(table)) for name, table in WALKED.items()}


async def count_rows(db: Database) -> dict[str, int]:
    """How many rows there are to walk, by table."""
    counted = {}
    for name, statement in _counts.items():
        row = await db.fetch_one(statement, {})
        counted[name] = int(row[0]) if row else 0
    return counted
