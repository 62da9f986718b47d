"""A merchant's page with the payment form, on a port of its own and under a strict policy; and a shopper's hands.

What is on the page is put together by each test from the pieces below, in the order in which they stand in the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page, Route, expect

from browser.shops import BACK, HTML, Site
from gateway import Client
from tollgate.web.request import Reply

PAYMENT_PATH = "/payment"
NONCE = "c2hvcA"
NUMBER = "4200000000000000"
DECLINED = "4000000000000002"
FRAME_SCRIPT = "**/frame.js"

Piece = str


@dataclass(frozen=True)
class Prepared:
    """A checkout as the merchant's server knows it."""

    id: str
    integrity: str


@dataclass(frozen=True)
class HostedPage:
    """The merchant's page, and its server behind it."""

    shop: Site
    client: Client

    def prepare(self, **changes: str | None) -> Prepared:
        """`merchant__name="x"` stands for a dotted name; None leaves a field out."""
        usual = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "integrity": "true"}
        renamed = {name.replace("__", "."): value for name, value in changes.items()}
        answer = self.client.post("/v1/checkouts", {**usual, **renamed})
        assert answer.code == "000.200.100", answer.body
        return Prepared(answer.json["id"], answer.json["integrity"])

    def script(self, checkout: Prepared, *, integrity: str | None = None, word: str = "", path: str = "") -> Piece:
        """Returns the tag as merchants copy it; `word` is an attribute such as async, `path` follows the id."""
        address = escape(f"{self.client.base_url}/v1/paymentWidgets.js?checkoutId={checkout.id}{path}")
        promise = integrity or checkout.integrity
        return f'<script {word} src="{address}" integrity="{promise}" crossorigin="anonymous"></script>'

    def put_up(self, *pieces: Piece, path: str = PAYMENT_PATH, styles_from: str = "") -> None:
        service = self.client.base_url
        policy = (
            f"default-src 'none'; script-src 'nonce-{NONCE}' {service}; style-src {styles_from} {service}; "
            f"frame-src {service}; connect-src {service}; img-src {service}; form-action 'self'; base-uri 'none'"
        )
        page = "".join(("<!doctype html><html lang=en><title>Payment</title><h1>Payment</h1>", *pieces))
        self.shop.pages[path] = Reply(200, page.encode(), HTML, ((b"content-security-policy", policy.encode()),))

    def show(self, page: Page, *pieces: Piece) -> None:
        self.put_up(*pieces)
        page.goto(self.shop.url + PAYMENT_PATH)

    def read_code(self, checkout: Prepared, resource: str = "payment") -> str:
        return self.client.get(f"/v1/checkouts/{checkout.id}/{resource}").code

    def expect_home(self, page: Page, checkout: Prepared, resource: str = "payment") -> None:
        """The shopper is at the result page, whose address names the checkout and keeps its own query."""
        expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
        self.check_home(checkout, resource)

    def check_home(self, checkout: Prepared, resource: str = "payment") -> None:
        last = self.shop.visits_to(BACK)[-1]
        path = f"/v1/checkouts/{checkout.id}/{resource}"
        assert (last.method, last.fields) == ("GET", {"order": "17", "id": checkout.id, "resourcePath": path})


def form(brands: str = "VISA MASTER AMEX", *inside: Piece, tag: str = "form", more: str = "") -> Piece:
    action = escape(f"{BACK}?order=17")
    return f'<{tag} action="{action}" class="paymentWidgets" data-brands="{brands}" {more}>{"".join(inside)}</{tag}>'


def inline(code: str) -> Piece:
    """Returns a script of the page itself."""
    return f'<script nonce="{NONCE}">{code}</script>'


def options(values: Mapping[str, Any] | None = None, **functions: str) -> Piece:
    """`wpwlOptions` from plain values and functions written in JavaScript."""
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in (values or {}).items()]
    members += [f"{json.dumps(name)}: {code}" for name, code in functions.items()]
    return inline(f"var wpwlOptions = {{{', '.join(members)}}};")


def number_field(page: Page | Locator) -> Locator:
    return _inside(page, "card.number")


def cvv_field(page: Page | Locator) -> Locator:
    return _inside(page, "card.cvv")


def _inside(page: Page | Locator, name: str) -> Locator:
    frame: FrameLocator = page.frame_locator(f'iframe[name="{name}"]')
    return frame.locator(f'input[name="{name}"]')


def pay_button(page: Page | Locator) -> Locator:
    return page.locator("button.wpwl-button-pay")


def fill_card(page: Page | Locator, number: str = NUMBER, cvv: str = "123", expiry: str = "0534") -> None:
    """Types as a shopper does, key by key where the form helps."""
    number_field(page).press_sequentially(number)
    page.locator(".wpwl-control-expiry").press_sequentially(expiry)
    page.locator(".wpwl-control-cardHolder").fill("Jane Jones")
    cvv_field(page).press_sequentially(cvv)


def count_submissions(page: Page) -> Callable[[], int]:
    """Returns a function that counts how often the browser has tried to pay since."""
    sent: list[str] = []

    def note(request: Any) -> None:
        if request.method == "POST" and "/v1/checkouts/" in request.url:
            sent.append(request.url)

    page.on("request", note)
    return lambda: len(sent)


def hold_frames(page: Page) -> Callable[[], None]:
    """The scripts of the frames do not arrive before what is returned is called."""
    return hold_requests(page, FRAME_SCRIPT)


def stay_open_for_a_moment(page: Page) -> None:
    """A window that is closed at once looks like one that the browser has cut off from its opener."""
    page.wait_for_timeout(100)


def wait_for_styles(page: Page) -> None:
    """Waits for the style sheets of a form, which shows itself without them when they are late."""
    page.wait_for_function("() => [...document.querySelectorAll('link.wpwl-stylesheet')].every((link) => link.sheet)")


def stretch_timer(page: Page, limit_ms: int) -> None:
    """Timers of the page's scripts that run for so long run thirty times longer: the machine may be slow."""
    longer = f"ms === {limit_ms} ? {30 * limit_ms} : ms"
    page.add_init_script(
        f"{{ const start = setTimeout; window.setTimeout = (run, ms, ...more) => start(run, {longer}, ...more); }}"
    )


def hold_requests(page: Page, pattern: str) -> Callable[[], None]:
    """Requests to such addresses are not answered before what is returned is called."""
    held: list[Route] = []
    released = False

    def hold(route: Route) -> None:
        # A slow frame may ask for its script only when the others have theirs.
        route.continue_() if released else held.append(route)

    def release() -> None:
        nonlocal released
        released = True
        for route in held:
            route.continue_()

    page.route(pattern, hold)
    return release


def bank_page(page: Page) -> FrameLocator:
    """The bank in the dialog: the shop's page has a frame of the service, which has one of the bank."""
    return page.frame_locator('iframe[name="cnpIframe"]').frame_locator('iframe[name="bank"]')
