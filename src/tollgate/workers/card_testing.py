"""Tells the other processes what this one counted of declined cards, and adds what they counted.

What a count means is decided in `payments`.
"""

import asyncio

from tollgate.catalog.card_testing import MEMORY
from tollgate.operations.app import App
from tollgate.store.declines import DeclineRow, insert_declines, list_declines
from tollgate.values import SECOND, Instant
from tollgate.workers.loop import run_guarded
from tollgate.workers.metrics import count_card_testing

_LOOK_EVERY_S = 0.5
_OVERLAP: Instant = 15 * SECOND
"""Rows are looked for so far back, because clocks differ and a row may be committed after a later one."""
_ROWS_MAX = 1000


class Sharing:
    """The exchange of one process with the others."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._number = 0
        self._since = app.clock.now() - MEMORY
        self._seen: dict[tuple[Instant, str], None] = {}
        self._reported: dict[tuple[str, str], int] = {}

    async def run_once(self) -> None:
        counted = self._app.card_testing
        if counted is None:
            return
        count_card_testing(counted.actions, self._reported)
        self._reported = dict(counted.actions)
        while changes := counted.take_changes():
            self._number += 1
            row = DeclineRow(self._app.clock.now(), f"{counted.process_id}.{self._number}", changes)
            await insert_declines(self._app.database, row)
        while await self._read():
            pass

    async def _read(self) -> bool:
        """Adds a page of new rows and returns whether there may be more."""
        counted = self._app.card_testing
        rows = await list_declines(self._app.database, self._since, _ROWS_MAX)
        for row in rows:
            if counted is not None and (row.at, row.id) not in self._seen:
                self._seen[row.at, row.id] = None
                if not row.id.startswith(counted.process_id):
                    counted.merge(row.changes, row.at)
        if len(rows) == _ROWS_MAX and rows[-1].at > self._since:
            self._since = rows[-1].at
            return True
        newest = rows[-1].at if rows else self._since
        self._since = max(self._since, min(newest, self._app.clock.now()) - _OVERLAP)
        self._seen = {key: None for key in self._seen if key[0] >= self._since}
        return False


async def share_declines(app: App) -> int:
    """Exchanges counts several times a second, until it is cancelled."""
    if app.card_testing is None:
        return 0
    sharing = Sharing(app)
    while True:
        await run_guarded(sharing, Sharing.run_once)
        await asyncio.sleep(_LOOK_EVERY_S)
