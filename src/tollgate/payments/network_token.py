"""Network tokens: what may be known in clear of the number that a card network issued in place of a card's.

The number itself is sealed beside it and is no member; nobody is asked anything here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from tollgate.payments.account import CardSummary
from tollgate.values import Instant


class TokenState(StrEnum):
    """The words are stored."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    """The network pauses it and may let it go on."""
    DELETED = "DELETED"
    REFUSED = "REFUSED"
    """None was issued, and asking again would not help."""


TOKEN_TOPIC = "network-token"
"""Of the durable jobs that bring a stored card and its token in step; they name the registration."""


class NetworkToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    state: TokenState
    updated_at: Instant
    reference: str = ""
    """Under which the network's token vault knows it; empty where none was issued."""
    last_digits: str = ""
    expiry_month: str = ""
    expiry_year: str = ""
    code: str = ""
    """The result code of why it was refused."""


class CardNews(msgspec.Struct, frozen=True, kw_only=True):
    """The card behind a token, as its network tells of it."""

    last_digits: str
    expiry_month: str
    expiry_year: str


TOKEN_OBSTACLES: Mapping[TokenState, str] = {
    TokenState.SUSPENDED: "800.100.317",
    TokenState.DELETED: "800.100.326",
    TokenState.REFUSED: "800.100.310",
}
"""Why a token in such a state cannot be paid with, where nobody said it in particular."""


def find_token_obstacle(token: NetworkToken | None) -> str | None:
    """The result code of why a card is charged by its own number; None where its token can be used."""
    if token is None:
        return "800.100.311"
    if token.state is TokenState.ACTIVE:
        return None
    return token.code or TOKEN_OBSTACLES[token.state]


def renew_card_summary(card_summary: CardSummary | None, news: CardNews | None) -> CardSummary | None:
    """The face as it is now; the first digits stay, because a network tells only the last of a new number.

    An expiry before the one that is known is old news: its merchant was faster.
    """
    if card_summary is None or news is None:
        return card_summary
    if (news.expiry_year, news.expiry_month) < (card_summary.expiry_year, card_summary.expiry_month):
        return card_summary
    return msgspec.structs.replace(
        card_summary,
        last_digits=news.last_digits,
        expiry_month=news.expiry_month,
        expiry_year=news.expiry_year,
    )


def end_token(token: NetworkToken | None) -> NetworkToken | None:
    """As it stays in the trace of a registration that is wiped; the network is asked to delete it."""
    if token is None or not token.reference:
        return token
    return msgspec.structs.replace(token, state=TokenState.DELETED)


def name_token_job(registration_id: str, occasion: str = "") -> str:
    """Equal for what is owed once; every event is an occasion of its own, lest one is missed while another is run."""
    return f"{TOKEN_TOPIC}.{registration_id}" + (f".{occasion}" if occasion else "")
