"""Places where a process may die beside its wire: a database that takes so many writes and then kills its process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from property.moody_wire import Killed
from tollgate.store.database import Database, Probe
from tollgate.store.hot import Answer, HotWrite, Row
from tollgate.store.statements import Dialect, HotRead, Statement, Write
from tollgate.values import FixedClock, Instant


class MortalDatabase:
    def __init__(self, real: Database) -> None:
        self._real = real
        self.writes_left: int | None = None
        """The process dies after so many writes; None lets it live."""

    @property
    def dialect(self) -> Dialect:
        return self._real.dialect

    @property
    def probe(self) -> Probe:
        return self._real.probe

    async def fetch(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        return await self._real.fetch(statement, params)

    async def fetch_one(self, statement: Statement, params: Mapping[str, Any]) -> Row | None:
        return await self._real.fetch_one(statement, params)

    def read(self, hot: HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        return self._real.read(hot, params)

    async def write(self, steps: Sequence[Write], *, label: str) -> bool:
        self._die_or_go_on()
        return await self._real.write(steps, label=label)

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        self._die_or_go_on()
        return self._real.submit(hot, row, label=label)

    async def make_months(self, now: Instant) -> int:
        return await self._real.make_months(now)

    async def find_trouble(self) -> str | None:
        return await self._real.find_trouble()

    async def list_risks(self) -> list[str]:
        return await self._real.list_risks()

    async def close(self) -> None:
        await self._real.close()

    def _die_or_go_on(self) -> None:
        if self.writes_left is None:
            return
        if self.writes_left == 0:
            raise Killed
        self.writes_left -= 1


class TickingClock(FixedClock):
    """Moves on a little whenever it is read, because no two results are written in the same microsecond."""

    def now(self) -> Instant:
        self.at += 1
        return self.at


class Alarm(logging.Handler):
    """Workers survive what breaks in them and log it; a test must not."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


async def bury(before: set[asyncio.Task[Any]]) -> None:
    """Waits until all that the dead one had begun has ended too."""
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        done, _ = await asyncio.wait(left, timeout=60)
        for task in done:
            if not task.cancelled():
                task.exception()
