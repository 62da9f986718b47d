"""What a card's year of expiry means to the simulated token vault. A table; the vault reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tollgate.values import MINUTE, Instant


class Event(StrEnum):
    """What may happen to a token."""

    SUSPENDED = "SUSPENDED"
    RESUMED = "RESUMED"
    DELETED = "DELETED"
    CARD_UPDATED = "CARD_UPDATED"
    """The issuer renewed the card: another number, a later expiry, the same token."""


@dataclass(frozen=True)
class Year:
    refusal: str = ""
    """Why no token is issued, in the vault's words."""
    proof_refusal: str = ""
    """Why no cryptogram is."""
    planned: tuple[tuple[Instant, Event], ...] = ()
    """What happens by itself, and how long after the token was issued."""


YEARS: Mapping[str, Year] = {
    "2032": Year(refusal="not_eligible"),
    "2033": Year(refusal="issuer_unsupported"),
    "2034": Year(
        planned=((MINUTE, Event.SUSPENDED), (2 * MINUTE, Event.RESUMED), (3 * MINUTE, Event.DELETED)),
    ),
    "2035": Year(planned=((MINUTE, Event.CARD_UPDATED),)),
    "2036": Year(refusal="not_tokenizable"),
    "2041": Year(proof_refusal="wrong_state"),
}
"""Cards of any other year get a token that stays as it is until an event is fired by hand."""
