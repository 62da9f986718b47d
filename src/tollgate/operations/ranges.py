"""Which cards can be authenticated, as a directory server tells it: asked now and then, kept in between.

Whether one has to be is not decided here.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS
from tollgate.connectors import threeds
from tollgate.operations.dispatch import converse
from tollgate.payments import CardAccount
from tollgate.values import Instant, RandomBytes, system_random_bytes
from tollgate.wire import Wire


class _Kept(msgspec.Struct, frozen=True):
    ranges: tuple[threeds.CardRange, ...] | None
    """None where the directory never told them."""
    asks_at: Instant
    """When it is asked again."""


class CardRangeCache:
    """One list for each directory server; every process of a host keeps its own."""

    def __init__(self, random_bytes: RandomBytes = system_random_bytes) -> None:
        self._random_bytes = random_bytes
        self._kept: dict[str, _Kept] = {}

    async def find(
        self, address: str, wire: Wire, account: CardAccount, *, wall_now: Instant, timeout_s: float
    ) -> threeds.CardRange | None:
        """None where the directory says that the card takes no part.

        A directory that says nothing is asked about the card itself, and then its silence is a result.
        """
        kept = self._kept.get(address)
        if kept is None or kept.asks_at < wall_now:
            kept = await self._ask(wire, kept, wall_now, timeout_s)
            self._kept[address] = kept
        return threeds.ANY_CARD if kept.ranges is None else threeds.find_range(kept.ranges, account)

    async def _ask(self, wire: Wire, kept: _Kept | None, wall_now: Instant, timeout_s: float) -> _Kept:
        """A directory that is in trouble is left alone for a while, or else every payment would wait for it."""
        question = threeds.ask_ranges(threeds.make_server_id(self._random_bytes))
        ranges = await converse(question, wire, timeout_s=timeout_s)
        if ranges is None:
            return _Kept(kept.ranges if kept else None, wall_now + LIMITS.card_ranges_pause)
        return _Kept(ranges, wall_now + LIMITS.card_ranges_lifetime)
