"""Defines the decline by content: it ends a payment of a strict channel whose values are well formed and make no sense.

The rows are in decline_rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from tollgate.catalog.brand_rows import Brand

Fields = Mapping[str, str]
"""Maps a canonical name to its value; every value has passed its own format and every rule."""


class Facts(NamedTuple):
    """Holds what a check may use besides the fields."""

    today: date
    brand: Brand | None = None
    """It is None while the brand is not known, as when a checkout is prepared."""
    creditor_iban: str = ""
    """The account that the channel's direct debits are paid to."""


@dataclass(frozen=True, slots=True)
class Decline:
    """A row: the code with which a payment is declined, without asking the acquirer, and when."""

    code: str
    text: str
    """One sentence for the reference: when it happens."""
    applies: Callable[[Fields, Facts], bool]
    groups: frozenset[str]
    """First words of names: the row is asked only if one of them is present."""
