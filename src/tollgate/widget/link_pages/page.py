"""The page of a payment link: the form while it can be paid, a receipt afterwards, or why it cannot be paid.

Nothing that the browser sends is trusted: it names the link, and the store has its status.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

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
from tollgate.web.pages.rendering import Pages, StaticFiles, get_origin, make_form_page_headers, make_nonce
from tollgate.web.request import Access, Reply, Request, Routes, see_other
from tollgate.widget.languages import ALIASES, FALLBACK, LANGUAGES

_PAPERS = {"light": "#ffffff", "dark": "#1a212c"}
"""Texts stand on these; link.css has the same colours."""
_BUTTONS = {"light": "#1f5fbf", "dark": "#8ab8ff"}
"""The form's own button."""
_BLACK, _WHITE = "#000000", "#ffffff"
_READABLE = 4.5
_VISIBLE = 3.0
_TEXTS = {"merchant": "--merchant", "amount": "--amount"}


def render_colours(given: Mapping[str, str]) -> str:
    """Returns a style sheet; a text colour that cannot be read on its ground is left out or made black or white."""
    rules = {scheme: _render_rules(given, scheme) for scheme in _PAPERS}
    light, dark = rules["light"], rules["dark"]
    return light + (f"@media (prefers-color-scheme: dark) {{{dark}}}" if dark else "")


def _render_rules(given: Mapping[str, str], scheme: str) -> str:
    paper = _PAPERS[scheme]
    texts = [
        f"{name}:{given[role]}"
        for role, name in _TEXTS.items()
        if role in given and measure_contrast(given[role], paper) >= _READABLE
    ]
    root = f":root{{{';'.join(texts)}}}" if texts else ""
    button, text = given.get("button"), given.get("button_text")
    if button is None and (text is None or measure_contrast(text, _BUTTONS[scheme]) < _READABLE):
        return root
    ground = button or _BUTTONS[scheme]
    ink = text if text and measure_contrast(text, ground) >= _READABLE else choose_ink(ground)
    edge = ground if measure_contrast(ground, paper) >= _VISIBLE else ink
    return f"{root}.link .wpwl-button-pay{{background:{ground};color:{ink};border:1px solid {edge}}}"


def choose_ink(ground: str) -> str:
    return max((_BLACK, _WHITE), key=lambda ink: measure_contrast(ink, ground))


def measure_contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of two colours as WCAG defines it, from 1 to 21."""
    lighter, darker = sorted((_measure_light(one), _measure_light(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _measure_light(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


FOLDER = Path(__file__).parent / "texts"

_TAGS_MAX = 20


# What the form says in the same words is not written twice.
TEXTS: Mapping[str, Mapping[str, str]] = {
    code: {key: texts[key] for key in ("tag", "dir", "testMode")}
    | json.loads((FOLDER / f"{code}.json").read_text("utf-8"))
    for code, texts in LANGUAGES.items()
}


def choose_language(*requested: str) -> str:
    """Takes the first language that is known, from codes or the Accept-Language headers of browsers."""
    for header in requested:
        tags = [_read_tag(tag) for tag in header.split(",")[:_TAGS_MAX]]
        for name, _ in sorted((tag for tag in tags if tag[1] > 0), key=lambda tag: -tag[1]):
            if code := _choose_code(name):
                return code
    return FALLBACK


def _read_tag(tag: str) -> tuple[str, float]:
    """Returns the name of a language and its weight; a weight that cannot be read counts as none."""
    name, _, weight = tag.partition(";")
    try:
        return name.strip().lower().replace("_", "-"), float(weight.strip().removeprefix("q=") or "1")
    except ValueError:
        return "", 0.0


def _choose_code(name: str) -> str:
    """Looks for `zh-hans-cn` as a whole first, then without its last words."""
    while name:
        if name in LANGUAGES or name in ALIASES:
            return ALIASES.get(name, name)
        name = name.rpartition("-")[0]
    return ""


_PAGES = Pages(Path(__file__).parent / "pages")
_USUAL_BRANDS = "VISA MASTER AMEX DINERS DISCOVER JCB MAESTRO PAYPAL IDEAL EPS DIRECTDEBIT_SEPA"
"""The form leaves out what does not fit the currency or the channel."""
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")
_STATUS = {LinkStatus.EXPIRED: 410, LinkStatus.ENDED: 410}
_TITLES = {LinkStatus.EXPIRED: "expired", LinkStatus.ENDED: "ended"}


_FILES = StaticFiles(Path(__file__).parent / "files", f"{LINK_PATH}/files")

ROUTES = Routes()
ROUTES.add("GET", f"{LINK_PATH}/files/{{hash}}/{{name}}", "payment_link_files", Access.OPEN)(_FILES.answer)


class Here(msgspec.Struct, frozen=True):
    """Holds the parts that every page of a link needs."""

    texts: Mapping[str, str]
    nonce: str
    """Lets the page's own inline script and style work, and no other."""
    is_test: bool

    def file(self, name: str) -> str:
        return _FILES.get_path(name)

    def get_text(self, key: str, **values: str) -> str:
        text = self.texts[key]
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def amount(self, money: Money) -> str:
        return render_hundredths(money.hundredths)


@ROUTES.add(
    "POST", f"{LINK_PATH}/{{id}}", "leave_link_attempt", Access.OPEN, hides_path=True, also_takes=frozenset({"attempt"})
)
async def leave_attempt(request: Request, app: App) -> Reply:
    """The shopper gives up an `attempt` that waits at a provider, to pay another way.

    The answer leads back to the link's page, which says what became of the attempt.
    """
    link = await leave_link_attempt(app, request.names[0], request.find("attempt"))
    return await show_link(request, app) if link is None else see_other(make_link_url(link.id, app.base_url))


@ROUTES.add(
    "GET",
    f"{LINK_PATH}/{{id}}",
    "payment_link_page",
    Access.OPEN,
    hides_path=True,
    also_takes=frozenset({"id", "resourcePath", "lang"}),
)
async def show_link(request: Request, app: App) -> Reply:
    """Shows the page of a payment link to its shopper.

    Programs that preview links ask for the head alone, and that makes no checkout.
    """
    opened = await open_link(app, request.names[0], makes_checkout=request.method != "HEAD")
    locale = opened.page.locale if opened and opened.page else ""
    language = choose_language(request.find("lang"), request.header(b"accept-language") or "", locale)
    here = Here(TEXTS[language], make_nonce(app.random_bytes), not app.is_live)
    if opened is None:
        return _add_headers(_show_end(here, "unknown", here.get_text("askSender"), 404), app, here)
    return _add_headers(_show(request, app, here, opened, language), app, here, opened)


def _show(request: Request, app: App, here: Here, opened: OpenedLink, language: str) -> Reply:
    if opened.status is LinkStatus.PAID:
        return _show_receipt(here, opened)
    if opened.is_being_paid or opened.is_awaited:
        return _PAGES.render("checking.html", here=here, opened=opened, title=here.get_text("checking"))
    if opened.status is not LinkStatus.OPEN:
        text = (
            here.get_text("askMerchant", merchant=opened.page.merchant) if opened.page else here.get_text("askSender")
        )
        return _show_end(here, _TITLES[opened.status], text, _STATUS[opened.status])
    if opened.is_used_up:
        text, retry_at = _render_used_up(here, opened)
        return _PAGES.render(
            "used_up.html", status=429, here=here, title=here.get_text("tooMany"), text=text, retry_at=retry_at
        )
    return _show_form(request, app, here, opened, language)


def _render_used_up(here: Here, opened: OpenedLink) -> tuple[str, str]:
    """Returns a text and the moment for the place of its date; a link that ends before another attempt has no date."""
    merchant = opened.page.merchant if opened.page else ""
    if opened.retries_at is None:
        return here.get_text("askMerchant", merchant=merchant), ""
    return here.get_text("tooManyText", merchant=merchant), to_datetime(opened.retries_at).isoformat()


def _show_form(request: Request, app: App, here: Here, opened: OpenedLink, language: str) -> Reply:
    checkout, page = opened.checkout, opened.page
    if checkout is None or page is None:
        # Only the head was asked for.
        return _show_end(here, "checking", "", 200)
    used_up, retry_at = _render_used_up(here, opened)
    # The form's own texts send the shopper back to a shop, and here is none.
    errors = {
        "sessionGone": here.get_text("sessionOver"),
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
        title=here.get_text("payTo", merchant=page.merchant),
        expires_at=to_datetime(opened.link.expires_at).isoformat(),
        style=render_colours(page.colours),
        failure=_render_failure(here, opened.payment) if request.find("id") == checkout.id else "",
        options=options,
        used_up={"text": used_up, "retryAt": retry_at},
        brands=page.brand or _USUAL_BRANDS,
        script_url=f"{app.base_url}/v1/paymentWidgets.js?{urlencode({'checkoutId': checkout.id})}",
        integrity=opened.integrity,
        result_url=make_link_url(opened.link.id, app.base_url),
        link_id=opened.link.id,
    )


def _render_failure(here: Here, payment: Payment | None) -> str:
    """Says nothing of an attempt that is not decided: another tab may still pay it."""
    if payment is None or payment.state is not State.DECLINED:
        return ""
    return here.get_text("notCompleted" if may_have_taken(payment) else "declined")


def _show_receipt(here: Here, opened: OpenedLink) -> Reply:
    payment, page, checkout = opened.payment, opened.page, opened.checkout
    home = make_checkout_return_url(page.home_url, checkout) if page and page.home_url and checkout else ""
    return _PAGES.render(
        "receipt.html",
        here=here,
        page=page,
        title=here.get_text("paid"),
        style=render_colours(page.colours if page else {}),
        payment=payment,
        paid_at=to_datetime(payment.completed_at or payment.created_at).isoformat() if payment else "",
        method=_render_method_name(payment) if payment else "",
        home=home,
        link_id=opened.link.id,
    )


def _render_method_name(payment: Payment) -> str:
    brand = find_brand(payment.brand, lenient=True) or BRANDS.get(payment.brand)
    label = brand.label if brand else payment.brand
    return f"{label} •••• {payment.card.last_digits}" if payment.card else label


def _show_end(here: Here, key: str, text: str, status: int) -> Reply:
    return _PAGES.render("over.html", status=status, here=here, title=here.get_text(key), text=text)


def _add_headers(reply: Reply, app: App, here: Here, opened: OpenedLink | None = None) -> Reply:
    page = opened.page if opened else None
    # The hosts that the merchant named, and no others: whatever a page loads can track its shopper.
    pictures = [get_origin(url) for url in (page.logo, page.background) if url] if page else []
    headers = make_form_page_headers(
        app.base_url,
        here.nonce,
        style_sources=(f"'nonce-{here.nonce}'",),
        pictures=pictures,
        form_targets=(get_origin(app.base_url),),
    )
    return msgspec.structs.replace(reply, headers=(*headers, _NO_INDEX))
