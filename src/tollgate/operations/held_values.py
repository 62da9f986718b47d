"""The sightings of one value that a process holds, or only their number and sum. Reading them is in `sightings.py`."""

import asyncio
from collections.abc import Iterable, Mapping

import msgspec

from tollgate.payments.velocities import History, Sighting, Velocity, join
from tollgate.values import Instant

NEVER: Instant = 1 << 62


class Sum:
    """The sum of one value between two instants, of which both only go forward."""

    __slots__ = ("begin", "by_currency", "lock", "upto")

    def __init__(self, begin: Instant) -> None:
        self.begin = self.upto = begin
        self.by_currency: dict[str, Velocity] = {}
        self.lock = asyncio.Lock()

    def add(self, some: Mapping[str, Velocity], sign: int) -> None:
        for currency, each in some.items():
            known = self.by_currency.get(currency, Velocity())
            self.by_currency[currency] = Velocity(known.count + sign * each.count, known.total + sign * each.total)


class Held(msgspec.Struct, eq=False, gc=False):
    """A value that this process knows: how often it was seen since some time, at most, and what is not written yet.

    There are many, and none refers to another.
    """

    fresh: list[Sighting] = []
    """The sightings that are not written yet."""
    since: Instant = NEVER
    """The time from which on all are counted; `NEVER` before the value was read."""
    edition: int = 0
    count: int = 0
    total: int = 0
    """The sum of the amounts in all currencies."""
    history: History | None = None
    """All that are counted, if a rule had to look closer; it has the fresh ones too."""
    readers: int = 0
    is_torn: bool = False
    """While it was being read, fresh ones were written or dropped, so nobody knows whether they were read."""

    def let_go(self, row: Sighting) -> None:
        """Is told that a sighting was written: it stays counted."""
        fresh = self.fresh
        # Most often they are written in the order of their time.
        if fresh and fresh[0] is row:
            del fresh[0]
        elif row in fresh:
            fresh.remove(row)
        if self.readers:
            self.is_torn = True

    def drop(self, row: Sighting) -> None:
        """Counts a sighting no longer."""
        self.let_go(row)
        self.count -= 1
        self.total -= row.amount
        if self.history is not None:
            self.history.remove(row)

    @property
    def size(self) -> int:
        return 0 if self.history is None else len(self.history.rows)

    def take(self, history: History, since: Instant, edition: int) -> None:
        self.history, self.count, self.total = history, len(history.rows), history.total
        self.since, self.edition = NEVER if self.is_torn else since, edition


def merge(rows: Iterable[Sighting]) -> Iterable[Sighting]:
    """Returns each sighting once; what is stored may have the mark of an attribute that was added meanwhile."""
    found: dict[tuple[Instant, str], Sighting] = {}
    for row in rows:
        # Of two tries to make one payment, each has a time of its own until one is dropped.
        place = (row.at, row.payment_id)
        known = found.get(place, row)
        found[place] = known if known.marks == row.marks else join(known, row)
    return found.values()
