"""A payment's request as a curl command: rebuilt from the stored payment, with masked accounts and no secret."""

from shlex import quote

from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.payments.accounts import CardSummary
from tollgate.payments.payment import Payment
from tollgate.values import is_id

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
