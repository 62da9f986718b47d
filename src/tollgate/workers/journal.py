"""Writes the journal behind the payments: it masks what was noted at once, and steps back before it writes.

What is noted is decided where messages are sent and requests are answered.
"""

import asyncio

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store.journal import insert_rows
from tollgate.workers.deliveries import Pressure
from tollgate.workers.loop import run_guarded
from tollgate.workers.metrics import count_dropped

_LOOK_EVERY_S = 0.25
"""No message stays unmasked in memory for much longer."""
_SLICE = 50
"""So many entries are masked before payments have their turn."""


class JournalWriter:
    """The writer of one process."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._pressure = Pressure(app.activity)
        self._reported = 0

    async def run(self) -> int:
        """Masks and writes, until it is cancelled; then it writes what is left."""
        journal = self._app.journal
        journal.is_open = True
        try:
            while True:
                await self._pressure.measure()
                while journal.mask(self._app.merchants, _SLICE):
                    await asyncio.sleep(0)
                if not self._pressure.is_high:
                    await run_guarded(LIMITS.journal_batch, self._write)
                count_dropped(journal.dropped - self._reported)
                self._reported = journal.dropped
                await asyncio.sleep(_LOOK_EVERY_S)
        finally:
            journal.is_open = False
            while journal.mask(self._app.merchants, _SLICE):
                pass
            await run_guarded(LIMITS.journal_masked_max, self._write)

    async def _write(self, limit: int) -> None:
        """Entries that a database does not take are lost: nothing relies on them."""
        rows = self._app.journal.take(limit, self._app.random_bytes)
        for start in range(0, len(rows), LIMITS.journal_batch):
            await insert_rows(self._app.database, rows[start : start + LIMITS.journal_batch])


async def write_journal(app: App) -> int:
    return await JournalWriter(app).run()
