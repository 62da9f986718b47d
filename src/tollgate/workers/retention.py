"""Lets go of accounts whose time is over: stored ones, and those that old payments were made with.

What is wiped of them is told in the flows.
"""

from __future__ import annotations

from functools import partial

from tollgate.catalog import LIMITS
from tollgate.flows import erase_registration, wipe_old_accounts
from tollgate.payments import Registration
from tollgate.steps import House
from tollgate.store import list_channels, list_outlived
from tollgate.workers.loop import run_each


async def erase_registrations(house: House) -> int:
    outlived = await list_outlived(house.database, house.clock.now(), LIMITS.erase_batch)
    await run_each(outlived, partial(_erase, house))
    return len(outlived)


async def _erase(house: House, outlived: Registration) -> None:
    await erase_registration(house, outlived)


async def wipe_accounts(house: House) -> int:
    """A page of every channel, also of those that are closed."""
    return sum([await wipe_old_accounts(house, channel) for channel in await list_channels(house.database)])
