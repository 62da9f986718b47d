"""Card testing: what is counted to recognise it, and from how many declines on payments wait or are refused.

The counting itself is in `payments`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tollgate.values import HOUR


class DeclineCounter(NamedTuple):
    """One counter of a merchant's declined cards. An approval lowers it as a decline raises it."""

    letter: str
    """The beginning of its keys."""
    name: str
    words: str
    slow_from: int
    refuse_from: int
    """The counter forgets so many declines in an hour."""
    undecided_max: int
    """The number of payments that may be undecided at once before more of them count as declines do."""
    code: str


_IP = DeclineCounter("i", "ip", "`customer.ip`", 10, 20, 50, "800.120.102")

COUNTERS: Mapping[str, DeclineCounter] = MappingProxyType(
    {
        row.letter: row
        for row in (
            _IP,
            _IP._replace(letter="f", name="form", words="the address of the browser that sends the payment form"),
            DeclineCounter("b", "bin", "the BIN, the first six digits of the card", 50, 200, 500, "800.300.401"),
            # Nobody gets a counter back to zero by many payments with one good card.
            DeclineCounter("c", "approved_card", "a card that was approved, which counts once", 1, 1, 0, ""),
        )
    }
)
SERVER = "s"
"""The beginning of the keys of a merchant's servers, which are never counted."""

COUNTED_GROUPS = frozenset({"rejected_by_bank", "rejected_3ds", "account_validation", "address_avs", "mac_control"})
"""The groups of results that say something about the card. A channel that is set up wrongly blocks nobody."""
UNCOUNTED = frozenset(
    {
        *("800.100.156", "800.100.167", "800.100.190", "800.100.191"),
        *("100.390.105", "100.390.106", "100.390.107", "100.390.108", "100.390.111", "100.390.112", "100.390.113"),
        *("100.390.115", "100.390.116", "100.390.117", "100.390.123"),
    }
)
"""The results of these groups that tell of a fault at the merchant, an acquirer or 3-D Secure, and not of the card."""

LEVEL_FACTOR_MAX = 2
"""A counter does not rise beyond so many times the number from which it refuses, so that it ends within hours."""
MEMORY = LEVEL_FACTOR_MAX * HOUR
"""The time after which every counter that nothing raised is back at zero."""
WAIT_S_MIN, WAIT_S_MAX = 1.0, 5.0
WAITING_MAX = 200
"""The number of payments of a process that wait at once; one more is answered with 429."""
WAITING_PER_KEY_MAX = 4
ENTRIES_MAX = 100_000
"""The number of counters in the memory of a process; the lowest are dropped first."""
SERVERS_MAX = 10_000
CHANGES_MAX = 20_000
"""The number of changed counters that a process has not told the others yet."""
CHANGES_PER_ROW = 1000
