"""Searches the payments of a merchant by index, and beside it what is not indexed yet, so that a payment is found at
once. Nothing is changed.

A page looks at a bounded number of payments; where that is not enough to fill it, it says so.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.contract.searching import PaymentQuery, Reading, Trait
from tollgate.operations import signing
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Place
from tollgate.store import search_index, searching
from tollgate.store.searching import Candidate, Span
from tollgate.values import MerchantId

Batch = tuple[list[Candidate], Place | None]
"""Candidates in order, and the place at which the next batch begins; None after the last."""
Fetch = Callable[[Place | None, int], Awaitable[Batch]]

_FIRST_BATCH = 64
_FIRST_BATCH_MIN = 8


class FoundPayment(msgspec.Struct, frozen=True):
    place: Place
    channel_id: str
    payment: Payment | None
    """It is None if the row cannot be read."""
    is_trusted: bool
    """It is false if the row is not what was written."""


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    rows: list[FoundPayment]
    """The newest comes first, whichever way was walked."""
    older: Place | None
    """The place at which the next page of older payments begins; None if there is none."""
    newer: Place | None
    is_cut: bool
    """It looked at as many payments as it may, and there may be more that fit."""


class _Stream:
    """The candidates of one index, read in growing batches."""

    def __init__(self, fetch: Fetch, first: int, after: Place | None) -> None:
        self._fetch, self._size, self._after = fetch, first, after
        self._batch: list[Candidate] = []
        self._at = 0
        self._is_over = False

    async def find_next(self) -> Candidate | None:
        while self._at == len(self._batch):
            if self._is_over:
                return None
            self._batch, following = await self._fetch(self._after, self._size)
            self._at, self._is_over, self._after = 0, following is None, following
            self._size = min(2 * self._size, LIMITS.search_batch)
        self._at += 1
        return self._batch[self._at - 1]


async def search_page(
    app: App, merchant_id: MerchantId, query: PaymentQuery, after: Place | None, *, is_newest_first: bool = True
) -> SearchPage:
    """Finds a page of payments behind a place: older ones, or newer ones."""
    rows: list[FoundPayment] = []
    looked_at, is_cut, has_more, last = 0, False, False, after
    async with aclosing(_walk(app, merchant_id, query, after, is_newest_first=is_newest_first)) as candidates:
        async for candidate in candidates:
            fits = candidate.payment is None or query.fits(candidate.payment)
            if fits and len(rows) == LIMITS.office_page:
                has_more = True
                break
            if looked_at == LIMITS.search_candidates_max:
                is_cut = has_more = True
                break
            looked_at, last = looked_at + 1, candidate.place
            if fits:
                rows.append(_make_found(app, candidate))
    if not is_newest_first:
        rows.reverse()
    following = last if is_cut or not rows else rows[-1 if is_newest_first else 0].place
    behind = rows[0 if is_newest_first else -1].place if rows else after
    onward, back = following if has_more else None, behind if after is not None else None
    older, newer = (onward, back) if is_newest_first else (back, onward)
    return SearchPage(rows=rows, older=older, newer=newer, is_cut=is_cut)


async def search_all(app: App, merchant_id: MerchantId, query: PaymentQuery) -> AsyncGenerator[FoundPayment, None]:
    """Yields everything that fits, newest first; memory holds a batch of each index."""
    async with aclosing(_walk(app, merchant_id, query, None, is_newest_first=True)) as candidates:
        async for candidate in candidates:
            if candidate.payment is None or query.fits(candidate.payment):
                yield _make_found(app, candidate)


def _make_found(app: App, candidate: Candidate) -> FoundPayment:
    is_trusted = candidate.payment is not None and signing.is_trusted(app, candidate.payment)
    return FoundPayment(candidate.place, candidate.channel_id, candidate.payment, is_trusted)


async def _walk(
    app: App, merchant_id: MerchantId, query: PaymentQuery, after: Place | None, *, is_newest_first: bool
) -> AsyncGenerator[Candidate, None]:
    """Yields the candidates of all indexes in order, each once, and none of a channel that is not asked for."""
    streams = await _open_streams(app, merchant_id, query, after, is_newest_first=is_newest_first)
    heads = {stream: head for stream in streams if (head := await stream.find_next()) is not None}
    choose = max if is_newest_first else min
    last = None
    while heads:
        stream = choose(heads, key=lambda each: (heads[each].place.at, heads[each].place.id))
        candidate = heads.pop(stream)
        if candidate.place != last and candidate.channel_id in query.channel_ids:
            yield candidate
        last = candidate.place
        following = await stream.find_next()
        if following is not None:
            heads[stream] = following


async def _open_streams(
    app: App, merchant_id: MerchantId, query: PaymentQuery, after: Place | None, *, is_newest_first: bool
) -> list[_Stream]:
    driver = query.choose_driver()
    span = Span(begins_at=query.begins_at, ends_at=query.ends_at, is_newest_first=is_newest_first)
    opened: list[Fetch] = []
    if driver is None:
        opened += [partial(_fetch_by_time, app, merchant_id, channel_id, span) for channel_id in query.channel_ids]
    else:
        for reading in driver.readings:
            opened += _open_reading(app, merchant_id, query, reading, span)
        if any(reading.term is not None for reading in driver.readings):
            opened += await _open_tail(app, merchant_id, query, span)
    first = max(_FIRST_BATCH_MIN, _FIRST_BATCH // max(len(opened), 1))
    return [_Stream(fetch, first, after) for fetch in opened]


def _open_reading(app: App, merchant_id: MerchantId, query: PaymentQuery, reading: Reading, span: Span) -> list[Fetch]:
    if reading.trait is Trait.ID:
        return [partial(_fetch_by_id, app, merchant_id, reading.text, span)]
    if reading.trait is Trait.REFERENCE:
        fetch = partial(_fetch_by_reference, app, merchant_id, reading.text)
        return [partial(fetch, channel_id, span) for channel_id in query.channel_ids]
    return [partial(_fetch_by_term, app, merchant_id, reading.term or "", span)]


async def _open_tail(app: App, merchant_id: MerchantId, query: PaymentQuery, span: Span) -> list[Fetch]:
    """Opens what is not indexed yet: payments since the cursor, older ones that changed since, and those in flight.

    The cursor is read before the terms, so what is indexed meanwhile is seen twice and not never.
    """
    cursor = await search_index.get_cursor(app.database, merchant_id)
    since = search_index.get_cursor_time(cursor)
    tail = msgspec.structs.replace(span, begins_at=max(span.begins_at, since))
    changed = await searching.list_changed(app.database, merchant_id, cursor, since, LIMITS.changed_max)
    by_time = [partial(_fetch_by_time, app, merchant_id, channel_id, tail) for channel_id in query.channel_ids]
    return [*by_time, partial(_fetch_listed, changed, span)]


def _begin(span: Span, after: Place | None) -> Span:
    return msgspec.structs.replace(span, after=after)


async def _fetch_by_time(
    app: App, merchant_id: MerchantId, channel_id: str, span: Span, after: Place | None, limit: int
) -> Batch:
    found = await searching.list_by_time(app.database, merchant_id, channel_id, _begin(span, after), limit)
    return found, found[-1].place if len(found) == limit else None


async def _fetch_by_reference(
    app: App, merchant_id: MerchantId, reference: str, channel_id: str, span: Span, after: Place | None, limit: int
) -> Batch:
    begun = _begin(span, after)
    found = await searching.list_by_reference(app.database, merchant_id, channel_id, reference, begun, limit)
    return found, found[-1].place if len(found) == limit else None


async def _fetch_by_term(
    app: App, merchant_id: MerchantId, term: str, span: Span, after: Place | None, limit: int
) -> Batch:
    return await searching.list_by_term(app.database, merchant_id, term, _begin(span, after), limit)


async def _fetch_by_id(
    app: App, merchant_id: MerchantId, payment_id: str, span: Span, after: Place | None, _limit: int
) -> Batch:
    found = await search_index.load_payments(app.database, merchant_id, [payment_id])
    listed = [_make_candidate(payment) for payment in found.values() if payment is not None]
    return await _fetch_listed(listed, span, after, len(listed))


async def _fetch_listed(listed: list[Candidate], span: Span, after: Place | None, _limit: int) -> Batch:
    """Sorts what is in memory already, and leaves out what is not behind the place."""
    start = None if after is None else (after.at, after.id)

    def is_behind(candidate: Candidate) -> bool:
        place = candidate.place.at, candidate.place.id
        return start is None or (place < start if span.is_newest_first else place > start)

    behind = filter(is_behind, listed)
    return sorted(behind, key=lambda each: (each.place.at, each.place.id), reverse=span.is_newest_first), None


def _make_candidate(payment: Payment) -> Candidate:
    return Candidate(Place(payment.created_at, payment.id), payment.channel_id, payment)
