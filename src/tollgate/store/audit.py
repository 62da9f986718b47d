"""Reads the whole store in the order of its keys, a page at a time, with what belongs to a page. Nothing is written.

A row is returned as it is found, even where it cannot be decoded any more; what is wrong with it is decided elsewhere.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa

from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment
from tollgate.payments.registration import Registration, RegistrationEvent
from tollgate.payments.schedule import Run
from tollgate.payments.users import AuditEntry
from tollgate.store import authentications, bank_files, checkouts, instructions, links, registrations, schedules, schema
from tollgate.store.archives import list_places
from tollgate.store.audit_log import ENTRIES as AUDIT_ENTRIES
from tollgate.store.codec import BY_ID, LIMIT, ONE, UNREADABLE, ZERO, Codec, T, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.store.hot import Row
from tollgate.store.idempotency import IdempotencyRecord
from tollgate.store.jobs import Job
from tollgate.store.payments import PAYMENTS as PAYMENT_ROWS
from tollgate.store.payments import select_chain
from tollgate.store.reviews import REVIEWS as REVIEW_ROWS
from tollgate.store.statements import Statement
from tollgate.store.webhooks import WEBHOOKS as WEBHOOK_ROWS
from tollgate.values import Instant, MerchantId

A = TypeVar("A")
S = TypeVar("S", bound=msgspec.Struct)

PAGE = 500
FIRSTS_PAGE = 200
"""Chains of a page; those have followers besides."""


class AuditedTable(Generic[A]):
    """A table that is walked in the order of its key, and whose rows are read again by their ids."""

    def __init__(
        self,
        columns: Sequence[sa.Column[Any]],
        read: Callable[[Row], A],
        key: Sequence[str] = BY_ID,
        *where: sa.ColumnElement[bool],
        rows_max: int = PAGE,
    ) -> None:
        self._columns, self._read, self._rows_max = columns, read, rows_max
        self.where = where
        self.table: sa.Table = columns[0].table
        names = [column.name for column in columns]
        keys = [self.table.c[name] for name in key]
        self._key_at = {f"after_{name}": names.index(name) for name in key}
        self._start = {f"after_{column.name}": column.type.python_type() for column in keys}
        last = sa.tuple_(*[bind("after", column) for column in keys])
        self.page = Statement(sa.select(*columns).where(sa.tuple_(*keys) > last, *where).order_by(*keys).limit(LIMIT))

    @cached_property
    def by_ids(self) -> Statement:
        return self._select_by_ids(*self._columns)

    @cached_property
    def ids(self) -> Statement:
        return self._select_by_ids(self.table.c.id)

    def _select_by_ids(self, *columns: sa.ColumnElement[Any]) -> Statement:
        is_of_merchant = self.table.c.merchant_id == sa.bindparam("merchant_id")
        return Statement(sa.select(*columns).where(is_of_merchant, is_among_ids(self.table.c.id)))

    async def walk(self, db: Database) -> AsyncIterator[list[A]]:
        after = self._start
        while rows := await db.fetch(self.page, after | {"limit": self._rows_max}):
            yield [self._read(row) for row in rows]
            after = {name: rows[-1][place] for name, place in self._key_at.items()}

    async def list_by_ids(self, db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[A]:
        return [self._read(row) for row in await fetch_by_ids(db, self.by_ids, merchant_id, ids)]

    async def list_ids(self, db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> set[str]:
        """Lists those of the ids that exist."""
        return {str(row[0]) for row in await fetch_by_ids(db, self.ids, merchant_id, ids)}


async def fetch_by_ids(db: Database, statement: Statement, merchant_id: str, ids: Sequence[str]) -> list[Row]:
    of = {"merchant_id": merchant_id}
    return [row for _, some in spread_ids(ids) for row in await db.fetch(statement, of | some)]


# ---- rows ----


class AuditedRow(msgspec.Struct, Generic[T], frozen=True):
    """A row as it was found. One without a value is there and cannot be decoded."""

    merchant_id: MerchantId
    id: str
    value: T | None


class AuditedPayment(msgspec.Struct, frozen=True):
    """A row of payments. One without a payment is there and cannot be decoded, or was archived."""

    merchant_id: MerchantId
    id: str
    chain_id: str | None
    payment: Payment | None

    @property
    def first_id(self) -> str:
        return self.chain_id or self.id


class AuditedRegistration(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str
    sealed_account: bytes | None
    sealed_token: bytes | None
    value: Registration | None


class AuditedRun(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    schedule_id: str
    due_at: Instant
    value: Run | None


class AuditedEntry(msgspec.Struct, frozen=True):
    """An entry of the audit log."""

    merchant_id: str
    number: int
    hash: bytes
    value: AuditEntry | None


class AuditedAnnouncement(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    id: str


class AuditedDelivery(msgspec.Struct, frozen=True):
    merchant_id: MerchantId
    webhook_id: str
    subject_id: str
    event_id: str

    @property
    def id(self) -> str:
        return f"{self.webhook_id or 'notification'}/{self.event_id}"


def _make_reader(codec: Codec[Any], struct: type[S], *more: sa.Column[Any]) -> Callable[[Row], S]:
    """Makes a function that reads a struct of columns as they are found, whose last member is the decoded row."""
    names = (*codec.names, *[column.name for column in more])
    places = [names.index(name) for name in struct.__struct_fields__[:-1]]

    def read(row: Row) -> S:
        try:
            value = codec.decode(row)
        except UNREADABLE:
            value = None
        return struct(*[row[place] for place in places], value)

    return read


def _audit_decoded(codec: Codec[T]) -> AuditedTable[AuditedRow[T]]:
    return AuditedTable(codec.columns, _make_reader(codec, AuditedRow))


def _audit_raw(
    table: sa.Table, struct: type[S], key: Sequence[str] = BY_ID, where: sa.ColumnElement[bool] | None = None
) -> AuditedTable[S]:
    names = struct.__struct_fields__
    columns, conditions = [table.c[name] for name in names], [] if where is None else [where]
    return AuditedTable(columns, lambda row: struct(**dict(zip(names, row, strict=True))), key, *conditions)


_read_payment_row = _make_reader(PAYMENT_ROWS, AuditedPayment)
_sealed = (schema.registrations.c.sealed_account, schema.registrations.c.sealed_token)


class AuditedPayments(AuditedTable[AuditedPayment]):
    """The payments, with those that were archived: what refers to one refers to something that exists."""

    async def list_by_ids(self, db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> list[AuditedPayment]:
        found = await super().list_by_ids(db, merchant_id, ids)
        missing = sorted({*ids} - {row.id for row in found})
        return found + [
            AuditedPayment(merchant_id, place.id, None, None) for place in await list_places(db, merchant_id, missing)
        ]


PAYMENTS = AuditedPayments(PAYMENT_ROWS.columns, _read_payment_row)
ENTRIES = _audit_raw(schema.ledger, Entry)
EVENTS = _audit_raw(schema.outbox, Event)
JOBS = _audit_raw(schema.jobs, Job)
IDEMPOTENCY_RECORDS = _audit_raw(schema.idempotency_keys, IdempotencyRecord, key=["merchant_id", "channel_id", "key"])
AUTHENTICATIONS = _audit_decoded(authentications.AUTHENTICATIONS)
INSTRUCTIONS = _audit_decoded(instructions.INSTRUCTIONS)
REVIEWS = _audit_decoded(REVIEW_ROWS)
FILES = _audit_decoded(bank_files.BANK_FILES)
REGISTRATIONS = AuditedTable(
    (*registrations.REGISTRATIONS.columns, *_sealed),
    _make_reader(registrations.REGISTRATIONS, AuditedRegistration, *_sealed),
)
SCHEDULES = _audit_decoded(schedules.SCHEDULES)
RUNS = AuditedTable(schedules.RUNS.columns, _make_reader(schedules.RUNS, AuditedRun), key=schedules.RUNS.key)
CHECKOUTS = _audit_decoded(checkouts.CHECKOUTS)
LINKS = _audit_decoded(links.LINKS)
WEBHOOKS = _audit_decoded(WEBHOOK_ROWS)
AUDIT_LOG = AuditedTable(AUDIT_ENTRIES.columns, _make_reader(AUDIT_ENTRIES, AuditedEntry), key=AUDIT_ENTRIES.key)
# Those that are over refer to nothing that is still needed.
ANNOUNCEMENTS = _audit_raw(schema.announcements, AuditedAnnouncement, where=schema.announcements.c.is_pending == ONE)
DELIVERIES = _audit_raw(
    schema.deliveries,
    AuditedDelivery,
    AuditedDelivery.__struct_fields__,
    where=schema.deliveries.c.state == ZERO,
)


# ---- chains ----

_is_first = schema.payments.c.chain_id.is_(None)
_FIRSTS = AuditedTable(PAYMENT_ROWS.columns, _read_payment_row, BY_ID, _is_first, rows_max=FIRSTS_PAGE)
_FOLLOWERS = AuditedTable(
    PAYMENT_ROWS.columns, _read_payment_row, ["merchant_id", "chain_id", "position", "id"], ~_is_first
)
# One statement sees one moment, so a chain that is read by it agrees with itself while others write.
# Nor does it rely on the months of payments, which may have been tampered with.
_of_merchant = schema.payments.c.merchant_id == sa.bindparam("merchant_id")
_chain = Statement(
    select_chain(
        *[
            sa.and_(_of_merchant, column == sa.bindparam("first_id"))
            for column in (schema.payments.c.id, schema.payments.c.chain_id)
        ]
    )
)


async def walk_chains(db: Database) -> AsyncIterator[list[AuditedPayment]]:
    """Yields pages of whole chains, in no order within a page, with followers whose first payment is gone.

    Two walks side by side: a range with two ends was planned on the wrong index as soon as the plan was kept.
    """
    followers = (row async for page in _FOLLOWERS.walk(db) for row in page)
    follower = await anext(followers, None)
    async for page in _FIRSTS.walk(db):
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


async def read_chain(db: Database, merchant_id: MerchantId, first_id: str) -> list[AuditedPayment]:
    """Reads all of one chain at one moment."""
    rows = await db.fetch(_chain, {"merchant_id": merchant_id, "first_id": first_id})
    return [_read_payment_row(row) for row in rows]


# ---- special reads ----


class SealedSample(msgspec.Struct, frozen=True):
    payment_row: AuditedPayment
    sealed_account: bytes | None


class FiledGroup(msgspec.Struct, frozen=True):
    """Instructions that name the same file and are alike; a file that is right has one such group."""

    file_id: str
    state: int
    channel_id: str
    direction: str
    due_on: str
    sequence: str
    currency: str
    entries: int
    total: int


_sample = Statement(
    sa.select(*PAYMENT_ROWS.columns, schema.payments.c.sealed_account)
    .order_by(schema.payments.c.merchant_id, schema.payments.c.id)
    .limit(LIMIT)
)
_alike = [schema.instructions.c[name] for name in FiledGroup.__struct_fields__[:-2]]
_groups = Statement(
    sa.select(*_alike, sa.func.count(), sa.cast(sa.func.sum(schema.instructions.c.amount), sa.BigInteger()))
    .where(
        schema.instructions.c.merchant_id == sa.bindparam("merchant_id"), is_among_ids(schema.instructions.c.file_id)
    )
    .group_by(*_alike)
)
# By time from when it was stored, because no index knows what an event is about; asked for very few.
_announced = Statement(
    sa.select(schema.outbox.c.id)
    .where(
        schema.outbox.c.merchant_id == sa.bindparam("merchant_id"),
        schema.outbox.c.id >= sa.bindparam("since"),
        schema.outbox.c.subject_id == sa.bindparam("id"),
        schema.outbox.c.topic == sa.literal_column(f"'{RegistrationEvent.CREATED}'"),
    )
    .limit(ONE)
)
_walked = (PAYMENTS, ENTRIES, EVENTS, JOBS, IDEMPOTENCY_RECORDS, AUTHENTICATIONS, INSTRUCTIONS, FILES, REVIEWS)
_counts = {
    each.table.name: Statement(sa.select(sa.func.count()).select_from(each.table).where(*each.where))
    for each in (
        *_walked,
        REGISTRATIONS,
        SCHEDULES,
        RUNS,
        CHECKOUTS,
        LINKS,
        ANNOUNCEMENTS,
        DELIVERIES,
        WEBHOOKS,
        AUDIT_LOG,
    )
}


async def sample_sealed(db: Database, limit: int) -> list[SealedSample]:
    """Returns those of the first payments that are signed, with their sealed accounts."""
    rows = await db.fetch(_sample, {"limit": limit})
    return [
        SealedSample(_read_payment_row(row[:-1]), row[-1]) for row in rows if row[PAYMENT_ROWS.at["mac"]] is not None
    ]


async def list_filed_groups(db: Database, merchant_id: MerchantId, file_ids: Sequence[str]) -> list[FiledGroup]:
    """Lists what names these files, counted by the database: a file may have ten thousand entries."""
    return [FiledGroup(*row) for row in await fetch_by_ids(db, _groups, merchant_id, file_ids)]


async def is_announced(db: Database, registration: Registration) -> bool:
    """Tells whether any event announces the registration."""
    since = f"{registration.created_at:016x}"
    params = {"merchant_id": registration.merchant_id, "id": registration.id, "since": since}
    return await db.fetch_one(_announced, params) is not None


async def count_rows(db: Database) -> dict[str, int]:
    """Counts the rows that will be walked, by table."""
    counted = {}
    for name, statement in _counts.items():
        row = await db.fetch_one(statement, {})
        counted[name] = int(row[0]) if row else 0
    return counted
