"""What is paid with: a card as the connector needs it, and as anybody may see it. Nothing is sealed or stored here."""

from __future__ import annotations

import msgspec

from tollgate.values import Secret

BIN_LENGTH = 6
LAST_DIGITS = 4


class CardAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A card in clear, alive only between the request and the acquirer."""

    number: Secret
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    cvv: Secret | None = None
    number_type: str = "PAN"


class CardFace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a card that may be stored in clear and shown to the merchant."""

    bin: str
    last_digits: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None


def make_card_face(number: str, card: CardAccount) -> CardFace:
    """The caller reveals the number, because revealing is the vault's and the connectors' right."""
    return CardFace(
        bin=number[:BIN_LENGTH],
        last_digits=number[-LAST_DIGITS:],
        expiry_month=card.expiry_month,
        expiry_year=card.expiry_year,
        holder=card.holder,
    )
