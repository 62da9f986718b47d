"""The choices of a visitor of the demo shop, and the cookies that hold them.

Orders are placed elsewhere.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tollgate.operations.app import App
from tollgate.sandbox.shop.orders import CURRENCY, Order, render_price
from tollgate.sandbox.tenant import SHOP
from tollgate.values import is_id
from tollgate.vault.keyring import KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed, seal
from tollgate.web.request import Request

COOKIE = "tollgate_shop_switches"

_COOKIE_S = 30 * 24 * 3600
_BETWEEN = "."
_SLOW_BANK_MS = "6000"


class Switch(msgspec.Struct, frozen=True):
    key: str
    label: str
    choices: Mapping[str, str]
    """Each choice has a name to show; the first one is the default."""

    @property
    def usual(self) -> str:
        return next(iter(self.choices))

    def read(self, text: str) -> str:
        return text if text in self.choices else self.usual


SWITCHES = (
    Switch("layout", "Layout", {"accordion": "Accordion", "classic": "Classic"}),
    Switch("style", "Style", {"card": "Card", "plain": "Plain", "logos": "Logos", "none": "None"}),
    Switch("colours", "Colours", {"shop": "Shop", "forest": "Forest", "plum": "Plum", "ink": "Ink"}),
    Switch("cards", "Stored cards", {"on": "On", "off": "Off"}),
    Switch("bank", "Bank", {"usual": "Usual", "slow": "Slow"}),
)


class Choices(msgspec.Struct, frozen=True):
    """One choice of each switch."""

    by_key: Mapping[str, str]

    @property
    def bank_delay_ms(self) -> str:
        """The delay of the simulated bank, as its override is written."""
        return _SLOW_BANK_MS if self.by_key["bank"] == "slow" else "0"

    def make_options(self) -> dict[str, object]:
        """Returns the choices as options of the form."""
        shows_cards = self.by_key["cards"] == "on"
        return {
            "layout": self.by_key["layout"],
            "style": self.by_key["style"],
            "showOneClickWidget": shows_cards,
            **({"registrations": {}} if shows_cards else {}),
        }

    def make_cookie(self, *, is_secure: bool) -> tuple[bytes, bytes]:
        value = _BETWEEN.join(self.by_key[switch.key] for switch in SWITCHES)
        secure = "; Secure" if is_secure else ""
        return (
            b"set-cookie",
            f"{COOKIE}={value}; Path={SHOP}; Max-Age={_COOKIE_S}; HttpOnly; SameSite=Lax{secure}".encode(),
        )


def read_choices(pairs: Iterable[tuple[str, str]]) -> Choices:
    """Reads the choices that a form sent; anything else than a known choice is the default."""
    said = dict(pairs)
    return Choices({switch.key: switch.read(said.get(switch.key, "")) for switch in SWITCHES})


def recall_choices(cookie: str) -> Choices:
    texts = cookie.split(_BETWEEN) if cookie.count(_BETWEEN) == len(SWITCHES) - 1 else [""] * len(SWITCHES)
    return read_choices(zip((switch.key for switch in SWITCHES), texts, strict=True))


CARDS_MAX = 3

_NAME = "tollgate_shop"
_OWNER = "demo shop visitor"
_LENGTH_MAX = 1024


def read_cards(request: Request, app: App) -> list[str]:
    """Reads the registrations of this visitor, newest first; a forged cookie has none."""
    sealed = read_cookie(request, _NAME)
    if not sealed or len(sealed) > _LENGTH_MAX:
        return []
    try:
        raw = base64.b64decode(sealed.encode() + b"=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
        ids = open_sealed(raw, owner=_OWNER, keyring=app.keyring).decode()
    except (binascii.Error, UnicodeError, EnvelopeError, KeyringError):
        return []
    return [registration_id for registration_id in ids.split() if is_id(registration_id)]


def remember_cards(registration_ids: Sequence[str], app: App) -> tuple[bytes, bytes]:
    """Returns the header that sets the cookie, or removes it if there are no registrations."""
    newest = list(dict.fromkeys(registration_ids))[:CARDS_MAX]
    sealed = (
        seal(" ".join(newest).encode(), owner=_OWNER, keyring=app.keyring, random_bytes=app.random_bytes)
        if newest
        else b""
    )
    value = base64.urlsafe_b64encode(sealed).decode().rstrip("=")
    secure = "; Secure" if app.base_url.startswith("https:") else ""
    age = _COOKIE_S if newest else 0
    cookie = f"{_NAME}={value}; Path={SHOP}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", cookie.encode()


def read_cookie(request: Request, wanted: str) -> str:
    pairs = (part.strip().partition("=") for part in (request.header(b"cookie") or "").split(";"))
    return next((value for name, _, value in pairs if name == wanted), "")


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
"""The languages of the payment form, each by its own name."""


class GuideStep(msgspec.Struct, frozen=True):
    """One step of the integration that the shop's page explains."""

    title: str
    text: str
    code: str


def render_steps(order: Order, entity_id: str, base_url: str) -> tuple[GuideStep, ...]:
    """Returns the three steps of an integration, with the ids of this checkout."""
    return (
        GuideStep(
            "Your server prepares the checkout",
            "The amount is decided here, where no shopper can change it. The answer has the id and the script's hash.",
            f"""\
curl {base_url}/v1/checkouts \\
  -H "Authorization: Bearer $TOKEN" \\
  -d entityId={entity_id} \\
  -d amount={render_price(order.cart.total)} -d currency={CURRENCY} -d paymentType=DB \\
  -d integrity=true""",
        ),
        GuideStep(
            "Your page shows the form",
            "The card number is typed into frames of the gateway, so your page never sees it.",
            f"""\
<script src="{base_url}/v1/paymentWidgets.js?checkoutId={order.id}"
  integrity="{order.integrity}"
  crossorigin="anonymous"></script>
<form action="/result" class="paymentWidgets"
  data-brands="{BRANDS}"></form>""",
        ),
        GuideStep(
            "Your server asks how it ended",
            "The shopper comes back to your result page with id and resourcePath. A success is told once, so keep it.",
            f"""\
curl -H "Authorization: Bearer $TOKEN" \\
  "{base_url}{order.resource_path}?entityId={entity_id}\"""",
        ),
    )
