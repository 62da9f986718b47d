"""Sightings of payments and how many there were within a window. Which of them are needed is decided by the rules."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

import msgspec

from tollgate.catalog.risk_rows import BASES, MARKS, TOTALS, Attribute
from tollgate.values import MINUTE, SECOND, Instant, MerchantId

WRONG_TRIES: Mapping[Attribute, frozenset[str]] = {
    Attribute.WRONG_CVV: frozenset({"800.100.153", "800.100.192"}),
    Attribute.WRONG_EXPIRY: frozenset({"800.100.157"}),
}
"""The result codes by which the issuer says that a value was wrong."""


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """One payment that was seen with one value."""

    merchant_id: MerchantId
    key: bytes
    """The keyed hash of the value."""
    at: Instant
    payment_id: str
    marks: int
    """The marks of the attributes that have the value."""
    amount: int
    currency: str
    other_1: bytes | None = None
    """The other value of the pair with the first mark, and that of the one with the second."""
    other_2: bytes | None = None


def join(one: Sighting, other: Sighting) -> Sighting:
    """Returns two sightings of one payment with one value as one."""
    return msgspec.structs.replace(
        one,
        marks=one.marks | other.marks,
        other_1=one.other_1 or other.other_1,
        other_2=one.other_2 or other.other_2,
    )


class Velocity(msgspec.Struct, frozen=True):
    count: int = 0
    total: int = 0


_get_time = attrgetter("at")
OTHERS = {2: attrgetter("other_1"), 4: attrgetter("other_2")}
"""The other value of a pair, by its mark."""


class History:
    """The sightings of one value, in the order of their time; also some that are outside of every window."""

    __slots__ = ("rows", "total")

    def __init__(self, rows: Iterable[Sighting] = ()) -> None:
        self.rows: list[Sighting] = []
        self.total = 0
        """The sum of the amounts in all currencies."""
        if rows:
            self.replace(rows)

    def replace(self, rows: Iterable[Sighting]) -> None:
        self.rows = sorted(rows, key=_get_time)
        self.total = sum([row.amount for row in self.rows])

    def add(self, row: Sighting) -> None:
        if self.rows and row.at < self.rows[-1].at:
            insort(self.rows, row, key=_get_time)
        else:
            self.rows.append(row)
        self.total += row.amount

    def remove(self, row: Sighting) -> None:
        """Removes a sighting, if it is there."""
        for place in range(self.count_before(row.at), len(self.rows)):
            if self.rows[place] == row:
                del self.rows[place]
                self.total -= row.amount
                return

    def forget_before(self, begin: Instant) -> None:
        """Forgets what is older."""
        if self.rows and self.rows[0].at < begin:
            self.keep_newest(len(self.rows) - self.count_before(begin))

    def keep_newest(self, count: int) -> None:
        left = len(self.rows) - count
        self.total -= sum([row.amount for row in self.rows[:left]])
        del self.rows[:left]

    def count_before(self, at: Instant) -> int:
        """Returns the number of sightings before an instant."""
        return bisect_left(self.rows, at, key=_get_time)


class Velocities:
    """The earlier payments with the values of one payment."""

    __slots__ = ("_at", "_ends", "_seen", "totals")

    def __init__(
        self,
        at: Instant,
        seen: Mapping[Attribute, History | Iterable[Sighting]],
        totals: Mapping[tuple[Attribute, int, str], Velocity] = {},
    ) -> None:
        """totals: by attribute, window and currency, for attributes that all payments share; "" is any currency."""
        self._at = at
        self._seen: dict[Attribute, History] = {}
        self._ends: dict[Attribute, int] = {}
        for attribute, rows in seen.items():
            history = rows if isinstance(rows, History) else History(rows)
            if attribute in BASES:
                history = History([row for row in history.rows if row.marks & MARKS[attribute]])
            # Most often the payment itself is the only one that is not earlier.
            end = len(history.rows)
            if end and history.rows[-1].at >= at:
                end = history.count_before(at)
            if end:
                self._seen[attribute], self._ends[attribute] = history, end
        self.totals = totals

    def list_within(self, attribute: Attribute, window_s: int) -> Sequence[Sighting]:
        history = self._seen.get(attribute)
        if history is None:
            return ()
        return history.rows[history.count_before(begin_window(self._at, attribute, window_s)) : self._ends[attribute]]

    def count_all(self, attribute: Attribute) -> int:
        """Counts at least those within the longest window."""
        return self._ends.get(attribute, 0)

    def add_up_all(self, attribute: Attribute) -> int:
        """Adds up at least the amounts within the longest window, in all currencies."""
        history = self._seen.get(attribute)
        if history is None:
            return 0
        return history.total - sum([row.amount for row in history.rows[self._ends[attribute] :]])

    def count(self, attribute: Attribute, window_s: int) -> int:
        if attribute in TOTALS:
            return self.totals.get((attribute, window_s, ""), Velocity()).count
        history = self._seen.get(attribute)
        if history is None:
            return 0
        return max(0, self._ends[attribute] - history.count_before(begin_window(self._at, attribute, window_s)))

    def add_up(self, attribute: Attribute, window_s: int, currency: str) -> int:
        if attribute in TOTALS:
            return self.totals.get((attribute, window_s, currency), Velocity()).total
        return sum(row.amount for row in self.list_within(attribute, window_s) if row.currency == currency)

    def count_others(self, attribute: Attribute, window_s: int, own: bytes) -> int:
        """Counts the different values that came with one, with that of the payment itself."""
        get_other = OTHERS[MARKS[attribute]]
        return len({get_other(row) for row in self.list_within(attribute, window_s)} | {own})


def begin_window(at: Instant, attribute: Attribute, window_s: int) -> Instant:
    """Returns the first instant that counts. Totals are kept by the minute, so their windows begin with a full one."""
    begin = at - window_s * SECOND
    return begin - begin % MINUTE if attribute in TOTALS else begin
