"""Tells whether the database takes writes: by the result of the last write, or else by a small write made to find out.

Reads prove nothing, because a full or read-only database still answers them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.faults import StoreFault, Unwritable
from tollgate.store.schema import settings
from tollgate.store.statements import Statement, Write

Answer = TypeVar("Answer")

PROBE_AFTER_S = 5.0
"""How long a write that succeeded is proof enough."""
PROBE_AGAIN_S = 1.0
"""How soon a database that refused a write is tried again."""
_NAME = "write_probe"
_TEXT = "-" * 16_384
"""More than a payment takes, so that a database that takes it has room for a payment."""

# Deleted first, because SQLite writes nothing where a row is replaced by an equal one. Another process may write the
# same row in between, so the insertion takes an existing row too.
_CLEAR = Statement(settings.delete().where(settings.c.name == _NAME))
_WRITE = Statement(
    insert(settings)
    .values(name=_NAME, value=_TEXT)
    .on_conflict_do_update(index_elements=[settings.c.name], set_={"value": _TEXT})
)

PROBE = (Write(_CLEAR, {}), Write(_WRITE, {}))


class WriteHealth:
    """Remembers how the last write ended; `probe` makes one, and ends with a `StoreFault` where that fails."""

    def __init__(self, probe: Callable[[], Awaitable[object]], now: Callable[[], float] = time.monotonic) -> None:
        self._probe = probe
        self._now = now
        self._known_at = float("-inf")
        self._trouble: str | None = None
        self._probing = asyncio.Lock()

    def note_success(self) -> None:
        self._known_at, self._trouble = self._now(), None

    def note_fault(self, fault: StoreFault) -> None:
        self._known_at, self._trouble = self._now(), str(fault)

    async def watch(self, writing: Awaitable[Answer]) -> Answer:
        """Returns the result of a write and remembers how it ended; an unwritable row says nothing of the database."""
        try:
            answer = await writing
        except Unwritable:
            raise
        except StoreFault as fault:
            self.note_fault(fault)
            raise
        self.note_success()
        return answer

    async def find_trouble(self) -> str | None:
        """Says why nothing can be written; None while it can. Callers at the same moment share one write."""
        async with self._probing:
            if not self._is_known():
                try:
                    await self._probe()
                except StoreFault as fault:
                    self.note_fault(fault)
                else:
                    self.note_success()
            return self._trouble

    def _is_known(self) -> bool:
        return self._now() - self._known_at < (PROBE_AFTER_S if self._trouble is None else PROBE_AGAIN_S)
