"""What the demo shop's server does: prepares a checkout, knows it again, and asks how it ended.

It speaks to the flows as a merchant's request does, on the sandbox merchant's channel, and decides nothing of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import orjson

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.contract.answers import answer_payment, answer_refusal
from tollgate.contract.fields import read_fields
from tollgate.contract.shopper_urls import name_checkout_path
from tollgate.flows import checkouts
from tollgate.flows.pay import look_up
from tollgate.flows.registrations import deregister
from tollgate.operations.app import App, Call
from tollgate.operations.checkouts import find_any_checkout, open_prepared
from tollgate.payments.checkout import Checkout, CheckoutKind
from tollgate.payments.merchants import Channel
from tollgate.sandbox.shop.goods import CURRENCY, Cart, fill_cart, render_price
from tollgate.sandbox.tenant import find_tenant
from tollgate.values import Refusal

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
    """Of the script that was promised for it."""

    @property
    def id(self) -> str:
        return self.checkout.id

    @property
    def resource_path(self) -> str:
        return name_checkout_path(self.checkout.id, CheckoutKind.PAYMENT)

    @property
    def is_paid(self) -> bool:
        return self.checkout.is_paid


class Ending(msgspec.Struct, frozen=True):
    """How an order stands, as the merchant's server was told."""

    body: Mapping[str, Any]
    refusal: str
    """Why the status was not told this time; then the body is what the shop knows from before. Else empty."""

    @property
    def code(self) -> str:
        code: str = self.body["result"]["code"]
        return code

    @property
    def stored_id(self) -> str | None:
        """The card that the shopper let the merchant keep."""
        return self.body.get("registrationId")


async def get_channel_of_shop(app: App) -> Channel:
    """The strict one of the sandbox merchant, who is there as soon as a test host has started."""
    tenant = await find_tenant(app.database)
    channel = None if tenant is None else app.merchants.find_channel(tenant.entity_id)
    if channel is None or channel.is_closed:
        raise Refusal(get_result(codes.CHANNEL_CLOSED), "the sandbox merchant's channel is closed")
    return channel


async def place_order(
    app: App, channel: Channel, cart: Cart, stored_ids: Sequence[str], bank_delay_ms: str = "0"
) -> str:
    """The id of the checkout that was made for it."""
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
    said |= {f"registrations[{index}].id": stored_id for index, stored_id in enumerate(stored_ids)}
    fields = read_fields(list(said.items()), app.make_situation("checkout", channel))
    answer = orjson.loads((await checkouts.prepare_checkout(app, fields, Call(channel, "ndc"))).body)
    checkout_id: str = answer["id"]
    return checkout_id


async def set_bank_delay(app: App, channel: Channel, order: Order, delay_ms: str) -> None:
    """Lets the simulated bank answer late, or in time again; an order that is being paid keeps what it has."""
    if open_prepared(app, order.checkout).get(_BANK_DELAY, "0") == delay_ms:
        return
    fields = read_fields([(_BANK_DELAY, delay_ms)], app.make_situation("checkout_update", channel))
    with suppress(Refusal):
        await checkouts.change_checkout(app, fields, order.id, Call(channel, order.id))


async def expire_order(app: App, channel: Channel, order: Order) -> None:
    """Ends its checkout now. One that is being paid, or is paid, stays."""
    with suppress(Refusal):
        await checkouts.cancel_prepared(app, order.id, channel)


async def find_order(app: App, channel: Channel, checkout_id: str) -> Order | None:
    """Only what this shop has prepared: to ask about another program's checkout might spend it."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.channel_id != channel.id or checkout.sealed_fields is None:
        return None
    prepared = open_prepared(app, checkout)
    reference = prepared.get("merchantTransactionId", "")
    if not reference.startswith(_ORDER_PREFIX):
        return None
    promised = await checkouts.find_promised_script(app, checkout.id) or app.script
    return Order(checkout=checkout, reference=reference, cart=_recall_cart(prepared), integrity=promised.integrity)


def _recall_cart(prepared: Mapping[str, str]) -> Cart:
    keys = {name: text for name, text in prepared.items() if name.endswith("].merchantItemId")}
    return fill_cart(
        {key: int(prepared[name.replace("merchantItemId", "quantity")]) for name, key in keys.items()},
    )


async def ask_ending(app: App, channel: Channel, order: Order, ndc: str) -> Ending:
    """By the status of the checkout, which tells a success once and anything at most twice a minute.

    A merchant keeps what it was told; this shop looks up the payment again instead.
    """
    try:
        answer = await checkouts.read_checkout(app, order.id, CheckoutKind.PAYMENT, channel)
    except Refusal as refusal:
        refused = orjson.loads(answer_refusal(refusal, app.envelope, ndc, app.clock.now()).body)
        known = await _recall_ending(app, channel, order)
        return Ending(known or refused, _describe(refused))
    return Ending(orjson.loads(answer.body), "")


async def _recall_ending(app: App, channel: Channel, order: Order) -> Mapping[str, Any] | None:
    checkout = await find_any_checkout(app, order.id) or order.checkout
    payment = await look_up(app, channel.merchant_id, checkout.subject_id or "")
    if payment is None:
        return None
    known: Mapping[str, Any] = orjson.loads(answer_payment(payment, app.envelope).body)
    return known


def _describe(answer: Mapping[str, Any]) -> str:
    return f"{answer['result']['code']}: {answer['result']['description']}"


async def forget_card(app: App, channel: Channel, stored_id: str, ndc: str) -> None:
    fields = read_fields([], app.make_situation("registration_removal", channel))
    try:
        await deregister(app, fields, stored_id, Call(channel, ndc))
    except Refusal:
        # Somebody has removed it already, and that is all that was wished.
        return
