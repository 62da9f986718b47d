"""The redirect connector: a session at a bank or provider, on whose page the shopper decides. No page is shown here."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.connectors import acquiring
from tollgate.connectors.exchange import Exchange, Original, make_request
from tollgate.payments.accounts import BankAccount, VirtualAccount
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

SESSIONS = "/v1/sessions"
SESSION_INQUIRIES = "/v1/session-inquiries"
SESSION_CANCELLATIONS = "/v1/session-cancellations"

TRANSFER = "transfer"
"""Unfinished sessions of this product expire with the code of a bank transfer."""

_Address = Annotated[str, msgspec.Meta(max_length=2048)]


class SessionAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The shopper's account as far as the merchant knows it; often no more than its country."""

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
    """The page sends the shopper there when it is done; what the browser brings proves nothing, so the gateway asks."""
    statement: str
    merchant: str = ""
    """The shopper knows by this name who is paid."""
    reference: str
    """A shopper who pays by hand writes this on the transfer."""
    account: SessionAccount = SessionAccount()
    details: dict[str, Any] | None = None
    """The same as in a charge of a card."""


class FieldReply(msgspec.Struct, frozen=True):
    name: acquiring.ShortText
    value: _Address


class ForwardReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The address to which the shopper goes next, and the fields to send there."""

    url: _Address
    method: Literal["GET", "POST"] = "GET"
    parameters: Annotated[tuple[FieldReply, ...], msgspec.Meta(max_length=50)] = ()


class ProviderAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The account that a prepayment goes to, or the one that the shopper paid from."""

    holder: acquiring.ShortText = ""
    iban: acquiring.ShortText = ""
    bic: acquiring.ShortText = ""
    bank_name: acquiring.ShortText = ""
    account_id: acquiring.ShortText = ""
    reference: acquiring.ShortText = ""
    due: acquiring.ShortText = ""
    barcode: acquiring.ShortText = ""


class SessionReply(acquiring.AcquirerReply, frozen=True, kw_only=True, omit_defaults=True):
    """The statuses are those of an acquirer, and redirect, account, cancelled and expired."""

    redirect: ForwardReply | None = None
    account: ProviderAccount | None = None
    product: acquiring.ShortText = ""


def make_session(order: Order, key: str, back_url: str) -> SessionMessage:
    return SessionMessage(
        key=key,
        type=acquiring.CHARGE_TYPES[order.payment_type],
        amount=acquiring.to_minor_units(order.money),
        currency=order.money.currency,
        brand=order.brand,
        back_url=back_url,
        statement=order.statement,
        merchant=order.merchant_name,
        reference=order.short_id,
        account=_make_account(order),
        details=acquiring.describe_order(ConnectorName.REDIRECT, order),
    )


def _make_account(order: Order) -> SessionAccount:
    match order.account:
        case BankAccount() as account:
            return SessionAccount(
                holder=account.holder,
                iban=acquiring.reveal(account.iban),
                number=acquiring.reveal(account.number),
                bic=account.bic,
                bank_code=account.bank_code,
                bank_name=account.bank_name,
                country=account.country,
            )
        case VirtualAccount() as account:
            return SessionAccount(account_id=account.account_id)
        case _:
            return SessionAccount()


_EXPIRED_BY_PRODUCT = {TRANSFER: codes.TRANSFER_EXPIRED}

# A provider may send the shopper to the same addresses as a merchant: the web or an app, and no script.
_may_lead_to = PARAMETERS["shopperResultUrl"].shape.accepts

_SHOWN_ENDS = 4


def charge(order: Order, attempt: Payment, approved_code: str, *, back_url: str = "") -> Exchange:
    """Opens a session; what the shopper decides on its page is asked for later."""
    key = attempt.id
    request = make_request(SESSIONS, make_session(order, key, back_url), key, order.simulator_overrides)
    return acquiring.perform(PROVIDER, request, approved_code, attempt.money)


def read_session_verdict(reply: SessionReply, approved_code: str) -> Verdict:
    match reply.status:
        case "redirect" if reply.redirect is not None and _may_lead_to(reply.redirect.url):
            return _make_verdict(reply, Outcome.WAITING, codes.PENDING, _render_forward(reply.redirect))
        case "account" if reply.account is not None and reply.account != ProviderAccount():
            return _make_verdict(reply, Outcome.APPROVED, approved_code, _render_receiver(reply.account))
        case "approved" if reply.account is not None:
            return _make_verdict(reply, Outcome.APPROVED, approved_code, _render_payer(reply.account))
        case "cancelled":
            return _make_verdict(reply, Outcome.DECLINED, codes.SHOPPER_CANCELLED)
        case "expired":
            return _make_verdict(
                reply, Outcome.DECLINED, _EXPIRED_BY_PRODUCT.get(reply.product, codes.SHOPPER_TIMED_OUT)
            )
        case _:
            # A redirect without a usable address ends here too: nobody could ever finish the session.
            return acquiring.read_verdict(reply, approved_code)


PROVIDER = acquiring.Dialect(
    reversals=SESSION_CANCELLATIONS,
    inquiries=SESSION_INQUIRIES,
    reply=SessionReply,
    read_verdict=read_session_verdict,
    undone=acquiring.ACQUIRER.undone | {"cancelled"},
)


def reverse(original: Original) -> Exchange:
    """Cancels a session. A later payment of its chain never had one, and is undone like any other transaction."""
    if original.payment.referenced_id is not None:
        return acquiring.reverse(acquiring.ACQUIRER, original)
    return acquiring.reverse(PROVIDER, original)


def inquire(original: Original, approved_code: str) -> Exchange:
    """Asks for a session, or for a later payment of its chain."""
    if original.payment.referenced_id is not None:
        return acquiring.inquire(acquiring.ACQUIRER, original, approved_code)
    return acquiring.inquire(PROVIDER, original, approved_code)


follow_up = partial(acquiring.follow_up, ConnectorName.REDIRECT)
repeat = partial(acquiring.repeat, ConnectorName.REDIRECT)


def _make_verdict(reply: SessionReply, outcome: Outcome, code: str, more: Mapping[str, str] = {}) -> Verdict:
    return Verdict(outcome=outcome, code=code, details={**acquiring.describe(reply), **more})


def _render_forward(forward: ForwardReply) -> dict[str, str]:
    named = {"redirect.url": forward.url, "redirect.method": forward.method}
    for place, field in enumerate(forward.parameters):
        named[f"redirect.parameters[{place}].name"] = field.name
        named[f"redirect.parameters[{place}].value"] = field.value
    return named


def _render_receiver(account: ProviderAccount) -> dict[str, str]:
    """Shows the whole account, because the shopper has to know it to pay into it."""
    plain = {"PaymentReference": account.reference, "DueDate": account.due, "Barcode": account.barcode}
    return _render_bank_account(account, account.iban) | {name: value for name, value in plain.items() if value}


def _render_payer(account: ProviderAccount) -> dict[str, str]:
    if account.account_id:
        return _render_members("virtualAccount", accountId=account.account_id, holder=account.holder)
    return _render_bank_account(account, _hide_middle(account.iban))


def _render_bank_account(account: ProviderAccount, iban: str) -> dict[str, str]:
    return _render_members("bankAccount", holder=account.holder, iban=iban, bic=account.bic, bankName=account.bank_name)


def _render_members(structure: str, **members: str) -> dict[str, str]:
    """Returns the answer's fields of one structure, without those that the provider left out."""
    return {f"{structure}.{name}": value for name, value in members.items() if value}


def _hide_middle(iban: str) -> str:
    """Shows the ends by which its owner knows an account, and nothing of one that is no longer than both."""
    hidden = len(iban) - 2 * _SHOWN_ENDS
    return iban[:_SHOWN_ENDS] + "*" * hidden + iban[-_SHOWN_ENDS:] if hidden > 0 else "*" * len(iban)
