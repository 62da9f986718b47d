"""What the world answered to an order: a value, never raised. Which words an acquirer used for it is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    APPROVED = "approved"
    DECLINED = "declined"
    WAITING = "waiting"
    """Accepted, and somebody else has to act before it is decided."""
    CHALLENGED = "challenged"
    """Nothing was sent that moves money: the shopper has to prove something first."""
    SILENT = "silent"
    """It was sent and no answer came: nobody knows whether money moved."""
    UNSENT = "unsent"
    """It never left, so nothing happened."""
    LATE = "late"
    """Approved, but what it pays for is paid already."""
    STALE = "stale"
    """Approved, but what it pays for costs something else by now."""
    ABANDONED = "abandoned"
    """The shopper left the provider's page before deciding there, and the gateway gives the attempt up."""


DECIDED = frozenset({Outcome.APPROVED, Outcome.DECLINED, Outcome.LATE, Outcome.STALE, Outcome.ABANDONED})
"""Nobody has to be asked any more."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Outcome
    code: str
    details: Mapping[str, str] = {}
    """The acquirer's own words and references, answered as `resultDetails`; a name with a dot is a field of the answer
    itself, such as where the shopper goes next."""
    checkout_revision: int | None = None
    """Of the checkout that it pays for, as it was when this was weighed; an approval holds for no other."""
