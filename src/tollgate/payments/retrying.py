"""What a declined payment means for the series it belongs to, as rows; and when the next try is made.

Whether anybody tries is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from tollgate.catalog import get_result
from tollgate.values import DAY, HOUR, Instant


class Reaction(Enum):
    SOFT = "may go through on another day"
    HARD = "will not go through; the next time of the plan is another matter"
    STOP = "ends the series: nobody may be charged for it again"


REACTIONS: Mapping[str, Reaction] = {
    # Money or limits, which come back.
    "800.100.155": Reaction.SOFT,
    "800.100.162": Reaction.SOFT,
    "800.100.163": Reaction.SOFT,
    "800.100.164": Reaction.SOFT,
    "800.100.179": Reaction.SOFT,
    "800.100.203": Reaction.SOFT,
    "800.120.101": Reaction.SOFT,
    "800.120.200": Reaction.SOFT,
    "800.120.201": Reaction.SOFT,
    "800.120.401": Reaction.SOFT,
    # No reason, or one that passes.
    "800.100.100": Reaction.SOFT,
    "800.100.152": Reaction.SOFT,
    "800.100.156": Reaction.SOFT,
    "800.100.161": Reaction.SOFT,
    "800.100.176": Reaction.SOFT,
    "800.100.321": Reaction.SOFT,
    "800.100.322": Reaction.SOFT,
    "800.100.327": Reaction.SOFT,
    "700.600.002": Reaction.SOFT,
    "700.600.025": Reaction.SOFT,
    # The payer or the payer's bank has said that it is over.
    "700.601.003": Reaction.STOP,
    "800.100.197": Reaction.STOP,
    "800.100.202": Reaction.STOP,
    "800.100.204": Reaction.STOP,
    "800.100.205": Reaction.STOP,
    "800.100.403": Reaction.STOP,
    "800.100.500": Reaction.STOP,
    "800.100.501": Reaction.STOP,
    "800.310.200": Reaction.STOP,
    # No line broke: the message itself is at fault, and would be again.
    "900.100.202": Reaction.HARD,
    "900.100.204": Reaction.HARD,
}

GROUP_REACTIONS: Mapping[str, Reaction] = {
    "comm_error": Reaction.SOFT,
    "system_error": Reaction.SOFT,
    # The account cannot be charged at all, whatever the day.
    "registration_validation": Reaction.STOP,
}
"""Of the codes that have no row of their own; every other group is hard."""

LINE_GROUPS = frozenset({"comm_error", "system_error"})
"""Nobody said no: a line or a system failed, and such things are mended within hours rather than by payday."""

_LINE_PAUSE, _LINE_GROWTH = HOUR, 4

PAUSES: Mapping[str, Instant] = {"700.600.002": 3 * DAY, "700.600.025": DAY}
"""How long an issuer does not want to see a card again."""


def find_reaction(code: str) -> Reaction:
    return REACTIONS.get(code) or GROUP_REACTIONS.get(get_result(code).group, Reaction.HARD)


class RetryTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How often one payment of a schedule is tried, and within what time."""

    tries_max: int = 5
    window: Instant = 20 * DAY

    @property
    def lasts(self) -> Instant:
        """After this time nobody waits for another try any more, although an issuer asked for a pause."""
        return self.window + max(PAUSES.values())

    def find_pause(self, tries: int, code: str) -> Instant | None:
        """How long to wait after so many tries, the last of which had this code; None: there is no other.

        The pauses grow by the same step and fill the window together, so that the first ones come soon. After trouble
        on the way they are shorter.
        """
        if tries >= self.tries_max or find_reaction(code) is not Reaction.SOFT:
            return None
        steps = self.tries_max * (self.tries_max - 1) // 2
        pause = self.window * tries // steps
        if get_result(code).group in LINE_GROUPS:
            growth: int = _LINE_GROWTH ** (tries - 1)
            return min(pause, _LINE_PAUSE * growth)
        return max(pause, PAUSES.get(code, 0))
