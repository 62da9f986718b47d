"""The simulated sheet of a mobile wallet: the shopper chooses a card, confirms, and the form's page gets a token.

It is shown in a frame of the payment form. Tokens are made in `wallets`.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tollgate.catalog import brand_rows, brands, codes, results, wallets
from tollgate.contract import checkouts, orders
from tollgate.operations.app import App
from tollgate.operations.checkouts import get_open_checkout, open_prepared
from tollgate.payments.checkout import Checkout
from tollgate.sandbox.wallets.issuing import make_wallet_token
from tollgate.sandbox.wallets.provider import TokenRequest
from tollgate.values import Money, NotFound, Refusal
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Reply, Request, Routes

_PAGES = Pages(Path(__file__).parent / "pages")
_PATH = "/sandbox/wallets/{name}"
_BRANDS = {sheet.name: brands.BRANDS[code] for code, sheet in wallets.WALLET_SHEETS.items()}
_EXPIRY_MONTH, _EXPIRY_YEAR = "05", "2034"
_NO_CARD = "Choose one of the cards."
_NO_KEY = "The channel of this checkout has no wallet keys of this test host, so it cannot be paid from here."


ROUTES = Routes()


class SheetCard(msgspec.Struct, frozen=True):
    """A card of the simulated wallet, and how a payment with it ends."""

    number: str
    label: str
    ending: str


CARDS: Mapping[str, SheetCard] = {
    "visa": SheetCard("4200000000000000", "Visa •••• 0000", "is paid"),
    "master": SheetCard("5454545454545454", "Mastercard •••• 5454", "is paid"),
    "declined": SheetCard("4000000000000002", "Visa •••• 0002", "is declined"),
}


@ROUTES.add("GET", _PATH, "show_wallet_sheet", Access.OPEN)
async def show_sheet(request: Request, app: App) -> Reply:
    """Shows the simulated sheet of a mobile wallet, for the payment form of one checkout."""
    checkout = await _find_checkout(request, app)
    return _show_nothing() if checkout is None else _show(request, app, checkout)


@ROUTES.add("POST", _PATH, "confirm_on_wallet_sheet", Access.OPEN)
async def confirm_on_sheet(request: Request, app: App) -> Reply:
    """Answers a confirmed sheet with a page that hands a token of the chosen card to the payment form."""
    checkout = await _find_checkout(request, app)
    if checkout is None:
        return _show_nothing()
    card = CARDS.get(request.find("card"))
    if card is None:
        return _show(request, app, checkout, fault=_NO_CARD)
    money = _read_money(app, checkout)
    wanted = TokenRequest(
        wallet=wallets.Wallet(_get_brand(request).wallet),
        made_at=app.clock.now(),
        number=card.number,
        expiry_month=_EXPIRY_MONTH,
        expiry_year=_EXPIRY_YEAR,
        amount_hundredths=money.hundredths,
        currency=money.currency,
    )
    token = await make_wallet_token(app.database, app.keyring, checkout.channel_id, wanted, app.random_bytes)
    return _show(request, app, checkout, token=token or "", fault="" if token else _NO_KEY)


async def _find_checkout(request: Request, app: App) -> Checkout | None:
    try:
        return await get_open_checkout(app, request.find("checkoutId"))
    except Refusal:
        return None


def _get_brand(request: Request) -> brand_rows.Brand:
    brand = _BRANDS.get(request.names[0])
    if brand is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such wallet")
    return brand


def _read_money(app: App, checkout: Checkout) -> Money:
    money = checkouts.read_prepared_money(open_prepared(app, checkout))
    if money is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "the checkout has nothing to pay")
    return money


def _show(request: Request, app: App, checkout: Checkout, *, token: str = "", fault: str = "") -> Reply:
    money = _read_money(app, checkout)
    channel = app.merchants.get_channel(checkout.channel_id)
    return _PAGES.render(
        "wallet.html",
        framed_by=ANYWHERE,
        title=_get_brand(request).label,
        wallet=request.names[0],
        merchant=orders.choose_merchant_name(open_prepared(app, checkout), channel),
        amount=f"{money.render()} {money.currency}",
        cards=CARDS,
        checkout_id=checkout.id,
        origin=request.find("origin"),
        token=token,
        fault=fault,
    )


def _show_nothing() -> Reply:
    text = "The checkout of this sheet is over, or its address is not complete."
    return _PAGES.render("end.html", framed_by=ANYWHERE, title="Nothing to pay", text=text, link="", status=404)
