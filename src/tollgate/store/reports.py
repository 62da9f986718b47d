"""Reports are read here: pages of payments, whole chains, what was earned. Nothing is written.

Lists are sorted by time and then by id, and a page begins after a place in that order: by index, so a late page costs
what the first one costs. Only a numbered page skips rows, and their number is bounded by who asks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from tollgate.catalog.payment_types import PAYMENT_TYPES, Reconciliation
from tollgate.payments.ledger import Entry, LedgerAccount
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Listed, Period, Place, ReportEntry, Search, SellerSums, Tally
from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.payment_months import JoinedPayments, OnPostgres, are_payments
from tollgate.store.payments import ENTRIES, PAYMENTS, read_if_sound
from tollgate.store.schema import TEXT, WHOLE, ledger, payments
from tollgate.store.statements import Statement
from tollgate.values import DAY, Instant, MerchantId

_SHAPES_KEPT = 512
"""Statements differ by which filters they have; texts for so many combinations are remembered."""


Filters = Mapping[str, sa.Column[Any]]
"""The columns that the members of a query narrow."""
Shape = tuple[tuple[str, int], ...]
"""The members of a query that are set, each with its number of values."""

_SEARCHED: Filters = {
    "reference": payments.c.merchant_transaction_id,
    "lifecycle_id": payments.c.lifecycle_id,
    "short_id": payments.c.short_id,
    "payment_types": payments.c.payment_type,
    "methods": payments.c.method,
}
_REPORTED: Filters = {
    "currency": ledger.c.currency,
    "test_mode": payments.c.test_mode,
    "payment_types": payments.c.payment_type,
    "channel_ids": ledger.c.channel_id,
}


def _list_values(query: Search | Period, filters: Filters) -> dict[str, tuple[Any, ...]]:
    values = {name: getattr(query, name) for name in filters}
    return {name: each if isinstance(each, tuple) else (each,) for name, each in values.items() if each is not None}


def _count_values(values: Mapping[str, Sequence[Any]]) -> Shape:
    return tuple((name, len(each)) for name, each in values.items())


def _number_values(values: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {f"{name}_{n}": value for name, each in values.items() for n, value in enumerate(each)}


def _among(column: sa.ColumnElement[Any], name: str, count: int) -> sa.ColumnElement[bool]:
    if not count:
        return sa.false()
    numbered = [sa.bindparam(f"{name}_{n}", type_=column.type) for n in range(count)]
    return column.in_(numbered) if count > 1 else column == numbered[0]


def _count_at_most(query: sa.Select[Any]) -> Statement:
    """Stops counting at a bound, so that counting a long list costs no more than reading its first pages."""
    bounded: sa.Select[Any] = query.with_only_columns(sa.literal_column("1")).order_by(None).limit(sa.bindparam("most"))
    return Statement(sa.select(sa.func.count()).select_from(bounded.subquery()))


async def _fetch_count(db: Database, statement: Statement, params: Mapping[str, Any]) -> int:
    row = await db.fetch_one(statement, params)
    if row is None:
        raise LookupError("a count without a row")
    count: int = row[0]
    return count


# ---- payments of a channel ----


def _search(shape: Shape) -> sa.Select[Any]:
    # One lower bound in all cases: given two, a planner may start at the lower one and walk to the other.
    after_at = sa.bindparam("after_at", type_=WHOLE)
    after = sa.tuple_(payments.c.created_at, payments.c.id) > sa.tuple_(after_at, sa.bindparam("after_id", type_=TEXT))
    return PAYMENTS.select(
        payments.c.merchant_id == sa.bindparam("merchant_id"),
        payments.c.channel_id == sa.bindparam("channel_id"),
        after,
        OnPostgres(payments.c.created_at >= after_at),
        payments.c.created_at < sa.bindparam("ends_at"),
        *[_among(_SEARCHED[name], name, count) for name, count in shape],
    ).order_by(payments.c.created_at, payments.c.id)


@lru_cache(_SHAPES_KEPT)
def make_search(shape: Shape) -> Statement:
    return Statement(_search(shape).limit(sa.bindparam("limit")).offset(sa.bindparam("skipped")))


@lru_cache(_SHAPES_KEPT)
def make_search_count(shape: Shape) -> Statement:
    return _count_at_most(_search(shape))


def _list_searched(search: Search) -> dict[str, tuple[Any, ...]]:
    return {name: each for name, each in _list_values(search, _SEARCHED).items() if each}


def shape_search(search: Search) -> Shape:
    return _count_values(_list_searched(search))


def bind_search(channel: Channel, search: Search, after: Place | None, channel_id: str | None = None) -> dict[str, Any]:
    return {
        "merchant_id": channel.merchant_id,
        "channel_id": channel_id or channel.id,
        # No id is empty, so the first instant is within.
        "after_at": search.begins_at if after is None else after.at,
        "after_id": "" if after is None else after.id,
        "ends_at": search.ends_at,
        **_number_values(_list_searched(search)),
    }


async def search_payments(
    db: Database, channel: Channel, search: Search, after: Place | None, *, limit: int, skipped: int
) -> list[Listed[Payment]]:
    """Lists a page of payments, oldest first. Several channels are read each by its index, and merged."""
    is_wide = search.channel_ids is not None
    paging = {"limit": limit + skipped, "skipped": 0} if is_wide else {"limit": limit, "skipped": skipped}
    rows: list[Row] = []
    for channel_id in search.channel_ids or (channel.id,):
        params = bind_search(channel, search, after, channel_id) | paging
        rows += await db.fetch(make_search(shape_search(search)), params)
    created_at, id_at = PAYMENTS.at["created_at"], PAYMENTS.at["id"]
    if is_wide:
        rows = sorted(rows, key=lambda row: (row[created_at], row[id_at]))[skipped : skipped + limit]
    return [Listed(Place(row[created_at], row[id_at]), read_if_sound(row)) for row in rows]


async def count_payments(db: Database, channel: Channel, search: Search, most: int) -> int:
    """Never counts further than `most`."""
    counting, total = make_search_count(shape_search(search)), 0
    for channel_id in search.channel_ids or (channel.id,):
        total += await _fetch_count(db, counting, bind_search(channel, search, None, channel_id) | {"most": most})
    return min(total, most)


# ---- chains ----

_TIERS = (1, 8, 64, 512)
"""A statement has room for so many chains: a few texts instead of one for every number."""


@lru_cache(len(_TIERS))
def make_chains(room: int) -> Statement:
    """Selects in two halves: each has an index of its own, and a planner that sees an `OR` may use neither."""
    of_merchant: Any = sa.bindparam("merchant_id")
    choose = partial(_among, name="first", count=room)
    halves = [PAYMENTS.select(are_payments(payments, of_merchant, name, choose)) for name in ("id", "chain_id")]
    return Statement(sa.union_all(*halves).limit(sa.bindparam("limit")))


async def list_chains(
    db: Database, merchant_id: MerchantId, first_ids: Sequence[str], limit: int
) -> dict[str, list[Payment]]:
    """Lists whole chains by the id of their first payment, each in order, with one statement.

    What cannot be read is logged and left out.
    """
    room = next(tier for tier in _TIERS if tier >= len(first_ids))
    padded = {"first": [*first_ids, *[""] * (room - len(first_ids))]}
    params = {"merchant_id": merchant_id, "limit": limit, **_number_values(padded)}
    found = [read_if_sound(row) for row in await db.fetch(make_chains(room), params)]
    chains: dict[str, list[Payment]] = {first_id: [] for first_id in first_ids}
    for payment in sorted(filter(None, found), key=lambda payment: payment.position):
        chains[payment.first_id].append(payment)
    return chains


# ---- what was earned ----


class _PeriodShape(NamedTuple):
    filters: Shape
    is_newest_first: bool


def _report_entries(shape: _PeriodShape, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Selects entries; their ids begin with the instant, so both bounds and the order are those of the primary key."""
    conditions = [
        ledger.c.merchant_id == sa.bindparam("merchant_id"),
        ledger.c.id > sa.bindparam("after_id"),
        ledger.c.id < sa.bindparam("before_id"),
        *_limit_channel(shape.filters),
        sa.or_(ledger.c.source == sa.bindparam("earned"), ledger.c.target == sa.bindparam("earned")),
        # What is passed on to sellers was earned before.
        ledger.c.seller_id.is_(None),
    ]
    return _select_reported(shape.filters, conditions, *columns)


def _limit_channel(filters: Shape) -> list[sa.ColumnElement[bool]]:
    """Limits entries to the channel that asks, unless the channels are among the filters."""
    return [] if "channel_ids" in dict(filters) else [ledger.c.channel_id == sa.bindparam("channel_id")]


def _select_reported(
    filters: Shape, conditions: Sequence[sa.ColumnElement[bool]], *columns: sa.ColumnElement[Any]
) -> sa.Select[Any]:
    """Selects entries together with the payments that posted them."""
    joined = JoinedPayments(ledger, payments, ledger.c.merchant_id, ledger.c.payment_id)
    narrowed = [_among(_REPORTED[name], name, count) for name, count in filters]
    return sa.select(*columns).select_from(joined).where(*conditions, *narrowed)


# A sum has no row whose MAC could be checked, so an entry counts only where its payment says the same.
_same = (
    ledger.c.currency == payments.c.currency,
    ledger.c.channel_id == payments.c.channel_id,
    ledger.c.posted_at == payments.c.completed_at,
)
_agrees = sa.and_(ledger.c.amount == payments.c.amount, *_same)


@lru_cache(_SHAPES_KEPT)
def make_report_entries(shape: _PeriodShape) -> Statement:
    page = _report_entries(shape, *ENTRIES.columns, *PAYMENTS.columns)
    page = page.order_by(ledger.c.id.desc() if shape.is_newest_first else ledger.c.id)
    return Statement(page.limit(sa.bindparam("limit")).offset(sa.bindparam("skipped")))


@lru_cache(_SHAPES_KEPT)
def make_report_entries_count(shape: _PeriodShape) -> Statement:
    return _count_at_most(_report_entries(shape, ledger.c.id))


@lru_cache(_SHAPES_KEPT)
def make_tallies(shape: _PeriodShape) -> Statement:
    day: sa.ColumnElement[int] = ledger.c.posted_at.op("/")(sa.literal_column(str(DAY)))
    group = (day, ledger.c.currency, payments.c.payment_type, ledger.c.target)
    sums = (sa.func.count(), sa.func.sum(ledger.c.amount))
    return Statement(_report_entries(shape, *group, *sums).where(_agrees).group_by(*group).order_by(*group))


def shape_period(period: Period) -> _PeriodShape:
    return _PeriodShape(_count_values(_list_values(period, _REPORTED)), period.is_newest_first)


def bind_period(channel: Channel, period: Period, after: Place | None) -> dict[str, Any]:
    first, last = _begin_id(period.begins_at), _begin_id(period.ends_at)
    if after is not None and period.is_newest_first:
        last = after.id
    elif after is not None:
        first = after.id
    return {
        "merchant_id": channel.merchant_id,
        **({"channel_id": channel.id} if period.channel_ids is None else {}),
        "after_id": first,
        "before_id": last,
        "earned": LedgerAccount.EARNED,
        **_number_values(_list_values(period, _REPORTED)),
    }


def _begin_id(at: Instant) -> str:
    """Returns what sorts before every entry of that instant; a negative number would sort oddly."""
    return f"{max(at, 0):016x}"


async def list_report_entries(
    db: Database, channel: Channel, period: Period, after: Place | None, *, limit: int, skipped: int
) -> list[Listed[ReportEntry]]:
    params = bind_period(channel, period, after) | {"limit": limit, "skipped": skipped}
    rows = await db.fetch(make_report_entries(shape_period(period)), params)
    # In a thread, because a whole day may be asked for at once.
    return await asyncio.to_thread(lambda: [_read_report_entry(row) for row in rows])


def _read_report_entry(row: Row) -> Listed[ReportEntry]:
    # As it was found: whoever lists it compares it with its payment.
    entry = Entry(**dict(zip(ENTRIES.names, row, strict=False)))
    payment = read_if_sound(row[len(ENTRIES.names) :])
    return Listed(Place(entry.posted_at, entry.id), None if payment is None else ReportEntry(entry, payment))


async def count_report_entries(db: Database, channel: Channel, period: Period, most: int) -> int:
    """Never counts further than `most`."""
    params = bind_period(channel, period, None) | {"most": most}
    return await _fetch_count(db, make_report_entries_count(shape_period(period)), params)


async def sum_report_entries(db: Database, channel: Channel, period: Period) -> list[Tally]:
    """Sums entries by day, currency, payment type and direction."""
    rows = await db.fetch(make_tallies(shape_period(period)), bind_period(channel, period, None))
    return [
        # PostgreSQL sums into a wider type of its own.
        Tally(
            day=day,
            currency=currency,
            payment_type=payment_type,
            target=LedgerAccount(target),
            count=count,
            amount=int(amount),
        )
        for day, currency, payment_type, target, count, amount in rows
    ]


# ---- what sellers have of it ----

_CURRENCY_LENGTH = 3
_is_gain = ledger.c.target == sa.literal_column(f"'{LedgerAccount.SELLER}'")


def _sum_of(part: Reconciliation, value: sa.ColumnElement[int], *where: sa.ColumnElement[bool]) -> Any:
    """Sums the entries of one part of the report."""
    names = ", ".join(f"'{code}'" for code, row in PAYMENT_TYPES.items() if row.reconciliation is part)
    condition = sa.and_(sa.text(f"payments.payment_type IN ({names})"), *where)
    return sa.func.sum(sa.case((condition, value), else_=sa.literal_column("0")))


_gain = sa.case((_is_gain, ledger.c.amount), else_=-ledger.c.amount)
_SELLER_SUMS = (
    sa.func.count(),
    _sum_of(Reconciliation.SETTLED, ledger.c.amount, _is_gain),
    _sum_of(Reconciliation.SETTLED, ledger.c.amount, ~_is_gain),
    _sum_of(Reconciliation.CHARGEBACK, -_gain),
    _sum_of(Reconciliation.CHARGEBACK_REVERSAL, _gain),
)


def _sum_sellers(filters: Shape) -> sa.Select[Any]:
    """Sums by currency and seller. A share is at most the amount; whether it is the right one is for the audit."""
    after = sa.tuple_(ledger.c.currency, ledger.c.seller_id) > sa.tuple_(
        sa.bindparam("after_currency", type_=TEXT), sa.bindparam("after_seller", type_=TEXT)
    )
    conditions = [
        ledger.c.merchant_id == sa.bindparam("merchant_id"),
        *_limit_channel(filters),
        ledger.c.id > sa.bindparam("after_id"),
        ledger.c.id < sa.bindparam("before_id"),
        ledger.c.seller_id.is_not(None),
        after,
        ledger.c.amount <= payments.c.amount,
        *_same,
    ]
    group = (ledger.c.currency, ledger.c.seller_id)
    return _select_reported(filters, conditions, *group, *_SELLER_SUMS).group_by(*group).order_by(*group)


@lru_cache(_SHAPES_KEPT)
def make_seller_sums(filters: Shape) -> Statement:
    return Statement(_sum_sellers(filters).limit(sa.bindparam("limit")).offset(sa.bindparam("skipped")))


@lru_cache(_SHAPES_KEPT)
def make_seller_count(filters: Shape) -> Statement:
    return _count_at_most(_sum_sellers(filters))


def _bind_sellers(channel: Channel, period: Period, after: Place | None) -> dict[str, Any]:
    bound = bind_period(channel, period, None)
    del bound["earned"]
    place = "" if after is None else after.id
    return bound | {"after_currency": place[:_CURRENCY_LENGTH], "after_seller": place[_CURRENCY_LENGTH:]}


async def list_seller_sums(
    db: Database, channel: Channel, period: Period, after: Place | None, *, limit: int, skipped: int
) -> list[Listed[SellerSums]]:
    """Lists a page of sellers by currency and id; a place is both in one text."""
    params = _bind_sellers(channel, period, after) | {"limit": limit, "skipped": skipped}
    found = []
    for currency, seller_id, *numbers in await db.fetch(make_seller_sums(shape_period(period).filters), params):
        count, gross, refunded, charged_back, charge_back_reversed = map(int, numbers)
        sums = SellerSums(
            currency=currency,
            seller_id=seller_id,
            count=count,
            gross=gross,
            refunded=refunded,
            charged_back=charged_back,
            charge_back_reversed=charge_back_reversed,
        )
        found.append(Listed(Place(0, currency + seller_id), sums))
    return found


async def count_sellers(db: Database, channel: Channel, period: Period, most: int) -> int:
    """Never counts further than `most`."""
    params = _bind_sellers(channel, period, None) | {"most": most}
    return await _fetch_count(db, make_seller_count(shape_period(period).filters), params)
