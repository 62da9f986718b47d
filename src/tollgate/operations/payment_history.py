"""The stored payments of channels in the order in which they were made, read page by page.

What is done with them is decided by the caller; nothing is written.
"""

import heapq
from collections.abc import AsyncIterator, Iterable

from tollgate.catalog.limits import LIMITS
from tollgate.operations import signing
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Place, Search
from tollgate.store import reports
from tollgate.values import Instant


async def read_payments(
    app: App, channels: Iterable[Channel], begins_at: Instant, ends_at: Instant
) -> AsyncIterator[list[Payment]]:
    """Yields the payments of channels by their time, a page at a time; a tampered or unreadable one is left out.

    Each channel has an index by time, so a page of each is held in memory, and no statement sorts.
    """
    wanted = Search(begins_at=begins_at, ends_at=ends_at)
    streams = [_read_channel(app, channel, wanted) for channel in channels]
    heads: list[tuple[Instant, str, int, Payment]] = []

    async def advance(number: int) -> None:
        async for payment in streams[number]:
            heapq.heappush(heads, (payment.created_at, payment.id, number, payment))
            return

    for number in range(len(streams)):
        await advance(number)
    page: list[Payment] = []
    while heads:
        *_, number, payment = heapq.heappop(heads)
        page.append(payment)
        await advance(number)
        if len(page) == LIMITS.history_page:
            yield page
            page = []
    if page:
        yield page


async def _read_channel(app: App, channel: Channel, wanted: Search) -> AsyncIterator[Payment]:
    after: Place | None = None
    while True:
        rows = await reports.search_payments(app.database, channel, wanted, after, limit=LIMITS.history_page, skipped=0)
        for listed in rows:
            if listed.row is not None and signing.is_trusted(app, listed.row):
                yield listed.row
        if len(rows) < LIMITS.history_page:
            return
        after = rows[-1].place
