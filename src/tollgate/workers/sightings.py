"""Writes the sightings of payments behind the payments, derives those that a killed process lost, and removes old ones.

What is counted is decided in `operations/risk.py`.
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from itertools import cycle

from tollgate.catalog.limits import LIMITS
from tollgate.flows.sighting_history import write_history
from tollgate.operations import payment_history, registration_history, risk
from tollgate.operations.app import App
from tollgate.operations.sightings import PARTS, UNSETTLED
from tollgate.payments.merchants import Channel
from tollgate.store import registrations
from tollgate.store import sightings as store
from tollgate.store.hot import Row
from tollgate.store.statements import Dialect
from tollgate.values import HOUR, SECOND, Instant, MerchantId
from tollgate.workers.deliveries import Pressure
from tollgate.workers.loop import run_guarded

_ROUND_S = 0.25
_HISTORY_EVERY_S = 2.0
_HISTORY_PAUSE_S = 0.2
"""Between two days of history, payments have their turn."""
_PURGE_PAUSE_S = 0.01


async def keep_sightings(app: App) -> int:
    """Writes what is noted until it is cancelled, and then what is left."""
    # Other processes wait for what is written. A file has none, and one part after another changes fewer of its pages.
    is_shared = app.database.dialect is Dialect.POSTGRESQL
    rounds = cycle([range(PARTS)] if is_shared else [range(part, part + 1) for part in range(PARTS)])
    try:
        while True:
            await run_guarded(next(rounds), partial(write_noted, app))
            await run_guarded(app.database, app.sightings.follow)
            await asyncio.sleep(_ROUND_S)
    finally:
        await run_guarded(range(PARTS), partial(write_noted, app))


async def write_noted(app: App, parts: Iterable[int] = range(PARTS)) -> None:
    """Writes what is noted of some values; what cannot be written stays for the next time."""
    rows = app.sightings.take(parts)
    ordered = store.order(rows)
    try:
        for start in range(0, len(ordered), LIMITS.sightings_batch):
            await store.write_new(app.database, ordered[start : start + LIMITS.sightings_batch])
            app.sightings.count_own_change()
    except BaseException:
        app.sightings.put_back(rows)
        raise
    app.sightings.forget(rows)
    if rows and _is_late(app, min(row.at for row in rows)):
        await store.note_past_change(app.database)
        app.sightings.count_own_change()


def _is_late(app: App, oldest: Instant) -> bool:
    """Tells whether another process may have added up without it; a file has no other."""
    return app.database.dialect is Dialect.POSTGRESQL and oldest < app.clock.now() - UNSETTLED


async def derive_recent(app: App) -> None:
    """Writes the sightings of the newest payments and registrations that a killed process did not write.

    Those that are there stay.

    A host does so before it takes the first payment, so that no payment is judged without them.
    """
    for merchant in app.merchants.list_merchants():
        for channel in app.merchants.list_channels(merchant.id):
            await _derive_of_channel(app, channel)
        newest = await registrations.find_newest_time(app.database, merchant.id)
        if newest is not None:
            await registration_history.write_sightings(
                app,
                merchant.id,
                app.merchants.get_counted(merchant.id).keys(),
                newest - LIMITS.sightings_gap,
                newest + 1,
            )
    if any(app.merchants.get_counted(merchant.id) for merchant in app.merchants.list_merchants()):
        await store.note_past_change(app.database)


async def _derive_of_channel(app: App, channel: Channel) -> None:
    counted = app.merchants.get_counted(channel.merchant_id)
    newest = await store.find_newest_time(app.database, channel.merchant_id, channel.id) if counted else None
    if newest is None:
        return
    begin = newest - LIMITS.sightings_gap
    async for page in payment_history.read_payments(app, [channel], begin, newest + 1):
        rows = await risk.derive_rows(app, page, counted.keys())
        if rows:
            await store.write_sightings(app.database, rows)


async def keep_history(app: App) -> int:
    """Derives what new rules need of older payments, while payments do not need the whole process."""
    pressure = Pressure(app.activity)

    async def go_on(merchant_id: MerchantId) -> None:
        while not pressure.is_high and await write_history(app, merchant_id):
            await asyncio.sleep(_HISTORY_PAUSE_S)
            await pressure.measure()

    while True:
        await run_guarded(app.database, app.sightings.learn_values)
        await pressure.measure()
        for merchant in app.merchants.list_merchants():
            await run_guarded(merchant.id, go_on)
        await asyncio.sleep(_HISTORY_EVERY_S)


async def remove_old_sightings(app: App) -> int:
    """Removes the sightings that are older than the longest window of their merchant."""
    removed = 0
    for merchant in app.merchants.list_merchants():
        longest = max(app.merchants.get_counted(merchant.id).values(), default=0) * SECOND
        before = app.clock.now() - max(longest + HOUR, LIMITS.sightings_kept_min)
        place: Row | None = store.FIRST
        while place is not None:
            place, some = await store.purge_sightings(app.database, merchant.id, before, place, LIMITS.sightings_batch)
            removed += some
            await asyncio.sleep(_PURGE_PAUSE_S)
    return removed
