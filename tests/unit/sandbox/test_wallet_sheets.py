"""The simulated sheet of a wallet makes tokens for the checkout that it is shown for, and for nobody else's page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import cast

import pytest

from tollgate.contract.checkouts import Submission
from tollgate.flows.submit import submit_checkout
from tollgate.operations.app import App
from tollgate.payments.checkout import CheckoutKind
from tollgate.sandbox.shop.orders import USUAL_CART, get_channel_of_shop, place_order
from tollgate.sandbox.wallet_sheets import CARDS, ROUTES
from tollgate.values import NotFound
from tollgate.web.request import OpenHandler, Reply
from tollgate.web.routes import RouteTable
from unit.sandbox.shop_visits import BROWSER, make_request, open_shop_app, says

pytestmark = pytest.mark.anyio

TABLE = RouteTable(ROUTES)
ORIGIN = "https://shop.example"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with open_shop_app(tmp_path) as app:
        yield app


async def visit(app: App, method: str, name: str, **fields: str) -> Reply:
    match = TABLE.find(method, f"/sandbox/wallets/{name}")
    request = make_request(method, f"/sandbox/wallets/{name}", pairs=list(fields.items()), names=match.names)
    return await cast(OpenHandler, match.row.handler)(request, app)


async def order(app: App) -> str:
    return await place_order(app, await get_channel_of_shop(app), USUAL_CART, [], "ndc")


async def pay(app: App, checkout_id: str, brand: str, name: str, token: str) -> str:
    fields = {"paymentBrand": brand, f"{name}.paymentToken": token, "shopperResultUrl": f"{ORIGIN}/result"}
    browser = {f"customer.browser.{key}": text for key, text in BROWSER.items()}
    sent = Submission(pairs=[*fields.items(), *browser.items()], address="127.0.0.1", accept=None, user_agent="x")
    return (await submit_checkout(app, checkout_id, CheckoutKind.PAYMENT, sent)).answer.code


def find_token(reply: Reply) -> str:
    found = re.search(r'data-token="([^"]*)"', reply.body.decode())
    assert found
    return unescape(found[1])


@pytest.mark.parametrize(("brand", "name"), [("APPLEPAY", "applePay"), ("GOOGLEPAY", "googlePay")])
@pytest.mark.parametrize(
    ("key", "code"), [("visa", "000.100.110"), ("master", "000.100.110"), ("declined", "800.100.152")]
)
async def test_the_token_of_a_chosen_card_pays_as_the_sheet_says(
    app: App, brand: str, name: str, key: str, code: str
) -> None:
    checkout_id = await order(app)

    shown = await visit(app, "GET", name, checkoutId=checkout_id, origin=ORIGIN)
    confirmed = await visit(app, "POST", name, checkoutId=checkout_id, origin=ORIGIN, card=key)

    assert find_token(shown) == ""
    assert all(says(shown, text) for text in ("38.50 EUR", "Gatehouse Goods", CARDS[key].label))
    assert says(confirmed, f'data-origin="{ORIGIN}"')
    assert await pay(app, checkout_id, brand, name, find_token(confirmed)) == code


async def test_nothing_is_made_without_one_of_its_cards(app: App) -> None:
    reply = await visit(app, "POST", "applePay", checkoutId=await order(app), origin=ORIGIN, card="<b>")

    assert find_token(reply) == ""
    assert says(reply, "Choose one of the cards.")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_checkout_that_is_over_or_of_nobody_has_no_sheet(app: App, method: str) -> None:
    reply = await visit(app, method, "applePay", checkoutId="8a01", origin=ORIGIN, card="visa")

    assert (reply.status, says(reply, "Nothing to pay")) == (404, True)


async def test_a_wallet_without_a_sheet_is_not_found(app: App) -> None:
    with pytest.raises(NotFound):
        await visit(app, "GET", "samsungPay", checkoutId=await order(app))


async def test_what_the_address_says_is_escaped(app: App) -> None:
    reply = await visit(app, "GET", "applePay", checkoutId=await order(app), origin='"><script>alert(1)</script>')

    assert b"<script>alert" not in reply.body
