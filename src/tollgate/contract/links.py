"""Requests and answers about payment links, and the content of their pages. Pure."""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.results import get_result
from tollgate.catalog.shape import is_true
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer, render_result
from tollgate.payments.checkout import Checkout, LinkStatus, PaymentLink
from tollgate.payments.payment import Payment
from tollgate.values import (
    DAY,
    HOUR,
    Instant,
    Money,
    Refusal,
    add_months,
    find_link_node,
    read_hundredths,
    render_timestamp,
)

_RESULTS = {LinkStatus.EXPIRED: codes.CHECKOUT_GONE, LinkStatus.ENDED: codes.CHECKOUT_GONE}
_MONTHS = {"MONTH": 1, "YEAR": 12}


class CartLine(msgspec.Struct, frozen=True):
    name: str
    quantity: str
    money: Money | None


class LinkPage(msgspec.Struct, frozen=True, kw_only=True):
    """Holds all that the shopper sees of a link, apart from the form."""

    merchant: str
    money: Money
    lines: tuple[CartLine, ...] = ()
    logo: str = ""
    logo_width: int = 0
    logo_height: int = 0
    background: str = ""
    colours: Mapping[str, str] = {}
    """The keys are `merchant`, `amount`, `button` and `button_text`, where the merchant chose a colour."""
    terms_url: str = ""
    privacy_url: str = ""
    collects_billing: bool = False
    demands_billing: bool = False
    brand: str = ""
    locale: str = ""
    home_url: str = ""
    """The receipt leads the shopper to this address of the merchant."""
    reference: str = ""


_COLOURS = {
    "merchant": "layout.merchantNameColor",
    "amount": "layout.amountColor",
    "button": "layout.payButtonColor",
    "button_text": "layout.payButtonTextColor",
}


LINK_PATH = "/paymentlink"
"""The shopper's pages of all links live under this path."""


def make_link_url(link_id: str, base_url: str) -> str:
    return f"{base_url}{LINK_PATH}/{link_id}"


def is_link_url(url: str | None) -> bool:
    """Tells a link's page by its path: the host may have got another address since the checkout was made."""
    folder, _, link_id = (url or "").partition("?")[0].rpartition("/")
    return folder.endswith(LINK_PATH) and find_link_node(link_id) is not None


def get_link_expiry(values: Mapping[str, str], now: Instant) -> Instant:
    count, unit = int(values.get("validUntil", LIMITS.link_days)), values.get("validUntilUnit", "DAY")
    if unit in _MONTHS:
        return add_months(now, count * _MONTHS[unit])
    return now + count * (HOUR if unit == "HOUR" else DAY)


def fill_link_checkout(prepared: Mapping[str, str], url: str) -> dict[str, str]:
    """Returns what a checkout of the link is prepared with. Its shopper comes back to the link's own page."""
    kept = {name: text for name, text in prepared.items() if first_word(name) not in WORDS[Use.LINK]}
    return {**kept, "shopperResultUrl": url}


def read_link_page(prepared: Mapping[str, str], channel_name: str) -> LinkPage:
    currency = prepared["currency"]
    mandatory = is_true(prepared.get("mandatoryBilling"))
    return LinkPage(
        merchant=prepared.get("merchant.name") or channel_name,
        money=Money(read_hundredths(prepared["amount"]), currency),
        lines=tuple(_list_lines(prepared, currency)),
        logo=prepared.get("layout.logo", ""),
        logo_width=int(prepared.get("layout.logoWidth", 0)),
        logo_height=int(prepared.get("layout.logoHeight", 0)),
        background=prepared.get("layout.backgroundImage", ""),
        colours={role: prepared[name] for role, name in _COLOURS.items() if name in prepared},
        terms_url=prepared.get("termsAndConditionsUrl", ""),
        privacy_url=prepared.get("privacyPolicyUrl", ""),
        collects_billing=mandatory or is_true(prepared.get("collectBilling")),
        demands_billing=mandatory,
        brand=prepared.get("paymentBrand", ""),
        locale=prepared.get("locale", ""),
        home_url=prepared.get("shopperResultUrl", ""),
        reference=prepared.get("merchantTransactionId", ""),
    )


def _list_lines(prepared: Mapping[str, str], currency: str) -> list[CartLine]:
    prefixes = dict.fromkeys(name.rpartition(".")[0] for name in prepared if name.startswith("cart.items["))
    whole = sorted((each for each in prefixes if each.count(".") == 1), key=lambda each: int(each[11:-1]))
    return [
        CartLine(
            prepared[f"{item}.name"],
            prepared.get(f"{item}.quantity", "1"),
            _find_line_money(prepared, item, prepared.get(f"{item}.currency", currency)),
        )
        for item in whole
        if f"{item}.name" in prepared
    ]


def _find_line_money(prepared: Mapping[str, str], item: str, currency: str) -> Money | None:
    total, price, quantity = (prepared.get(f"{item}.{word}") for word in ("totalAmount", "price", "quantity"))
    if total is not None:
        return Money(read_hundredths(total), currency)
    if price is None or not (quantity or "1").isdecimal():
        return None
    return Money(read_hundredths(price) * int(quantity or "1"), currency)


def make_link_refusal(hint: str = "") -> Refusal:
    return Refusal(get_result(codes.INVALID_REQUEST), f"No payment link found for the requested id{hint}")


# ---- answers ----


class Asked(msgspec.Struct, frozen=True):
    """Holds the parts that every answer about a link has."""

    envelope: Envelope
    ndc: str
    now: Instant


def asks_for_code(values: Mapping[str, str]) -> bool:
    return is_true(values.get("createQRCode"))


def answer_new_link(link: PaymentLink, url: str, code: str, asked: Asked) -> Answer:
    """`code` is the address as a picture to scan, or empty where none was requested."""
    return _answer(asked, {"id": link.id, "link": url, **({"qrCode": code} if code else {})})


def answer_ended_link(link: PaymentLink, asked: Asked) -> Answer:
    return _answer(asked, {"id": link.id})


def answer_link(link: PaymentLink, checkout: Checkout | None, payment: Payment | None, asked: Asked) -> Answer:
    status = link.get_status(checkout, asked.now)
    code = _RESULTS.get(status) or (codes.LINK_UNOPENED if checkout is None else codes.LINK_OPENED)
    if payment is not None and payment.result_code:
        code = payment.result_code
    shown: Json = {
        "paymentLinkId": link.id,
        "entityId": link.channel_id,
        "merchantId": link.merchant_id,
        "status": int(status),
        "creationDate": render_timestamp(link.created_at),
        "validUntil": render_timestamp(link.expires_at),
    }
    if checkout is not None:
        shown |= {"checkoutId": checkout.id, "checkoutCreationDate": render_timestamp(checkout.created_at)}
    if payment is not None:
        shown["transactionId"] = payment.id
    return _answer(asked, {"paymentLinks": [{**shown, "result": render_result(get_result(code))}]})


def _answer(asked: Asked, more: Json) -> Answer:
    return encode_answer(200, asked.envelope.wrap(get_result(codes.REQUEST_SUCCEEDED), asked.ndc, asked.now, **more))
