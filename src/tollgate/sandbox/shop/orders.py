"""The demo shop's products, orders and receipts, as a merchant's server would handle them.

No page is rendered here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec
import orjson

from tollgate.catalog import brands, codes, results
from tollgate.contract import answers, shopper_urls
from tollgate.contract.fields import read_fields
from tollgate.flows import checkouts, pay, registrations
from tollgate.operations.app import App, Call
from tollgate.operations.checkouts import find_any_checkout, open_prepared
from tollgate.payments.checkout import Checkout, CheckoutKind
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import ABANDONED_DETAIL, LATE_DETAIL
from tollgate.sandbox.tenant import find_tenant
from tollgate.values import Refusal

CURRENCY = "EUR"
QUANTITY_MAX = 9


class Product(msgspec.Struct, frozen=True):
    key: str
    name: str
    text: str
    price: int
    usual_quantity: int
    """The quantity in a new visitor's cart."""


PRODUCTS = (
    Product("mug", "Enamel mug", "Survives the office kitchen.", 1450, 2),
    Product("notebook", "Dotted notebook", "Ninety-six pages for drafts.", 950, 1),
    Product("bag", "Canvas bag", "Carries both of the others.", 1900, 0),
)


class Line(msgspec.Struct, frozen=True):
    """One row of a cart."""

    product: Product
    quantity: int

    @property
    def sum(self) -> int:
        return self.product.price * self.quantity


class Cart(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]

    @property
    def total(self) -> int:
        return sum(line.sum for line in self.lines)

    @property
    def bought(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.quantity)


def fill_cart(quantities: Mapping[str, int]) -> Cart:
    return Cart(tuple(Line(product, quantities.get(product.key, 0)) for product in PRODUCTS))


USUAL_CART = fill_cart({product.key: product.usual_quantity for product in PRODUCTS})


def read_cart(pairs: Iterable[tuple[str, str]]) -> Cart:
    """Reads the quantities of a form; anything but one digit counts as zero."""
    return fill_cart({name: int(text) for name, text in pairs if re.fullmatch(f"[0-{QUANTITY_MAX}]", text)})


def render_price(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"


SHOP_NAME = "Gatehouse Goods"

_ORDER_PREFIX = "demo-shop-"
_REFERENCE_BYTES = 4
_BANK_DELAY = "customParameters[simulatorDelay]"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A checkout that this shop has prepared."""

    checkout: Checkout
    reference: str
    cart: Cart
    integrity: str
    """The hash of the script that was promised for it."""

    @property
    def id(self) -> str:
        return self.checkout.id

    @property
    def resource_path(self) -> str:
        return shopper_urls.make_checkout_path(self.checkout.id, CheckoutKind.PAYMENT)

    @property
    def is_paid(self) -> bool:
        return self.checkout.is_paid


class Ending(msgspec.Struct, frozen=True):
    """The result of an order, as the merchant's server got it."""

    body: Mapping[str, Any]
    refusal: str
    """The reason why the status was refused this time; the body is then an earlier answer. Else empty."""

    @property
    def code(self) -> str:
        code: str = self.body["result"]["code"]
        return code

    @property
    def payment_id(self) -> str:
        """The payment that was made; empty where there is none."""
        return self.body.get("id", "") if _is_payment(self.body) else ""

    @property
    def registration_id(self) -> str | None:
        """The registration that the shopper agreed to."""
        return self.body.get("registrationId")


async def get_channel_of_shop(app: App) -> Channel:
    """Returns the sandbox merchant's strict channel, which exists once a test host has started."""
    tenant = await find_tenant(app.database)
    channel = None if tenant is None else app.merchants.find_channel(tenant.entity_id)
    if channel is None or channel.is_closed:
        raise Refusal(results.get_result(codes.CHANNEL_CLOSED), "the sandbox merchant's channel is closed")
    return channel


async def place_order(
    app: App, channel: Channel, cart: Cart, registration_ids: Sequence[str], ndc: str, bank_delay_ms: str = "0"
) -> str:
    """Prepares a checkout for the cart and returns its id."""
    said = {
        "amount": render_price(cart.total),
        "currency": CURRENCY,
        "paymentType": "DB",
        "merchantTransactionId": f"{_ORDER_PREFIX}{app.random_bytes(_REFERENCE_BYTES).hex()}",
        "merchant.name": SHOP_NAME,
    }
    if bank_delay_ms != "0":
        said[_BANK_DELAY] = bank_delay_ms
    for index, line in enumerate(cart.bought):
        item = f"cart.items[{index}]"
        said |= {
            f"{item}.merchantItemId": line.product.key,
            f"{item}.name": line.product.name,
            f"{item}.quantity": str(line.quantity),
            f"{item}.price": render_price(line.product.price),
        }
    said |= {f"registrations[{index}].id": registration_id for index, registration_id in enumerate(registration_ids)}
    fields = read_fields(list(said.items()), app.make_situation("create_checkout", channel))
    answer = orjson.loads((await checkouts.prepare_checkout(app, fields, Call(channel, ndc))).body)
    checkout_id: str = answer["id"]
    return checkout_id


async def set_bank_delay(app: App, channel: Channel, order: Order, delay_ms: str) -> None:
    """Lets the simulated bank answer late, or in time again; an order that is being paid keeps what it has."""
    if open_prepared(app, order.checkout).get(_BANK_DELAY, "0") == delay_ms:
        return
    fields = read_fields([(_BANK_DELAY, delay_ms)], app.make_situation("update_checkout", channel))
    with suppress(Refusal):
        await checkouts.change_checkout(app, fields, order.id, Call(channel, order.id))


async def expire_order(app: App, channel: Channel, order: Order) -> None:
    """Cancels the checkout of an order, unless it is being paid or is paid."""
    with suppress(Refusal):
        await checkouts.cancel_prepared(app, order.id, channel)


async def find_order(app: App, channel: Channel, checkout_id: str) -> Order | None:
    """Finds an order of this shop; reading another program's checkout might use up its success."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.channel_id != channel.id or checkout.sealed_fields is None:
        return None
    prepared = open_prepared(app, checkout)
    reference = prepared.get("merchantTransactionId", "")
    if not reference.startswith(_ORDER_PREFIX):
        return None
    promised = await checkouts.find_promised_script(app, checkout.id) or app.script
    keys = {name: text for name, text in prepared.items() if name.endswith("].merchantItemId")}
    cart = fill_cart({key: int(prepared[name.replace("merchantItemId", "quantity")]) for name, key in keys.items()})
    return Order(checkout=checkout, reference=reference, cart=cart, integrity=promised.integrity)


async def ask_ending(app: App, channel: Channel, order: Order, ndc: str) -> Ending:
    """Reads the status of the checkout, which returns a success once and anything at most twice a minute.

    A merchant saves that answer; this shop looks up the payment again instead.
    """
    try:
        answer = await checkouts.read_checkout(app, order.id, CheckoutKind.PAYMENT, channel)
    except Refusal as refusal:
        refused = orjson.loads(answers.answer_refusal(refusal, app.envelope, ndc, app.clock.now()).body)
        checkout = await find_any_checkout(app, order.id) or order.checkout
        payment = await pay.look_up(app, channel.merchant_id, checkout.subject_id or "")
        known = refused if payment is None else orjson.loads(answers.answer_payment(payment, app.envelope).body)
        return Ending(known, f"{refused['result']['code']}: {refused['result']['description']}")
    return Ending(orjson.loads(answer.body), "")


async def forget_card(app: App, channel: Channel, registration_id: str, ndc: str) -> None:
    fields = read_fields([], app.make_situation("delete_registration", channel))
    # It may have been deleted before.
    with suppress(Refusal):
        await registrations.deregister(app, fields, registration_id, Call(channel, ndc))


_ANSWER_TIME = "%Y-%m-%d %H:%M:%S%z"


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    mood: str
    """good, open or bad: how the page looks."""
    title: str
    text: str
    amount: str
    facts: tuple[tuple[str, str], ...]
    """Label and value, in the order in which they are read."""


def make_receipt(order: Order, ending: Ending) -> Receipt:
    mood, title, text = _render_outcome(order, ending)
    facts = (
        ("Merchant", SHOP_NAME),
        ("Paid with" if mood == "good" else "Payment method", _render_method_name(ending.body)),
        ("Date", _render_time(ending.body)),
        ("Order number", order.reference),
        ("Transaction number", ending.payment_id),
    )
    return Receipt(
        mood=mood,
        title=title,
        text=text,
        amount=f"{render_price(order.cart.total)} {CURRENCY}",
        facts=tuple((label, value) for label, value in facts if value),
    )


def _render_outcome(order: Order, ending: Ending) -> tuple[str, str, str]:
    if results.is_success(ending.code):
        return "good", "Thank you, it is paid", "Your order is on its way to you, or would be if this were a real shop."
    if results.is_pending(ending.code):
        if order.checkout.subject_id:
            return "open", "Not decided yet", "Your payment is being processed. It may be paid any moment."
        return "open", "Nothing is paid yet", "You have not been charged."
    details = ending.body.get("resultDetails", {})
    if ending.code == codes.ACQUIRER_SILENT or not details.keys().isdisjoint({LATE_DETAIL, ABANDONED_DETAIL}):
        return "bad", "It was not paid", "The payment was not completed. If anything was taken, you will get it back."
    return "bad", "It was not paid", "You have not been charged."


def _is_payment(body: Mapping[str, Any]) -> bool:
    return "paymentBrand" in body


def _render_method_name(body: Mapping[str, Any]) -> str:
    brand = brands.find_brand(body.get("paymentBrand", ""))
    if brand is None:
        return ""
    card, bank = body.get("card", {}), body.get("bankAccount", {})
    tail = card.get("last4Digits") or bank.get("iban", "")[-4:]
    return f"{brand.label} •••• {tail}" if tail else brand.label


def _render_time(body: Mapping[str, Any]) -> str:
    """Renders a time like `17 November 2026, 14:05 UTC`."""
    if not _is_payment(body):
        return ""
    moment = datetime.strptime(body["timestamp"], _ANSWER_TIME)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
