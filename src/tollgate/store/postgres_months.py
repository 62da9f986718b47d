"""The partitions that a process of PostgreSQL knows: which one a frequent write names, and making one that is missing.

A text that names a partition is planned once and touches nothing else, while planning and locking the partitioned table
takes longer the more months it has.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import asyncpg

from tollgate.store.hot import HotWrite, Row
from tollgate.store.months import Partition, find_partition, list_months
from tollgate.store.partitions import COLUMNS, list_partitions, make_partitions, read_time
from tollgate.values import Instant

Borrow = Callable[[], AbstractAsyncContextManager[asyncpg.Connection]]
"""Lends a connection of the pool."""

REMEMBERED_MAX = 20_000
"""Payments of which the month is remembered; a follow-up of another one asks the database."""

_TEXTS_MAX = 64
_WHOLE = {"moved": "payments"}
Places = Mapping[str, str]
"""The partition for each name in a text; what has no single one is the whole table."""

_PARTED = re.compile(r"@(\w+)")
_IN_MONTH = re.compile(r"/\*@(\w+):(.*?)\*/", re.DOTALL)
_NO_PARTITION = re.compile(r"Partition key of the failing row contains \((?:created_at|id)\) = \((\w+)")


def render(text: str, places: Places) -> str:
    """Returns a text for these partitions, with its conditions about months where it reads the whole table."""
    text = _IN_MONTH.sub(lambda found: "" if found[1] in places else found[2], text)
    return _PARTED.sub(lambda found: places.get(found[1], _WHOLE.get(found[1], found[1])), text)


class Months:
    """The partitions of all tables, as this process knows them, and where the payments are that it read lately."""

    def __init__(self, borrow: Borrow) -> None:
        self._borrow = borrow
        self._known: dict[str, list[Partition]] = {table: [] for table in COLUMNS}
        self._created: dict[tuple[str, str], Instant] = {}

    # ---- partitions ----

    def find(self, table: str, at: Instant) -> Partition | None:
        return find_partition(self._known[table], at)

    async def refresh(self) -> None:
        async with self._borrow() as connection:
            self._known = await list_partitions(connection)

    async def ensure(self, table: str, instants: Sequence[Instant]) -> int:
        """Makes what is missing, and returns how many partitions that were; another process may be doing the same."""
        if not self._knows(table, instants):
            # A process that has just started knows none, and making one may have to wait, such as for a vacuum.
            await self.refresh()
        if self._knows(table, instants):
            return 0
        async with self._borrow() as connection, connection.transaction():
            made = await make_partitions(connection, table, instants)
        await self.refresh()
        return len(made)

    def _knows(self, table: str, instants: Sequence[Instant]) -> bool:
        return all(self.find(table, at) for at in instants)

    async def make_ahead(self, now: Instant, months: int) -> int:
        """Makes the partitions of this month and the next ones, and returns how many were missing."""
        await self.refresh()
        instants = [month.begins_at for month in list_months(now, months)]
        return sum([await self.ensure(table, [now, *instants[1:]]) for table in COLUMNS])

    async def repair(self, fault: Exception) -> bool:
        """Makes the partition whose absence a write failed by; a list that was out of date is read again."""
        if isinstance(fault, asyncpg.CheckViolationError) and fault.table_name in COLUMNS:
            found = _NO_PARTITION.match(fault.detail or "")
            if found is not None:
                await self.refresh()
                await self.ensure(fault.table_name, [read_time(fault.table_name, found[1])])
            return found is not None
        if isinstance(fault, asyncpg.UndefinedTableError):
            before = self._known
            await self.refresh()
            return self._known != before
        return False

    # ---- payments ----

    def remember(self, rows: Sequence[Row], key_at: tuple[int, int, int]) -> None:
        merchant, payment, at = key_at
        for row in rows:
            self._created[row[merchant], row[payment]] = row[at]
        while len(self._created) > REMEMBERED_MAX:
            del self._created[next(iter(self._created))]

    def recall(self, merchant_id: str, payment_id: str) -> Instant | None:
        return self._created.get((merchant_id, payment_id))


class Placing:
    """Finds the partitions that a batch of one frequent write is about."""

    def __init__(self, hot: HotWrite[Any], months: Months) -> None:
        names = [name for name, _ in hot.columns]
        self._months = months
        self._merchant_at = names.index("merchant_id")
        self._times = [(table, names.index(member)) for table, member in hot.times]
        self._moved = [names.index(member) for member in hot.moved]
        self._texts: dict[tuple[str, tuple[str, ...]], str] = {}

    async def place(self, rows: Sequence[Row]) -> dict[str, str]:
        """Returns the partitions; each is the same for all rows, or left out."""
        places = {}
        for table, at in self._times:
            instants = {read_time(table, row[at]) for row in rows}
            name = await self._find_one(table, instants)
            if name is not None:
                places[table] = name
        moved = self._find_moved(rows) if self._moved else None
        if moved is not None:
            # Those that change no other payment name the same partition, so that fewer texts are planned.
            name = moved.pop() if moved else places.get("payments")
            if name is not None and not moved:
                places["moved"] = name
        return places

    async def _find_one(self, table: str, instants: set[Instant]) -> str | None:
        found = {self._months.find(table, at) for at in instants}
        if None in found:
            await self._months.ensure(table, sorted(instants))
            found = {self._months.find(table, at) for at in instants}
        only = found.pop()
        return None if found or only is None else only.name

    def _find_moved(self, rows: Sequence[Row]) -> set[str] | None:
        """Returns the partitions of the other payments; None where that of one is not known."""
        names: set[str] = set()
        for row in rows:
            for payment_id in {row[at] for at in self._moved} - {None}:
                at = self._months.recall(row[self._merchant_at], payment_id)
                found = None if at is None else self._months.find("payments", at)
                if found is None:
                    return None
                names.add(found.name)
        return names

    def render(self, text: str, places: dict[str, str]) -> str:
        key = (text, tuple(places.values()))
        rendered = self._texts.get(key)
        if rendered is None:
            if len(self._texts) >= _TEXTS_MAX:
                self._texts.clear()
            rendered = self._texts[key] = render(text, places)
        return rendered
