"""Shows a payment link to its shopper: the form while it can be paid, a receipt afterwards, and else why it cannot.

Nothing that the browser brings along is believed: it names the link, and the store says how it stands.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec

from tollgate.catalog.brands import BRANDS, find_brand
from tollgate.contract.links import LINK_PATH, make_link_url
from tollgate.contract.shopper_urls import make_checkout_return_url
from tollgate.flows.payment_links import OpenedLink, leave_link_attempt, open_link
from tollgate.operations.app import App
from tollgate.payments.checkout import LinkStatus
from tollgate.payments.completion import may_have_taken
from tollgate.payments.payment import Payment, State
from tollgate.values import Money, render_hundredths, to_datetime
from tollgate.web import Access, Pages, Reply, Request, RouteRow
from tollgate.widget.link_pages.colours import render_colours
from tollgate.widget.link_pages.files import ROUTES as FILE_ROUTES
from tollgate.widget.link_pages.files import name_link_file
from tollgate.widget.link_pages.texts import TEXTS, choose_language

_PAGES = Pages(Path(__file__).parent / "pages")
_NONCE_BYTES = 16
_USUAL_BRANDS = "VISA MASTER AMEX DINERS DISCOVER JCB MAESTRO PAYPAL IDEAL EPS DIRECTDEBIT_SEPA"
"""The form leaves out what does not fit the currency or the channel."""
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")
_STATUS = {LinkStatus.EXPIRED: 410, LinkStatus.ENDED: 410}
_TITLES = {LinkStatus.EXPIRED: "expired", LinkStatus.ENDED: "ended"}


class Here(msgspec.Struct, frozen=True):
    """Holds the parts that every page of a link needs."""

    texts: Mapping[str, str]
    nonce: str
    """Lets the page's own inline script and style work, and no other."""
    is_test: bool

    def file(self, name: str) -> str:
        return name_link_file(name)

    def say(self, key: str, **values: str) -> str:
        text = self.texts[key]
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def amount(self, money: Money) -> str:
        return render_hundredths(money.hundredths)


async def leave_attempt(request: Request, app: App) -> Reply:
    """Takes the shopper back to the link's page, which says what became of the attempt."""
    link = await leave_link_attempt(app, request.names[0], request.find("attempt"))
    if link is None:
        return await show_link(request, app)
    url = make_link_url(link.id, app.base_url)
    return Reply(303, b"", b"text/plain", ((b"location", url.encode()),))


async def show_link(request: Request, app: App) -> Reply:
    """Shows how a link stands. Programs that preview links ask for the head alone, and that makes no checkout."""
    opened = await open_link(app, request.names[0], makes_checkout=request.method != "HEAD")
    locale = opened.page.locale if opened and opened.page else ""
    language = choose_language(request.find("lang"), request.header(b"accept-language") or "", locale)
    nonce = base64.b64encode(app.random_bytes(_NONCE_BYTES)).decode()
    here = Here(TEXTS[language], nonce, not app.is_live)
    if opened is None:
        return _fence(_show_end(here, "unknown", here.say("askSender"), 404), app, here)
    return _fence(_show(request, app, here, opened, language), app, here, opened)


def _show(request: Request, app: App, here: Here, opened: OpenedLink, language: str) -> Reply:
    if opened.status is LinkStatus.PAID:
        return _show_receipt(here, opened)
    if opened.is_being_paid or opened.is_awaited:
        return _PAGES.render("checking.html", here=here, opened=opened, title=here.say("checking"))
    if opened.status is not LinkStatus.OPEN:
        text = here.say("askMerchant", merchant=opened.page.merchant) if opened.page else here.say("askSender")
        return _show_end(here, _TITLES[opened.status], text, _STATUS[opened.status])
    if opened.is_used_up:
        return _show_used_up(here, opened)
    return _show_form(request, app, here, opened, language)


def _show_used_up(here: Here, opened: OpenedLink) -> Reply:
    text, retry_at = _tell_used_up(here, opened)
    return _PAGES.render("used_up.html", status=429, here=here, title=here.say("tooMany"), text=text, retry_at=retry_at)


def _tell_used_up(here: Here, opened: OpenedLink) -> tuple[str, str]:
    """Returns a text and the moment for the place of its date; a link that ends before another attempt has no date."""
    merchant = opened.page.merchant if opened.page else ""
    if opened.retries_at is None:
        return here.say("askMerchant", merchant=merchant), ""
    return here.say("tooManyText", merchant=merchant), to_datetime(opened.retries_at).isoformat()


def _show_form(request: Request, app: App, here: Here, opened: OpenedLink, language: str) -> Reply:
    checkout, page = opened.checkout, opened.page
    if checkout is None or page is None:
        # Only the head was asked for.
        return _show_end(here, "checking", "", 200)
    used_up, retry_at = _tell_used_up(here, opened)
    # The form's own texts send the shopper back to a shop, and here is none.
    errors = {
        "sessionGone": here.say("sessionOver"),
        "attemptsUsedUp": used_up.replace("{date}", f"{retry_at[:10]} {retry_at[11:16]} UTC"),
    }
    options: dict[str, object] = {"locale": language, "layout": "accordion", "errorMessages": errors}
    if page.collects_billing:
        options["billingAddress"] = {}
    if page.collects_billing and not page.demands_billing:
        options["mandatoryBillingFields"] = {}
    return _PAGES.render(
        "form.html",
        here=here,
        page=page,
        title=here.say("payTo", merchant=page.merchant),
        expires_at=to_datetime(opened.link.expires_at).isoformat(),
        style=render_colours(page.colours),
        failure=_tell_failure(here, opened.payment) if request.find("id") == checkout.id else "",
        options=options,
        used_up={"text": used_up, "retryAt": retry_at},
        brands=page.brand or _USUAL_BRANDS,
        script_url=f"{app.base_url}/v1/paymentWidgets.js?{urlencode({'checkoutId': checkout.id})}",
        integrity=opened.integrity,
        result_url=make_link_url(opened.link.id, app.base_url),
        link_id=opened.link.id,
    )


def _tell_failure(here: Here, payment: Payment | None) -> str:
    """Says nothing of an attempt that is not decided: another tab may still pay it."""
    if payment is None or payment.state is not State.DECLINED:
        return ""
    return here.say("notCompleted" if may_have_taken(payment) else "declined")


def _show_receipt(here: Here, opened: OpenedLink) -> Reply:
    payment, page, checkout = opened.payment, opened.page, opened.checkout
    home = make_checkout_return_url(page.home_url, checkout) if page and page.home_url and checkout else ""
    return _PAGES.render(
        "receipt.html",
        here=here,
        page=page,
        title=here.say("paid"),
        style=render_colours(page.colours if page else {}),
        payment=payment,
        paid_at=to_datetime(payment.completed_at or payment.created_at).isoformat() if payment else "",
        method=_name_method(payment) if payment else "",
        home=home,
        link_id=opened.link.id,
    )


def _name_method(payment: Payment) -> str:
    brand = find_brand(payment.brand, lenient=True) or BRANDS.get(payment.brand)
    label = brand.label if brand else payment.brand
    return f"{label} •••• {payment.card.last_digits}" if payment.card else label


def _show_end(here: Here, key: str, text: str, status: int) -> Reply:
    return _PAGES.render("over.html", status=status, here=here, title=here.say(key), text=text)


def _fence(reply: Reply, app: App, here: Here, opened: OpenedLink | None = None) -> Reply:
    parts = urlsplit(app.base_url)
    gateway = f"{parts.scheme}://{parts.netloc}"
    pictures = " ".join(["'self'", gateway, *_list_picture_hosts(opened)])
    policy = (
        f"default-src 'none'; script-src 'self' {gateway} 'nonce-{here.nonce}'; "
        f"style-src 'self' {gateway} 'nonce-{here.nonce}'; img-src {pictures}; connect-src 'self' {gateway}; "
        f"frame-src {gateway}; form-action 'self' {gateway}; frame-ancestors 'none'; base-uri 'none'"
    )
    permissions = "camera=(), display-capture=(), geolocation=(), microphone=(), usb=()"
    headers = ((b"content-security-policy", policy.encode()), (b"permissions-policy", permissions.encode()), _NO_INDEX)
    return msgspec.structs.replace(reply, headers=headers)


def _list_picture_hosts(opened: OpenedLink | None) -> list[str]:
    """Lists the hosts that the merchant named, and no others: whatever a page loads can track its shopper."""
    if opened is None or opened.page is None:
        return []
    parts = [urlsplit(url) for url in (opened.page.logo, opened.page.background) if url]
    return list(dict.fromkeys(f"{each.scheme}://{each.netloc.lower()}" for each in parts))


ROUTES = (
    RouteRow(
        method="GET",
        path=f"{LINK_PATH}/{{id}}",
        operation="payment_link_page",
        summary="The page of a payment link, for its shopper.",
        access=Access.OPEN,
        handler=show_link,
        hides_path=True,
        also_takes=frozenset({"id", "resourcePath", "lang"}),
    ),
    RouteRow(
        method="POST",
        path=f"{LINK_PATH}/{{id}}",
        operation="leave_link_attempt",
        summary="The shopper gives up an `attempt` that waits at a provider, to pay another way.",
        access=Access.OPEN,
        handler=leave_attempt,
        hides_path=True,
        also_takes=frozenset({"attempt"}),
    ),
    *FILE_ROUTES,
)
