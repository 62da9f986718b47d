"""The card protocol's words: JSON over HTTP, amounts in minor units, response codes as in ISO 8583 field 39.

No decisions here.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from tollgate.catalog import CURRENCIES
from tollgate.payments import CardAccount, Order, Payment, TokenAccount
from tollgate.values import Money, Secret

CHARGES = "/v1/charges"
FOLLOW_UPS = "/v1/follow-ups"
REVERSALS = "/v1/reversals"
INQUIRIES = "/v1/inquiries"

CHARGE_TYPES = {"PA": "authorization", "DB": "sale", "PA.CP": "sale", "CD": "credit"}
FOLLOW_UP_TYPES = frozenset({"capture", "reversal", "refund", "rebill", "increment", "renewal"})

_ShortText = Annotated[str, msgspec.Meta(max_length=128)]
_LongText = Annotated[str, msgspec.Meta(max_length=512)]


class CardMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    number: str
    expiry: str
    """yyyy-MM"""
    holder: str | None = None
    cvv: str | None = None
    number_type: str = "PAN"
    cryptogram: str | None = None
    wallet: str | None = None


class TokenMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    number: str
    type: str
    expiry: str | None = None
    cryptogram: str | None = None
    dtvc: str | None = None


class ChargeMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    type: str
    amount: int
    currency: str
    brand: str
    statement: str
    card: CardMessage | None = None
    token: TokenMessage | None = None
    processing: str = "PURCHASE"
    details: dict[str, Any] | None = None
    """What travels with the money, by the members' names; amounts in it are minor units beside their currency."""


class FollowUpMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Does something with a transaction that the acquirer has, and so needs no card."""

    key: str
    type: str
    original: str
    """The key of the transaction that it follows; a refund of a capture names the capture."""
    amount: int
    currency: str
    is_final: bool = False
    """Nothing of its type will follow that transaction any more."""


class KeyMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Names an earlier transaction by its key, to reverse it or to ask what became of it."""

    key: str
    blocks: bool = True
    """Whether a key never seen is refused from now on. A reversal always blocks; whoever will repeat must not."""


class AcquirerReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    status: str
    """approved, declined, pending, reversed or unknown"""
    response_code: _ShortText = ""
    message: _LongText = ""
    authorization_code: _ShortText = ""
    reference: _ShortText = ""
    scheme_transaction_id: _ShortText = ""
    institute: _ShortText = ""
    result_code: _ShortText = ""
    """Set by a simulator that was asked for a particular result of the gateway's catalogue."""


encode_message = msgspec.json.Encoder().encode
decode_reply = msgspec.json.Decoder(AcquirerReply).decode


def to_minor_units(money: Money) -> int:
    """Hundredths to yen, cents or fils: exactly or not at all."""
    exponent = CURRENCIES[money.currency].exponent
    if exponent >= 2:
        return money.hundredths * int(10 ** (exponent - 2))
    units, rest = divmod(money.hundredths, int(10 ** (2 - exponent)))
    if rest:
        raise ValueError(f"{money.currency} has no such fraction")
    return units


def make_charge(order: Order, key: str) -> ChargeMessage:
    return ChargeMessage(
        key=key,
        type=CHARGE_TYPES[order.kind],
        amount=to_minor_units(order.money),
        currency=order.money.currency,
        brand=order.network,
        statement=order.statement,
        card=_make_card(order.account) if isinstance(order.account, CardAccount) else None,
        token=_make_token(order.account) if isinstance(order.account, TokenAccount) else None,
        processing=order.processing_code,
        details=_describe(order.details) if order.has_details else None,
    )


def make_follow_up(attempt: Payment, action: str, *, is_final: bool) -> FollowUpMessage:
    if action not in FOLLOW_UP_TYPES:
        raise ValueError(f"the protocol has no word {action}")
    if attempt.referenced_id is None:
        raise ValueError(f"payment {attempt.id} follows nothing")
    return FollowUpMessage(
        key=attempt.id,
        type=action,
        original=attempt.referenced_id,
        amount=to_minor_units(attempt.money),
        currency=attempt.money.currency,
        is_final=is_final,
    )


def _describe(details: msgspec.Struct) -> dict[str, Any]:
    """What is absent is left out, so that an acquirer reads only what the merchant said."""
    return {
        name: value if isinstance(value, str) else _describe_member(value)
        for name in details.__struct_fields__
        if (value := getattr(details, name)) is not None and value != ()
    }


def _describe_member(value: object) -> object:
    match value:
        case Money():
            return {"amount": to_minor_units(value), "currency": value.currency}
        case msgspec.Struct():
            return _describe(value)
        case tuple():
            return [_describe_member(each) for each in value]
        case _:
            return value


def _make_card(card: CardAccount) -> CardMessage:
    return CardMessage(
        number=card.number.reveal(),
        expiry=f"{card.expiry_year}-{card.expiry_month}",
        holder=card.holder,
        cvv=_reveal(card.cvv),
        number_type=card.number_type,
        cryptogram=_reveal(card.cryptogram),
        wallet=card.wallet,
    )


def _make_token(token: TokenAccount) -> TokenMessage:
    return TokenMessage(
        number=token.number.reveal(),
        type=token.type,
        expiry=f"{token.expiry_year}-{token.expiry_month}" if token.expiry_month and token.expiry_year else None,
        cryptogram=_reveal(token.cryptogram),
        dtvc=_reveal(token.dtvc),
    )


def _reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
