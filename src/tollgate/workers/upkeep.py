"""Keeps a process in step with the store: who may call, what time it is on a test host, which old keys may go.

No payment is touched here.
"""

from __future__ import annotations

from tollgate.catalog import LIMITS
from tollgate.steps import House
from tollgate.store import (
    get_setting,
    keep_script,
    purge_checkouts,
    purge_claims,
    purge_links,
    purge_scripts,
    purge_simulated_sessions,
    purge_wallet_uses,
    wipe_checkouts,
    wipe_links,
)
from tollgate.values import SECOND, SystemClock

CLOCK_OFFSET = "clock_offset"
SCRIPT_EVERY_S = 60.0


async def follow_directory(house: House) -> int:
    await house.directory.refresh(house.database)
    return 0


async def follow_clock(house: House) -> int:
    """The offset lives in the store, so that all processes of a test host tell the same time."""
    if isinstance(house.clock, SystemClock) and not house.is_live:
        house.clock.offset = int(await get_setting(house.database, CLOCK_OFFSET, "0"))
    return 0


async def follow_keys(house: House) -> int:
    """A rotation writes the key file; whoever serves takes the new key from there without a restart."""
    if house.key_path is not None:
        house.keyring.follow(house.key_path)
    return 0


async def purge_old_claims(house: House) -> int:
    before = house.clock.now() - LIMITS.idempotency_lifetime
    return await purge_claims(house.database, before, LIMITS.job_batch)


async def purge_old_wallet_uses(house: House) -> int:
    """No token lives for so long, so one whose use is forgotten is expired."""
    before = house.clock.now() - LIMITS.wallet_use_lifetime
    return await purge_wallet_uses(house.database, before, LIMITS.job_batch)


async def purge_old_sessions(house: House) -> int:
    before = house.clock.now() - LIMITS.simulated_session_memory
    return await purge_simulated_sessions(house.database, before, LIMITS.job_batch)


async def wipe_old_checkouts(house: House) -> int:
    before = house.clock.now() - LIMITS.checkout_fields_memory
    return await wipe_checkouts(house.database, before, LIMITS.job_batch)


async def purge_old_checkouts(house: House) -> int:
    before = house.clock.now() - LIMITS.checkout_memory
    return await purge_checkouts(house.database, before, LIMITS.job_batch)


async def wipe_old_links(house: House) -> int:
    before = house.clock.now() - LIMITS.checkout_fields_memory
    return await wipe_links(house.database, before, LIMITS.job_batch)


async def purge_old_links(house: House) -> int:
    """Its checkout is kept for as long, so that the link never forgets that it was paid."""
    before = house.clock.now() - LIMITS.checkout_memory
    return await purge_links(house.database, before, LIMITS.job_batch)


async def follow_scripts(house: House) -> int:
    """What this process promises to checkouts outlives it by as long as they live: a later release serves it to them.

    A checkout may be younger than the last time that its script was written down, by as much as two such times lie
    apart.
    """
    now = house.clock.now()
    if house.script.version:
        await keep_script(house.database, house.script, now)
    await purge_scripts(house.database, now - LIMITS.script_lifetime - 2 * int(SCRIPT_EVERY_S) * SECOND)
    return 0
