"""Indexes payments behind their completion, while payments do not need the whole process.

What is written is decided in the flows.
"""

import asyncio
import time

from tollgate.flows.index_payments import index_payments
from tollgate.operations.app import App
from tollgate.store.search_index import list_behind
from tollgate.values import MerchantId
from tollgate.workers.deliveries import Pressure
from tollgate.workers.loop import run_guarded

_LOOK_EVERY_S = 5.0
_PAUSE_SHARE = 1.0
"""After each commit it pauses for so many times as long as the commit took, so that requests come first."""


async def keep_index(app: App) -> int:
    """Looks every few seconds which merchants have new events, until it is cancelled."""
    pressure = Pressure(app.activity)

    async def catch_up(merchant_id: MerchantId) -> None:
        while not pressure.is_high:
            begun = time.monotonic()
            if not await index_payments(app, merchant_id):
                return
            await asyncio.sleep((time.monotonic() - begun) * _PAUSE_SHARE)
            await pressure.measure()

    async def look(_name: str) -> None:
        await pressure.measure()
        for merchant_id in [] if pressure.is_high else await list_behind(app.database):
            await run_guarded(merchant_id, catch_up)

    while True:
        await run_guarded("index", look)
        await asyncio.sleep(_LOOK_EVERY_S)
