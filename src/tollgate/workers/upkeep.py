"""Keeps a process in step with the store: who may call, what time it is on a test host, which old keys may go.

No payment is touched here.
"""

from __future__ import annotations

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store.checkouts import keep_script, purge_checkouts, purge_scripts, wipe_checkouts
from tollgate.store.idempotency import purge_idempotency_records
from tollgate.store.links import purge_links, wipe_links
from tollgate.store.merchants import purge_wallet_uses
from tollgate.store.opening import get_setting
from tollgate.store.simulated_sessions import purge_simulated_sessions
from tollgate.values import SECOND, SystemClock

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


async def purge_old_idempotency_records(app: App) -> int:
    before = app.clock.now() - LIMITS.idempotency_lifetime
    return await purge_idempotency_records(app.database, before, LIMITS.job_batch)


async def purge_old_wallet_uses(app: App) -> int:
    """No token lives for so long, so one whose use is forgotten is expired."""
    before = app.clock.now() - LIMITS.wallet_use_lifetime
    return await purge_wallet_uses(app.database, before, LIMITS.job_batch)


async def purge_old_sessions(app: App) -> int:
    before = app.clock.now() - LIMITS.simulated_session_memory
    return await purge_simulated_sessions(app.database, before, LIMITS.job_batch)


async def wipe_old_checkouts(app: App) -> int:
    before = app.clock.now() - LIMITS.checkout_fields_memory
    return await wipe_checkouts(app.database, before, LIMITS.job_batch)


async def purge_old_checkouts(app: App) -> int:
    before = app.clock.now() - LIMITS.checkout_memory
    return await purge_checkouts(app.database, before, LIMITS.job_batch)


async def wipe_old_links(app: App) -> int:
    before = app.clock.now() - LIMITS.checkout_fields_memory
    return await wipe_links(app.database, before, LIMITS.job_batch)


async def purge_old_links(app: App) -> int:
    """Its checkout is kept for as long, so that the link never forgets that it was paid."""
    before = app.clock.now() - LIMITS.checkout_memory
    return await purge_links(app.database, before, LIMITS.job_batch)


async def follow_scripts(app: App) -> int:
    """What this process promises to checkouts outlives it by as long as they live: a later release serves it to them.

    A checkout may be younger than the last time that its script was written down, by as much as two such times lie
    apart.
    """
    now = app.clock.now()
    if app.script.version:
        await keep_script(app.database, app.script, now)
    await purge_scripts(app.database, now - LIMITS.script_lifetime - 2 * int(SCRIPT_EVERY_S) * SECOND)
    return 0
