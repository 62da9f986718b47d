"""Keeps a process in step with the store: who may call, what time it is on a test host, which old keys may go.

No payment is touched here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store.checkouts import keep_script, purge_scripts
from tollgate.store.database import Database
from tollgate.store.opening import get_setting
from tollgate.values import SECOND, Instant, SystemClock

CLOCK_OFFSET = "clock_offset"
SCRIPT_EVERY_S = 60.0


async def follow_merchants(app: App) -> int:
    await app.merchants.refresh(app.database)
    return 0


async def follow_clock(app: App) -> int:
    """The offset lives in the store, so that all processes of a test host tell the same time."""
    if isinstance(app.clock, SystemClock) and not app.is_live:
        app.clock.offset = int(await get_setting(app.database, CLOCK_OFFSET, "0"))
    return 0


async def follow_keys(app: App) -> int:
    """A rotation writes the key file; whoever serves takes the new key from there without a restart."""
    if app.key_path is not None:
        app.keyring.follow(app.key_path)
    return 0


def remove_old(
    remove: Callable[[Database, Instant, int], Awaitable[int]], age: Instant
) -> Callable[[App], Awaitable[int]]:
    """Returns the run of a worker that removes, a batch at a time, what is older than `age`."""

    async def run(app: App) -> int:
        return await remove(app.database, app.clock.now() - age, LIMITS.job_batch)

    return run


async def follow_scripts(app: App) -> int:
    """What this process promises to checkouts outlives it by as long as they live: a later release serves it to them.

    A checkout may be younger than the last time that its script was written down, by as much as two such times lie
    apart.
    """
    now = app.clock.now()
    if app.script.version:
        await keep_script(app.database, app.script, now)
    before = now - LIMITS.script_lifetime - 2 * int(SCRIPT_EVERY_S) * SECOND
    await purge_scripts(app.database, before, LIMITS.job_batch)
    return 0
