"""A visitor of the demo shop without a browser, for tests: asks as one, pays as the form does, and keeps a cookie."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from tollgate.contract.checkouts import Submission
from tollgate.flows.submit import submit_checkout
from tollgate.operations.app import App
from tollgate.payments.checkout import CheckoutKind, Script
from tollgate.sandbox.shop.pages import ROUTES
from tollgate.sandbox.simulator import make_simulator
from tollgate.sandbox.tenant import SHOP, ensure_tenant
from tollgate.values import MINUTE, FixedClock
from tollgate.web.request import OpenHandler, Reply, Request
from tollgate.web.routes import RouteTable
from unit.app_fixture import NOW, ScriptedWire, open_app

ORIGIN = "http://127.0.0.1:8080"
CARD = {
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.holder": "Jane Jones",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "123",
    "shopperResultUrl": f"{ORIGIN}/sandbox/shop/result",
}
BROWSER = {
    "acceptHeader": "text/html",
    "language": "de-AT",
    "screenHeight": "1200",
    "screenWidth": "1600",
    "timezone": "-60",
    "userAgent": "Mozilla/5.0",
    "javaEnabled": "false",
    "javascriptEnabled": "true",
    "screenColorDepth": "24",
}
DECLINED = {"card.number": "4000000000000002"}
TABLE = RouteTable(ROUTES)


@asynccontextmanager
async def open_shop_app(folder: Path) -> AsyncIterator[App]:
    """A test host with its merchant and its simulator."""
    app = await open_app(folder, ScriptedWire())
    await ensure_tenant(app.database, app.keyring, NOW)
    await app.merchants.refresh(app.database)
    simulator = make_simulator(app.database, app.keyring, ORIGIN, app.clock)
    script = Script("v1", "sha384-abc", b"script")
    yield msgspec.structs.replace(app, base_url=ORIGIN, script=script, simulator=simulator)
    await app.database.close()


async def visit(app: App, method: str, address: str, cookie: str = "", **fields: str) -> Reply:
    """Asks as a browser does; names in the path or query are found as the server finds them."""
    parts = urlsplit(address)
    match = TABLE.find(method, parts.path)
    query = [(name, value) for name, values in parse_qs(parts.query).items() for value in values]
    request = make_request(method, parts.path, cookie, [*query, *fields.items()], match.names)
    return await cast(OpenHandler, match.row.handler)(request, app)


def make_request(
    method: str, path: str, cookie: str = "", pairs: list[tuple[str, str]] | None = None, names: tuple[str, ...] = ()
) -> Request:
    headers = {b"cookie": cookie.encode(), b"accept-language": b"de-AT,de;q=0.9"}
    return Request(method=method, path=path, names=names, headers=headers, pairs=pairs or [], trace="1" * 32)


def says(reply: Reply, text: str) -> bool:
    return text in unescape(reply.body.decode())


def header(reply: Reply, name: bytes) -> str:
    return dict(reply.headers)[name].decode()


async def order(app: App, cookie: str = "", **quantities: str) -> str:
    """Returns the id of the checkout that was prepared."""
    reply = await visit(app, "POST", f"{SHOP}/checkout", cookie, **(quantities or {"mug": "2", "bag": "1"}))
    assert reply.status == 303
    return parse_qs(urlsplit(header(reply, b"location")).query)["id"][0]


async def pay(app: App, checkout_id: str, **changes: str) -> None:
    browser = {f"customer.browser.{name}": text for name, text in BROWSER.items()}
    sent = Submission(pairs=list((CARD | browser | changes).items()), address="127.0.0.1", accept=None, user_agent=None)
    await submit_checkout(app, checkout_id, CheckoutKind.PAYMENT, sent)


def name_result(checkout_id: str, path: str = "") -> str:
    query = {"id": checkout_id, "resourcePath": path or f"/v1/checkouts/{checkout_id}/payment"}
    return f"{SHOP}/result?{urlencode(query)}"


async def store_card(app: App) -> str:
    """Returns the cookie of a visitor who let the shop save a card."""
    checkout_id = await order(app)
    await pay(app, checkout_id, createRegistration="true")
    return header(await visit(app, "GET", name_result(checkout_id)), b"set-cookie").partition(";")[0]


def pass_time(app: App, minutes: int) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at += minutes * MINUTE
