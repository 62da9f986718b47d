"""A stored payment for people: its parameters in groups, its proof of 3-D Secure, and its request as a command.

Accounts are masked, and no secret is shown.
"""

from collections.abc import Mapping
from shlex import quote

import msgspec

from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.payments.accounts import CardSummary
from tollgate.payments.payment import Payment
from tollgate.values import is_id

_GROUPS = (
    ("Customer", ("customer",)),
    ("Billing address", ("billing",)),
    ("Shipping address", ("shipping",)),
    ("Cart", ("cart",)),
    ("Custom parameters", ("customParameters",)),
)
_SHOWN = frozenset(
    {
        "entityId",
        "paymentType",
        "paymentBrand",
        "amount",
        "currency",
        "merchantTransactionId",
        "lifecycleId",
        "testMode",
    }
)
"""Parameters that the page shows among the facts of the payment."""
_PROOF = "threeDSecure."
_SECRET_PROOFS = frozenset({"threeDSecure.verificationId"})
_HIDDEN_DIGITS = "******"
_CONTINUED = " \\\n  "


def render_number(card: CardSummary) -> str:
    """Renders the number of a card as it may be shown: `420000******0000`."""
    return f"{card.bin}{_HIDDEN_DIGITS}{card.last_digits}"


def render_curl(payment: Payment, base_url: str) -> str | None:
    """Renders the command; None for what the gateway recorded without a request of the merchant."""
    if PAYMENT_TYPES[payment.payment_type].role is Role.SYSTEM:
        return None
    path = "/v1/payments"
    if payment.referenced_id is not None and is_id(payment.referenced_id):
        path += f"/{payment.referenced_id}"
    fields = {
        "entityId": payment.channel_id,
        "paymentType": payment.payment_type,
        "amount": payment.money.render(),
        "currency": payment.money.currency,
    }
    if payment.referenced_id is None:
        fields["paymentBrand"] = payment.brand
    if payment.card is not None:
        fields |= {
            "card.number": render_number(payment.card),
            "card.expiryMonth": payment.card.expiry_month,
            "card.expiryYear": payment.card.expiry_year,
        }
        if payment.card.holder:
            fields["card.holder"] = payment.card.holder
    if payment.test_mode is not None:
        fields["testMode"] = payment.test_mode
    fields |= {name: text for name, text in payment.echo.items() if name not in fields}
    lines = [f"curl {quote(base_url + path)}", '-H "Authorization: Bearer $TOKEN"']
    lines += [f"--data-urlencode {quote(f'{name}={text}')}" for name, text in fields.items() if text]
    return _CONTINUED.join(lines)


class FactGroup(msgspec.Struct, frozen=True):
    title: str
    facts: Mapping[str, str]


def group_echo(echo: Mapping[str, str]) -> list[FactGroup]:
    """Groups the parameters as the merchant sent them, by the first word of their names."""
    groups = []
    left = dict(echo)
    for title, words in _GROUPS:
        own = {name: text for name, text in left.items() if name.replace("[", ".").partition(".")[0] in words}
        groups.append(FactGroup(title, own))
        left = {name: text for name, text in left.items() if name not in own}
    others = {name: text for name, text in left.items() if name not in _SHOWN and not name.startswith("card.")}
    groups.append(FactGroup("Other parameters", others))
    return [group for group in groups if group.facts]


def list_proof(details: Mapping[str, str]) -> dict[str, str]:
    """Lists what is known of the 3-D Secure authentication of a payment; the proof itself is hidden."""
    return {
        name.removeprefix(_PROOF): "***" if name in _SECRET_PROOFS else text
        for name, text in details.items()
        if name.startswith(_PROOF)
    }
