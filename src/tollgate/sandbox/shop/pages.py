"""The demo shop's pages: cart, payment form and result, with the headers that merchants are advised to send.

Orders are placed and read in `orders`.
"""

import re
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import orjson

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import is_success
from tollgate.operations.app import App
from tollgate.sandbox.shop import arrivals, options, orders
from tollgate.sandbox.tenant import SHOP
from tollgate.values import MINUTE, is_id
from tollgate.web.pages.rendering import Pages, StaticFiles, make_form_page_headers, make_nonce
from tollgate.web.request import Access, Reply, Request, Routes, see_other

_CHECKOUT, _RESULT, _ARRIVAL = f"{SHOP}/checkout", f"{SHOP}/result", f"{SHOP}/arrival"
_PAGES = Pages(Path(__file__).parent / "pages")
_FILES = StaticFiles(Path(__file__).parent / "files", f"{SHOP}/files")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


ROUTES = Routes()
ROUTES.add("GET", f"{SHOP}/files/{{hash}}/{{name}}", "shop_files", Access.OPEN)(_FILES.answer)


class Here(msgspec.Struct, frozen=True):
    """The values that every page of the shop needs."""

    nonce: str
    """Lets the page's own inline script run, and no other."""
    shop: str = SHOP
    name: str = orders.SHOP_NAME
    currency: str = orders.CURRENCY

    def file(self, name: str) -> str:
        return _FILES.get_path(name)

    def price(self, hundredths: int) -> str:
        return orders.render_price(hundredths)


# ---- the cart ----


@ROUTES.add("GET", SHOP, "shop_cart", Access.OPEN)
async def show_cart(request: Request, app: App) -> Reply:
    """Shows the cart of the demo shop."""
    return _show_cart(request, app, orders.USUAL_CART, fault="")


@ROUTES.add("POST", _CHECKOUT, "shop_order", Access.OPEN)
async def order_cart(request: Request, app: App) -> Reply:
    """Prepares a checkout for the cart; the answer is a redirect, so that a reload does not order again."""
    cart = orders.read_cart(request.pairs)
    if not cart.bought:
        return _show_cart(request, app, cart, fault="The cart is empty. Choose at least one thing.")
    channel, choices = await orders.get_channel_of_shop(app), _recall_choices(request)
    await arrivals.ensure_webhook(app, channel)
    checkout_id = await orders.place_order(
        app, channel, cart, options.read_cards(request, app), request.trace, choices.bank_delay_ms
    )
    return _go(_CHECKOUT, id=checkout_id, lang=_read_language(request))


@ROUTES.add("POST", f"{SHOP}/forget", "shop_forget", Access.OPEN)
async def forget_cards(request: Request, app: App) -> Reply:
    """Deletes the registrations of this visitor of the demo shop."""
    channel = await orders.get_channel_of_shop(app)
    for registration_id in options.read_cards(request, app):
        await orders.forget_card(app, channel, registration_id, request.trace)
    return _go(SHOP, headers=(options.remember_cards((), app),))


def _show_cart(request: Request, app: App, cart: orders.Cart, fault: str) -> Reply:
    here = _look_around(app)
    page = _PAGES.render(
        "goods.html",
        here=here,
        title="Your cart",
        step="Cart",
        cart=cart,
        fault=fault,
        quantity_max=orders.QUANTITY_MAX,
        cards=len(options.read_cards(request, app)),
        language=_read_language(request),
    )
    return _add_headers(page, app, here)


# ---- the form ----


@ROUTES.add("GET", _CHECKOUT, "shop_checkout", Access.OPEN)
async def show_checkout(request: Request, app: App) -> Reply:
    """Shows the demo shop's page with the payment form."""
    channel = await orders.get_channel_of_shop(app)
    order = await orders.find_order(app, channel, request.find("id"))
    if order is None:
        return _show_over(app, 404)
    if order.is_paid:
        # The back button, or a second window: there is nothing left to pay.
        return _go(_RESULT, id=order.id, resourcePath=order.resource_path)
    if order.checkout.is_over(app.clock.now()):
        return _show_over(app, 410)
    language = _read_language(request)
    choices = _recall_choices(request)
    form_options = {"locale": language or _guess_language(request), **choices.make_options()}
    here = _look_around(app)
    page = _PAGES.render(
        "checkout.html",
        here=here,
        title="Payment",
        step="Payment",
        order=order,
        cart=order.cart,
        brands=options.BRANDS,
        options=form_options,
        script_url=f"{app.base_url}/v1/paymentWidgets.js?{urlencode({'checkoutId': order.id})}",
        result_path=_make_url(_RESULT, lang=language),
        samples=options.SAMPLES,
        languages=options.LANGUAGES,
        language=language,
        switches=options.SWITCHES,
        choices=choices.by_key,
        steps=options.render_steps(order, channel.id, app.base_url),
    )
    return _add_headers(page, app, here)


@ROUTES.add("POST", f"{SHOP}/switches", "shop_switches", Access.OPEN)
async def switch(request: Request, app: App) -> Reply:
    """Saves how the demo shop shows its form and how its bank behaves, or makes a checkout expire."""
    channel, choices = await orders.get_channel_of_shop(app), options.read_choices(request.pairs)
    order = await orders.find_order(app, channel, request.find("id"))
    if order is not None and request.find("act") == "expire":
        await orders.expire_order(app, channel, order)
    elif order is not None:
        await orders.set_bank_delay(app, channel, order, choices.bank_delay_ms)
    cookie = choices.make_cookie(is_secure=app.base_url.startswith("https:"))
    named = {"id": order.id} if order is not None else {}
    return _go(_CHECKOUT, headers=(cookie,), lang=_read_language(request), **named)


def _recall_choices(request: Request) -> options.Choices:
    return options.recall_choices(options.read_cookie(request, options.COOKIE))


def _read_language(request: Request) -> str:
    code = request.find("lang")
    return code if code in options.LANGUAGES else ""


def _guess_language(request: Request) -> str:
    """Returns the browser's first language; the form checks whether it has texts for it."""
    first = (request.header(b"accept-language") or "").split(",")[0].partition(";")[0].strip()
    return first if _LANGUAGE.fullmatch(first) else ""


# ---- the result ----


@ROUTES.add("GET", _RESULT, "shop_result", Access.OPEN)
async def show_result(request: Request, app: App) -> Reply:
    """Shows the demo shop's result page.

    Nothing that the browser sends is trusted: it names the checkout, and the gateway says how it ended.
    """
    channel = await orders.get_channel_of_shop(app)
    order = await orders.find_order(app, channel, request.find("id"))
    if order is None or request.find("resourcePath") != order.resource_path:
        return _show_over(app, 404)
    ending = await orders.ask_ending(app, channel, order, request.trace)
    here, receipt = _look_around(app), orders.make_receipt(order, ending)
    payment_id = ending.payment_id
    page = _PAGES.render(
        "result.html",
        here=here,
        step="Result",
        order=order,
        cart=order.cart,
        ending=ending,
        receipt=receipt,
        title=receipt.title,
        may_try_again=not (is_success(ending.code) or order.is_paid or order.checkout.is_over(app.clock.now())),
        again_url=_make_url(_CHECKOUT, id=order.id, lang=_read_language(request)),
        json=orjson.dumps(ending.body, option=orjson.OPT_INDENT_2).decode(),
        steps=options.render_steps(order, channel.id, app.base_url),
        arrival=await arrivals.get_arrival(app, channel.merchant_id, payment_id) if payment_id else None,
        arrival_url=_make_url(_ARRIVAL, id=payment_id),
    )
    reply = _add_headers(page, app, here)
    if ending.registration_id is None or not is_success(ending.code):
        return reply
    cookie = options.remember_cards([ending.registration_id, *options.read_cards(request, app)], app)
    return msgspec.structs.replace(reply, headers=(*reply.headers, cookie))


@ROUTES.add("GET", _ARRIVAL, "shop_arrival", Access.OPEN)
async def show_arrival(request: Request, app: App) -> Reply:
    """Shows the part of the result page that is about the event, which the page asks for until it has arrived."""
    channel, payment_id = await orders.get_channel_of_shop(app), request.find("id")
    if not is_id(payment_id):
        return _show_over(app, 404)
    arrival = await arrivals.get_arrival(app, channel.merchant_id, payment_id)
    here, url = _look_around(app), _make_url(_ARRIVAL, id=payment_id)
    return _add_headers(_PAGES.render("arrival.html", here=here, arrival=arrival, arrival_url=url), app, here)


def _show_over(app: App, status: int) -> Reply:
    minutes = LIMITS.checkout_lifetime // MINUTE
    here, title = _look_around(app), "This checkout is over"
    return _add_headers(
        _PAGES.render("over.html", status=status, here=here, title=title, step="", minutes=minutes), app, here
    )


# ---- every page ----


def _look_around(app: App) -> Here:
    return Here(make_nonce(app.random_bytes))


def _add_headers(reply: Reply, app: App, here: Here) -> Reply:
    return msgspec.structs.replace(reply, headers=make_form_page_headers(app.base_url, here.nonce))


def _make_url(path: str, **query: str) -> str:
    said = {name: text for name, text in query.items() if text}
    return f"{path}?{urlencode(said)}" if said else path


def _go(path: str, headers: tuple[tuple[bytes, bytes], ...] = (), **query: str) -> Reply:
    return see_other(_make_url(path, **query), *headers)
