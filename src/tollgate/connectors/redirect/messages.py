"""The redirect protocol's own words: a session is opened by key, and its page is left to the shopper.

No decisions here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from tollgate.connectors.acquiring import CHARGE_TYPES, AcquirerReply, ShortText, describe_details, to_minor_units
from tollgate.payments.accounts import BankAccount, VirtualAccount
from tollgate.payments.order import Order
from tollgate.values import Secret

SESSIONS = "/v1/sessions"
SESSION_INQUIRIES = "/v1/session-inquiries"
SESSION_CANCELLATIONS = "/v1/session-cancellations"

TRANSFER = "transfer"
"""The product whose sessions end like a bank's when nobody finishes them."""

_Address = Annotated[str, msgspec.Meta(max_length=2048)]


class SessionAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the merchant knows of the shopper's account; often no more than a country."""

    holder: str | None = None
    iban: str | None = None
    number: str | None = None
    bic: str | None = None
    bank_code: str | None = None
    bank_name: str | None = None
    country: str | None = None
    account_id: str | None = None


class SessionMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    type: str
    amount: int
    currency: str
    brand: str
    back_url: str
    """Where the page sends the shopper when it is done; what it says there proves nothing, the gateway asks."""
    statement: str
    merchant: str = ""
    """The shopper knows by this name who is paid."""
    reference: str
    """What a shopper who pays by hand is to write on the transfer."""
    account: SessionAccount = SessionAccount()
    details: dict[str, Any] | None = None
    """As in a charge."""


class FieldReply(msgspec.Struct, frozen=True):
    name: ShortText
    value: _Address


class ForwardReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the shopper goes next, and with which fields."""

    url: _Address
    method: Literal["GET", "POST"] = "GET"
    parameters: Annotated[tuple[FieldReply, ...], msgspec.Meta(max_length=50)] = ()


class ProviderAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The account that a prepayment goes to, or the one that the shopper paid from."""

    holder: ShortText = ""
    iban: ShortText = ""
    bic: ShortText = ""
    bank_name: ShortText = ""
    account_id: ShortText = ""
    reference: ShortText = ""
    due: ShortText = ""
    barcode: ShortText = ""


class SessionReply(AcquirerReply, frozen=True, kw_only=True, omit_defaults=True):
    """Beside an acquirer's statuses it knows redirect, account, cancelled and expired."""

    redirect: ForwardReply | None = None
    account: ProviderAccount | None = None
    product: ShortText = ""


decode_reply = msgspec.json.Decoder(SessionReply).decode


def make_session(order: Order, key: str, back_url: str) -> SessionMessage:
    return SessionMessage(
        key=key,
        type=CHARGE_TYPES[order.payment_type],
        amount=to_minor_units(order.money),
        currency=order.money.currency,
        brand=order.brand,
        back_url=back_url,
        statement=order.statement,
        merchant=order.merchant_name,
        reference=order.short_id,
        account=_make_account(order),
        details=describe_details(order.details) if order.has_details else None,
    )


def _make_account(order: Order) -> SessionAccount:
    match order.account:
        case BankAccount() as account:
            return SessionAccount(
                holder=account.holder,
                iban=_reveal(account.iban),
                number=_reveal(account.number),
                bic=account.bic,
                bank_code=account.bank_code,
                bank_name=account.bank_name,
                country=account.country,
            )
        case VirtualAccount() as account:
            return SessionAccount(account_id=account.account_id)
        case _:
            return SessionAccount()


def _reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
