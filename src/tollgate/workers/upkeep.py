"""Keeps a process in step with the store, and removes what is older than its retention.

No payment is made or completed here.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.erase import erase_registration, wipe_old_accounts
from tollgate.operations.app import App
from tollgate.store import checkouts, merchants, registrations
from tollgate.store.database import Database
from tollgate.store.opening import add_to_setting, get_setting
from tollgate.values import SECOND, Instant, SystemClock, to_datetime
from tollgate.workers.loop import run_each

CLOCK_OFFSET = "clock_offset"
SCRIPT_EVERY_S = 60.0


async def follow_merchants(app: App) -> int:
    await app.merchants.refresh(app.database)
    return 0


async def follow_clock(app: App) -> int:
    """Reads the clock's offset from the store, so that all processes of a test host have the same time."""
    if isinstance(app.clock, SystemClock) and not app.is_live:
        app.clock.offset = int(await get_setting(app.database, CLOCK_OFFSET, "0"))
    return 0


async def move_clock(db: Database, seconds: int) -> int | None:
    """Moves the clock of a test host forward and returns its offset; None if dates would end too soon after it."""
    moved = int(await get_setting(db, CLOCK_OFFSET, "0")) + seconds * SECOND
    if to_datetime(SystemClock(moved).now()).year > LIMITS.test_clock_year_max:
        return None
    return await add_to_setting(db, CLOCK_OFFSET, seconds * SECOND)


async def make_months(app: App) -> int:
    """Makes the partitions of the next months, so that no payment waits for one at the change of the month."""
    return await app.database.make_months(app.clock.now())


async def follow_keys(app: App) -> int:
    """Takes a new key from the key file, which a rotation writes, without a restart."""
    if app.key_path is not None:
        app.keyring.follow(app.key_path)
    return 0


def remove_old(
    remove: Callable[[Database, Instant, int], Awaitable[int]], age: Instant, *, by_wall: bool = False
) -> Callable[[App], Awaitable[int]]:
    """Returns the run of a worker that removes, a batch at a time, what is older than `age`.

    by_wall: the rows are timed by the wall clock, so a test host that moves its clock removes none of them early.
    """

    async def run(app: App) -> int:
        now = app.clock.wall() if by_wall else app.clock.now()
        return await remove(app.database, now - age, LIMITS.job_batch)

    return run


async def follow_scripts(app: App) -> int:
    """Stores the script that this process promises to checkouts, so that a later release can still serve it.

    A checkout may be created up to two rounds after its script was last stored.
    """
    now = app.clock.now()
    if app.script.version:
        await checkouts.keep_script(app.database, app.script, now)
    before = now - LIMITS.script_lifetime - 2 * int(SCRIPT_EVERY_S) * SECOND
    await checkouts.purge_scripts(app.database, before, LIMITS.job_batch)
    return 0


async def erase_registrations(app: App) -> int:
    outlived = await registrations.list_outlived(app.database, app.clock.now(), LIMITS.erase_batch)
    await run_each(outlived, partial(erase_registration, app))
    return len(outlived)


async def wipe_accounts(app: App) -> int:
    """Wipes a page of old accounts of every channel, closed channels included."""
    return sum([await wipe_old_accounts(app, channel) for channel in await merchants.list_channels(app.database)])
