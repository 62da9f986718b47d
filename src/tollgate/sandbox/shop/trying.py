"""What visitors of the demo shop try: accounts that end in different ways, the form's languages, and code to copy.

An access token stands in none of it: others may reach a test host, and its owner has been shown the token.
"""

from __future__ import annotations

import msgspec

from tollgate.sandbox.shop.goods import CURRENCY, render_price
from tollgate.sandbox.shop.till import Order

BRANDS = "VISA MASTER AMEX APPLEPAY GOOGLEPAY PAYPAL DIRECTDEBIT_SEPA"


class Sample(msgspec.Struct, frozen=True):
    label: str
    number: str
    shown: str


SAMPLES = (
    Sample("Success", "4200000000000000", "4200 0000 0000 0000"),
    Sample("Success, Mastercard", "5454545454545454", "5454 5454 5454 5454"),
    Sample("Decline", "4000000000000002", "4000 0000 0000 0002"),
    Sample("3-D Secure challenge", "4711100000000000", "4711 1000 0000 0000"),
    Sample("IBAN", "DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
)

LANGUAGES = {
    "ar": "العربية",
    "bg": "Български",
    "cz": "Čeština",
    "dk": "Dansk",
    "de": "Deutsch",
    "gr": "Ελληνικά",
    "en": "English",
    "es": "Español",
    "fr": "Français",
    "it": "Italiano",
    "hu": "Magyar",
    "nl": "Nederlands",
    "no": "Norsk",
    "pl": "Polski",
    "pt": "Português",
    "ro": "Română",
    "ru": "Русский",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "fi": "Suomi",
    "se": "Svenska",
    "tr": "Türkçe",
    "ko": "한국어",
    "cn": "简体中文",
    "ja": "日本語",
}
"""As the payment form knows them, each by its own name."""


class Write(msgspec.Struct, frozen=True):
    title: str
    text: str
    code: str


def render_steps(order: Order, entity_id: str, base_url: str) -> tuple[Write, ...]:
    """The three things a shop does, with the ids of this visit."""
    return (
        Write(
            "Your server prepares the checkout",
            "The amount is decided here, where no shopper can change it. The answer has the id and the script's hash.",
            f"""\
curl {base_url}/v1/checkouts \\
  -H "Authorization: Bearer $TOKEN" \\
  -d entityId={entity_id} \\
  -d amount={render_price(order.cart.total)} -d currency={CURRENCY} -d paymentType=DB \\
  -d integrity=true""",
        ),
        Write(
            "Your page shows the form",
            "The card number is typed into frames of the gateway, so your page never sees it.",
            f"""\
<script src="{base_url}/v1/paymentWidgets.js?checkoutId={order.id}"
  integrity="{order.integrity}"
  crossorigin="anonymous"></script>
<form action="/result" class="paymentWidgets"
  data-brands="{BRANDS}"></form>""",
        ),
        Write(
            "Your server asks how it ended",
            "The shopper comes back to your result page with id and resourcePath. A success is told once, so keep it.",
            f"""\
curl -H "Authorization: Bearer $TOKEN" \\
  "{base_url}{order.resource_path}?entityId={entity_id}\"""",
        ),
    )
