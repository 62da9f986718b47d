"""The demo shop's pages: cart, payment form, result. They carry the strict policy that merchants are advised to send.

What the shop's server does behind them is told in `till`.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec
import orjson

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import is_success
from tollgate.operations.app import App
from tollgate.sandbox.shop import till
from tollgate.sandbox.shop.files import name_file, read_shop_file
from tollgate.sandbox.shop.goods import CURRENCY, QUANTITY_MAX, USUAL_CART, Cart, read_cart, render_price
from tollgate.sandbox.shop.receipt import make_receipt
from tollgate.sandbox.shop.switches import COOKIE, SWITCHES, Choices, read_choices, recall_choices
from tollgate.sandbox.shop.trying import BRANDS, LANGUAGES, SAMPLES, render_steps
from tollgate.sandbox.shop.visitor import find_cookie, read_cards, remember_cards
from tollgate.sandbox.tenant import SHOP
from tollgate.values import MINUTE
from tollgate.web import Access, Pages, Reply, Request, RouteRow

_CHECKOUT, _RESULT = f"{SHOP}/checkout", f"{SHOP}/result"
_PAGES = Pages(Path(__file__).parent / "pages")
_NONCE_BYTES = 16
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


class Here(msgspec.Struct, frozen=True):
    """What every page of the shop needs."""

    nonce: str
    """Lets the page's own inline script run, and no other."""
    shop: str = SHOP
    name: str = till.SHOP_NAME
    currency: str = CURRENCY

    def file(self, name: str) -> str:
        return name_file(name)

    def price(self, hundredths: int) -> str:
        return render_price(hundredths)


# ---- the cart ----


async def show_cart(request: Request, app: App) -> Reply:
    return _show_cart(request, app, USUAL_CART, fault="")


async def order_cart(request: Request, app: App) -> Reply:
    """Answered by a redirect, so that a reload does not order again."""
    cart = read_cart(request.pairs)
    if not cart.bought:
        return _show_cart(request, app, cart, fault="The cart is empty. Choose at least one thing.")
    channel, choices = await till.get_channel_of_shop(app), _recall_choices(request)
    checkout_id = await till.place_order(app, channel, cart, read_cards(request, app), choices.bank_delay_ms)
    return _go(_CHECKOUT, id=checkout_id, lang=_read_language(request))


async def forget_cards(request: Request, app: App) -> Reply:
    channel = await till.get_channel_of_shop(app)
    for stored_id in read_cards(request, app):
        await till.forget_card(app, channel, stored_id, request.trace)
    return _go(SHOP, headers=(remember_cards((), app),))


def _show_cart(request: Request, app: App, cart: Cart, fault: str) -> Reply:
    here = _look_around(app)
    page = _PAGES.render(
        "goods.html",
        here=here,
        title="Your cart",
        step="Cart",
        cart=cart,
        fault=fault,
        quantity_max=QUANTITY_MAX,
        cards=len(read_cards(request, app)),
        language=_read_language(request),
    )
    return _fence(page, app, here)


# ---- the form ----


async def show_checkout(request: Request, app: App) -> Reply:
    channel = await till.get_channel_of_shop(app)
    order = await till.find_order(app, channel, request.find("id"))
    if order is None:
        return _show_over(app, 404)
    if order.is_paid:
        # The back button, or a second window: there is nothing left to pay.
        return _go(_RESULT, id=order.id, resourcePath=order.resource_path)
    if order.checkout.is_over(app.clock.now()):
        return _show_over(app, 410)
    language = _read_language(request)
    choices = _recall_choices(request)
    options = {"locale": language or _guess_language(request), **choices.make_options()}
    here = _look_around(app)
    page = _PAGES.render(
        "checkout.html",
        here=here,
        title="Payment",
        step="Payment",
        order=order,
        cart=order.cart,
        brands=BRANDS,
        options=options,
        script_url=f"{app.base_url}/v1/paymentWidgets.js?{urlencode({'checkoutId': order.id})}",
        result_path=_name(_RESULT, lang=language),
        samples=SAMPLES,
        languages=LANGUAGES,
        language=language,
        switches=SWITCHES,
        choices=choices.by_key,
        steps=render_steps(order, channel.id, app.base_url),
    )
    return _fence(page, app, here)


async def switch(request: Request, app: App) -> Reply:
    """Keeps the visitor's choices, and ends the checkout where that was asked for."""
    channel, choices = await till.get_channel_of_shop(app), read_choices(request.pairs)
    order = await till.find_order(app, channel, request.find("id"))
    if order is not None and request.find("act") == "expire":
        await till.expire_order(app, channel, order)
    elif order is not None:
        await till.set_bank_delay(app, channel, order, choices.bank_delay_ms)
    cookie = choices.make_cookie(is_secure=app.base_url.startswith("https:"))
    named = {"id": order.id} if order is not None else {}
    return _go(_CHECKOUT, headers=(cookie,), lang=_read_language(request), **named)


def _recall_choices(request: Request) -> Choices:
    return recall_choices(find_cookie(request, COOKIE))


def _read_language(request: Request) -> str:
    wished = request.find("lang")
    return wished if wished in LANGUAGES else ""


def _guess_language(request: Request) -> str:
    """The browser's first wish; the form finds out by itself whether it speaks it."""
    first = (request.header(b"accept-language") or "").split(",")[0].partition(";")[0].strip()
    return first if _LANGUAGE.fullmatch(first) else ""


# ---- the result ----


async def show_result(request: Request, app: App) -> Reply:
    """Nothing that the browser brings along is believed: it names the checkout, and the gateway says how it ended."""
    channel = await till.get_channel_of_shop(app)
    order = await till.find_order(app, channel, request.find("id"))
    if order is None or request.find("resourcePath") != order.resource_path:
        return _show_over(app, 404)
    ending = await till.ask_ending(app, channel, order, request.trace)
    here, receipt = _look_around(app), make_receipt(order, ending)
    page = _PAGES.render(
        "result.html",
        here=here,
        step="Result",
        order=order,
        cart=order.cart,
        ending=ending,
        receipt=receipt,
        title=receipt.title,
        may_try_again=_may_try_again(app, order, ending),
        again_url=_name(_CHECKOUT, id=order.id, lang=_read_language(request)),
        json=orjson.dumps(ending.body, option=orjson.OPT_INDENT_2).decode(),
        steps=render_steps(order, channel.id, app.base_url),
    )
    reply = _fence(page, app, here)
    if ending.stored_id is None or not is_success(ending.code):
        return reply
    cookie = remember_cards([ending.stored_id, *read_cards(request, app)], app)
    return msgspec.structs.replace(reply, headers=(*reply.headers, cookie))


def _may_try_again(app: App, order: till.Order, ending: till.Ending) -> bool:
    return not is_success(ending.code) and not order.is_paid and not order.checkout.is_over(app.clock.now())


def _show_over(app: App, status: int) -> Reply:
    minutes = LIMITS.checkout_lifetime // MINUTE
    here, title = _look_around(app), "This checkout is over"
    return _fence(
        _PAGES.render("over.html", status=status, here=here, title=title, step="", minutes=minutes), app, here
    )


# ---- every page ----


def _look_around(app: App) -> Here:
    return Here(base64.b64encode(app.random_bytes(_NONCE_BYTES)).decode())


def _fence(reply: Reply, app: App, here: Here) -> Reply:
    return msgspec.structs.replace(reply, headers=_make_headers(app, here.nonce))


def _make_headers(app: App, nonce: str) -> tuple[tuple[bytes, bytes], ...]:
    """As on a merchant's page: the gateway's host wherever the form needs it, and nothing inline without the nonce."""
    parts = urlsplit(app.base_url)
    gateway = f"{parts.scheme}://{parts.netloc}"
    policy = (
        f"default-src 'none'; script-src 'self' {gateway} 'nonce-{nonce}'; style-src 'self' {gateway}; "
        f"img-src 'self' {gateway}; connect-src 'self' {gateway}; frame-src {gateway}; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    permissions = "camera=(), display-capture=(), geolocation=(), microphone=(), usb=()"
    return ((b"content-security-policy", policy.encode()), (b"permissions-policy", permissions.encode()))


def _name(path: str, **query: str) -> str:
    said = {name: text for name, text in query.items() if text}
    return f"{path}?{urlencode(said)}" if said else path


def _go(path: str, headers: tuple[tuple[bytes, bytes], ...] = (), **query: str) -> Reply:
    return Reply(303, b"", b"text/plain", ((b"location", _name(path, **query).encode()), *headers))


ROUTES = (
    RouteRow(
        method="GET",
        path=SHOP,
        operation="shop_cart",
        summary="The cart of the demo shop.",
        access=Access.OPEN,
        handler=show_cart,
    ),
    RouteRow(
        method="POST",
        path=_CHECKOUT,
        operation="shop_order",
        summary="Order the cart of the demo shop: prepares a checkout.",
        access=Access.OPEN,
        handler=order_cart,
    ),
    RouteRow(
        method="GET",
        path=_CHECKOUT,
        operation="shop_checkout",
        summary="The demo shop's page with the payment form.",
        access=Access.OPEN,
        handler=show_checkout,
    ),
    RouteRow(
        method="GET",
        path=_RESULT,
        operation="shop_result",
        summary="The demo shop's result page, which asks how the checkout ended.",
        access=Access.OPEN,
        handler=show_result,
    ),
    RouteRow(
        method="POST",
        path=f"{SHOP}/switches",
        operation="shop_switches",
        summary="Choose how the demo shop shows its form and how its bank behaves, or let a checkout expire.",
        access=Access.OPEN,
        handler=switch,
    ),
    RouteRow(
        method="POST",
        path=f"{SHOP}/forget",
        operation="shop_forget",
        summary="Forget the cards that this visitor of the demo shop has stored.",
        access=Access.OPEN,
        handler=forget_cards,
    ),
    RouteRow(
        method="GET",
        path=f"{SHOP}/files/{{version}}/{{name}}",
        operation="shop_files",
        summary="A picture, style or script of the demo shop.",
        access=Access.OPEN,
        handler=read_shop_file,
    ),
)
