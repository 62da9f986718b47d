"""Which cards can be authenticated, as a directory server tells it: asked now and then, kept in between.

Whether one has to be is not decided here.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS
from tollgate.connectors import threeds
from tollgate.payments import CardAccount
from tollgate.steps.dispatch import converse
from tollgate.values import Chance, Instant, system_chance
from tollgate.wire import Wire


class _Kept(msgspec.Struct, frozen=True):
    ranges: tuple[threeds.CardRange, ...]
    asked_at: Instant


class RangeBook:
    """One list for each directory server; every process of a host keeps its own."""

    def __init__(self, chance: Chance = system_chance) -> None:
        self._chance = chance
        self._kept: dict[str, _Kept] = {}

    async def find(
        self, address: str, wire: Wire, account: CardAccount, *, wall_now: Instant, timeout_s: float
    ) -> threeds.CardRange | None:
        """None where the directory says that the card takes no part.

        A directory that says nothing is asked about the card itself, and then its silence is a result.
        """
        kept = self._kept.get(address)
        if kept is None or kept.asked_at + LIMITS.card_ranges_lifetime < wall_now:
            question = threeds.ask_ranges(threeds.make_server_id(self._chance))
            ranges = await converse(question, wire, timeout_s=timeout_s)
            if ranges is not None:
                kept = self._kept[address] = _Kept(ranges, wall_now)
        if kept is None:
            return threeds.ANY_CARD
        return threeds.find_range(kept.ranges, account)
