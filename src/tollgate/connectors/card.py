"""The card connector: how a payment with a card begins. Everything after that is in acquiring."""

from functools import partial
from typing import Any

import msgspec

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors import acquiring
from tollgate.connectors.exchange import Exchange, make_request
from tollgate.payments.accounts import CardAccount, TokenAccount
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment

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
    """The values that are forwarded, at their places; amounts are minor units beside their currency."""


def make_charge(order: Order, key: str) -> ChargeMessage:
    return ChargeMessage(
        key=key,
        type=acquiring.CHARGE_TYPES[order.payment_type],
        amount=acquiring.to_minor_units(order.money),
        currency=order.money.currency,
        brand=order.network or order.brand,
        statement=order.statement,
        card=_make_card(order.account) if isinstance(order.account, CardAccount) else None,
        token=_make_token(order.account) if isinstance(order.account, TokenAccount) else None,
        processing=order.processing_code,
        details=acquiring.describe_order(ConnectorName.JSON, order),
    )


def _make_card(card: CardAccount) -> CardMessage:
    return CardMessage(
        number=card.number.reveal(),
        expiry=f"{card.expiry_year}-{card.expiry_month}",
        holder=card.holder,
        cvv=acquiring.reveal(card.cvv),
        number_type=card.number_type,
        cryptogram=acquiring.reveal(card.cryptogram),
        wallet=card.wallet,
    )


def _make_token(token: TokenAccount) -> TokenMessage:
    return TokenMessage(
        number=token.number.reveal(),
        type=token.type,
        expiry=f"{token.expiry_year}-{token.expiry_month}" if token.expiry_month and token.expiry_year else None,
        cryptogram=acquiring.reveal(token.cryptogram),
        dtvc=acquiring.reveal(token.dtvc),
    )


def charge(order: Order, attempt: Payment, approved_code: str, **_: object) -> Exchange:
    """Authorizes, debits or credits a card."""
    request = make_request(CHARGES, make_charge(order, attempt.id), attempt.id, order.simulator_overrides)
    return acquiring.perform(acquiring.ACQUIRER, request, approved_code, attempt.money)


reverse = partial(acquiring.reverse, acquiring.ACQUIRER)
inquire = partial(acquiring.inquire, acquiring.ACQUIRER)
follow_up = partial(acquiring.follow_up, ConnectorName.JSON)
repeat = partial(acquiring.repeat, ConnectorName.JSON)
