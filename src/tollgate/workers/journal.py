"""Writes the journal behind the payments: it masks what was noted at once, and steps back before it writes.

What is noted is decided where messages are sent and requests are answered.
"""

import asyncio

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store import search_index
from tollgate.store.journal import JournalRow, insert_rows
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
        self._removals: dict[str, str] = {}
        """The number of removals of each merchant when it wrote last."""

    async def run(self) -> int:
        """Masks and writes, until it is cancelled; then it writes what is left."""
        journal = self._app.journal
        self._removals = await search_index.list_removals(self._app.database)
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
        rows = await self._take(limit)
        for start in range(0, len(rows), LIMITS.journal_batch):
            some = rows[start : start + LIMITS.journal_batch]
            merchant_ids = sorted({row.merchant_id for row in some})
            for merchant_id in merchant_ids:
                if merchant_id not in self._removals:
                    await search_index.begin_removals(self._app.database, merchant_id)
            expected = [
                write
                for merchant_id in merchant_ids
                for write in search_index.expect_removals_writes(merchant_id, self._removals.get(merchant_id, "0"))
            ]
            await insert_rows(self._app.database, some, expected)

    async def _take(self, limit: int) -> list[JournalRow]:
        """Takes what is to be written.

        Where payments were removed or a person erased since it wrote last, what was noted before of that merchant may
        name the person, and is dropped.
        """
        journal = self._app.journal
        if not journal.has_entries:
            return []
        seen, self._removals = self._removals, await search_index.list_removals(self._app.database)
        removed = {name for name, count in self._removals.items() if count != seen.get(name, "0")}
        if not removed:
            return journal.take(limit, self._app.random_bytes)
        while journal.mask(self._app.merchants, _SLICE):
            pass
        rows = journal.take(LIMITS.journal_masked_max, self._app.random_bytes)
        return [row for row in rows if row.merchant_id not in removed]


async def write_journal(app: App) -> int:
    return await JournalWriter(app).run()
