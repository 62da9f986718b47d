"""Lets go of accounts whose time is over: stored ones, and those that old payments were made with.

What is wiped of them is told in the flows.
"""

from __future__ import annotations

from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.erase import erase_registration, wipe_old_accounts
from tollgate.operations.app import App
from tollgate.payments.registration import Registration
from tollgate.store.merchants import list_channels
from tollgate.store.registrations import list_outlived
from tollgate.workers.loop import run_each


async def erase_registrations(app: App) -> int:
    outlived = await list_outlived(app.database, app.clock.now(), LIMITS.erase_batch)
    await run_each(outlived, partial(_erase, app))
    return len(outlived)


async def _erase(app: App, outlived: Registration) -> None:
    await erase_registration(app, outlived)


async def wipe_accounts(app: App) -> int:
    """A page of every channel, also of those that are closed."""
    return sum([await wipe_old_accounts(app, channel) for channel in await list_channels(app.database)])
