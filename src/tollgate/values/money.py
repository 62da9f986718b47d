"""Money is whole hundredths and never travels without its currency. No float and no implicit rounding live here."""

from __future__ import annotations

import re
from dataclasses import dataclass

HUNDREDTHS_MAX = 10**14 - 1
"""Twelve digits and two decimals, the longest amount the interface can write."""

_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{2}))?")


@dataclass(frozen=True, slots=True)
class Money:
    hundredths: int
    currency: str

    def render(self) -> str:
        return render_hundredths(self.hundredths)


def read_hundredths(text: str) -> int:
    """`12`, `12.34` to 1200, 1234; the shape was checked before, so anything else is breakage."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError("an amount has up to 12 digits and either no or exactly two decimals")
    whole, cents = match.groups()
    return int(whole) * 100 + int(cents or 0)


def render_hundredths(hundredths: int) -> str:
    sign = "-" if hundredths < 0 else ""
    whole, cents = divmod(abs(hundredths), 100)
    return f"{sign}{whole}.{cents:02d}"
