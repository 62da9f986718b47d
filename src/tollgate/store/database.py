"""The face of a database: what the nouns may ask of a driver. Which driver answers is decided by who opens it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from tollgate.store.hot import HotWrite
from tollgate.store.hot import Row as Row
from tollgate.store.statements import Dialect, Statement, Write


class Database(Protocol):
    @property
    def dialect(self) -> Dialect: ...

    async def fetch(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        """All rows; a statement that writes and returns rows is its own atomic unit."""
        ...

    async def fetch_one(self, statement: Statement, params: Mapping[str, Any]) -> Row | None: ...

    async def write(self, writes: Sequence[Write]) -> bool:
        """One atomic unit. False: a guard did not hold, and nothing was written."""
        ...

    def submit(self, hot: HotWrite, row: Row) -> Awaitable[bool]:
        """Group commit. True: durable. False: refused by its guard, nothing was written."""
        ...

    async def find_trouble(self) -> str | None:
        """Says why payments cannot be stored at present, without secrets; None while they can."""
        ...

    async def close(self) -> None:
        """Write what is queued, then let go."""
        ...
