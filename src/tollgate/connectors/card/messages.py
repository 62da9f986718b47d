"""The card protocol's own words, which begin a payment; response codes are as in ISO 8583 field 39.

No decisions here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tollgate.connectors.acquiring import CHARGE_TYPES, describe_details, to_minor_units
from tollgate.payments.accounts import CardAccount, TokenAccount
from tollgate.payments.order import Order
from tollgate.values import Secret

CHARGES = "/v1/charges"


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


def make_charge(order: Order, key: str) -> ChargeMessage:
    return ChargeMessage(
        key=key,
        type=CHARGE_TYPES[order.payment_type],
        amount=to_minor_units(order.money),
        currency=order.money.currency,
        brand=order.network or order.brand,
        statement=order.statement,
        card=_make_card(order.account) if isinstance(order.account, CardAccount) else None,
        token=_make_token(order.account) if isinstance(order.account, TokenAccount) else None,
        processing=order.processing_code,
        details=describe_details(order.details) if order.has_details else None,
    )


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
