"""Sightings of payments and how many there were within a window. Which of them are needed is decided by the rules."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from tollgate.catalog.risk_rows import TOTALS, Attribute
from tollgate.values import MINUTE, SECOND, Instant

WRONG_TRIES: Mapping[Attribute, frozenset[str]] = {
    Attribute.WRONG_CVV: frozenset({"800.100.153", "800.100.192"}),
    Attribute.WRONG_EXPIRY: frozenset({"800.100.157"}),
}
"""The result codes by which the issuer says that a value was wrong."""


class Sighting(NamedTuple):
    """One payment that was seen with one value."""

    at: Instant
    payment_id: str
    amount: int
    currency: str
    other: bytes | None = None
    """The other value of a pair."""


class Velocity(msgspec.Struct, frozen=True):
    count: int = 0
    total: int = 0


class Velocities:
    """The earlier payments with the values of one payment, in the order of their time."""

    __slots__ = ("_at", "_seen", "_times", "totals")

    def __init__(
        self,
        at: Instant,
        seen: Mapping[Attribute, Sequence[Sighting]],
        totals: Mapping[tuple[Attribute, int, str], Velocity] = {},
    ) -> None:
        """totals: by attribute, window and currency, for attributes that all payments share; "" is any currency."""
        self._at = at
        self._seen = {attribute: sorted(rows) for attribute, rows in seen.items() if rows}
        self._times = {attribute: [row.at for row in rows] for attribute, rows in self._seen.items()}
        self.totals = totals

    def list_within(self, attribute: Attribute, window_s: int) -> Sequence[Sighting]:
        rows = self._seen.get(attribute)
        if rows is None:
            return ()
        return rows[bisect_left(self._times[attribute], begin_window(self._at, attribute, window_s)) :]

    def count_all(self, attribute: Attribute) -> int:
        return len(self._seen.get(attribute, ()))

    def add_up_all(self, attribute: Attribute) -> int:
        """Adds up the amounts in all currencies, within the longest window."""
        return sum([row.amount for row in self._seen.get(attribute, ())])

    def count(self, attribute: Attribute, window_s: int) -> int:
        if attribute in TOTALS:
            return self.totals.get((attribute, window_s, ""), Velocity()).count
        return len(self.list_within(attribute, window_s))

    def add_up(self, attribute: Attribute, window_s: int, currency: str) -> int:
        if attribute in TOTALS:
            return self.totals.get((attribute, window_s, currency), Velocity()).total
        return sum(row.amount for row in self.list_within(attribute, window_s) if row.currency == currency)

    def count_others(self, attribute: Attribute, window_s: int, own: bytes) -> int:
        """Counts the different values that came with one, with that of the payment itself."""
        return len({row.other for row in self.list_within(attribute, window_s)} | {own})


def begin_window(at: Instant, attribute: Attribute, window_s: int) -> Instant:
    """Returns the first instant that counts. Totals are kept by the minute, so their windows begin with a full one."""
    begin = at - window_s * SECOND
    return begin - begin % MINUTE if attribute in TOTALS else begin
