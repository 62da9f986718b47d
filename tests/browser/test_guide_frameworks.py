"""The code of the guide to frameworks, as it stands there: the form is shown, removed and shown with a new checkout.
An app's way back is shown in the browser of a phone.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext
from browser.npm_built import FOLDER, serve_built
from browser.repeats import keep_rows
from browser.shops import HTML, WELCOME, Site
from browser.watching import Watch
from browser.widget_shop import (
    HostedPage,
    Prepared,
    bank_page,
    fill_card,
    form,
    hold_requests,
    number_field,
    options,
    pay_button,
)
from gateway import Client
from tollgate.docs import texts
from tollgate.web.request import Reply

GUIDE = (texts.ROOT / "docs" / "frameworks.md").read_text("utf-8")
NAMED = re.compile(r"^```(\w+)\n(?:(?://|<!--) ([\w.-]+\.\w+))?", re.M)
RUN = ("js", "jsx", "vue", "ts", "html")
SHOWN = ("kotlin", "swift")
GATEWAY = b"https://pay.example"
"""The guide's name for the gateway."""
FRAMEWORKS = ("react", "vue", "angular", "jquery")
CHECK_OUT, BASKET = "Check out", "Back to the basket"
OURS = "[class*=wpwl-]:visible"
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36"
)
APP = "com.example.shop://result"


class GuideShop:
    """A shop whose pages are the guide's, and whose server prepares a checkout whenever it is asked to."""

    def __init__(self, hosted_page: HostedPage, framework: str) -> None:
        self.hosted_page = hosted_page
        self.checkouts: list[Prepared] = []
        shop, service = hosted_page.shop, hosted_page.client.base_url
        shop.pages["/result"] = WELCOME
        shop.pages["/checkout"] = lambda _: self.prepare()
        if framework == "jquery":
            serve_built(shop, "jquery.js")
            served = ["/shop.js", "/paymentForm.js"]
            body = (FOLDER / "guide" / "jquery.html").read_text("utf-8")
        else:
            served = [f"/{framework}.js"]
            body = f"<div id=app></div><script src=/{framework}.js></script>"
        for path in served:
            code = (FOLDER / "guide" / path[1:]).read_bytes()
            shop.pages[path] = Reply(200, code.replace(GATEWAY, service.encode()), b"text/javascript")
        # Only here Angular compiles its templates in the browser.
        script = f"'self' {service}" + (" 'unsafe-eval'" if framework == "angular" else "")
        policy = (
            f"default-src 'none'; script-src {script}; style-src {service}; frame-src {service}; img-src {service}; "
            f"connect-src 'self' {service}; form-action 'self'; base-uri 'none'"
        )
        page = f"<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>{body}"
        shop.pages["/"] = Reply(200, page.encode(), HTML, ((b"content-security-policy", policy.encode()),))

    def prepare(self) -> Reply:
        checkout = self.hosted_page.prepare()
        self.checkouts.append(checkout)
        return Reply(200, json.dumps({"id": checkout.id, "integrity": checkout.integrity}).encode())


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def click(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def wait_for_checkout(page: Page, checkout: Prepared) -> None:
    page.wait_for_function("(id) => window.wpwl && !wpwl.isUnloaded && wpwl.checkout.id === id", arg=checkout.id)


def pay(page: Page, guide_shop: GuideShop) -> None:
    """The last checkout is paid in the one form that is shown, which is in the language of the guide's options."""
    card = page.locator(".wpwl-container-card")
    expect(card).to_have_count(1)
    wait_for_checkout(page, guide_shop.checkouts[-1])
    expect(card.locator(".wpwl-label-cardNumber")).to_have_text("Kartennummer")
    fill_card(card)
    pay_button(card).click()
    expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
    assert guide_shop.hosted_page.shop.visits_to("/result")[-1].fields["id"] == guide_shop.checkouts[-1].id


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_guide_s_component_pays_with_a_new_checkout_after_it_was_unmounted(
    page: Page, hosted_page: HostedPage, framework: str
) -> None:
    guide_shop = GuideShop(hosted_page, framework)
    page.goto(f"{hosted_page.shop.url}/")
    click(page, CHECK_OUT)
    expect(number_field(page)).to_be_visible()

    click(page, BASKET)
    expect(page.locator(OURS)).to_have_count(0)
    assert page.locator("iframe, link[rel=stylesheet], script[src*=paymentWidgets]").count() == 0
    click(page, CHECK_OUT)

    pay(page, guide_shop)
    # Strict mode mounts twice, and prepares once.
    assert len(guide_shop.checkouts) == 2


@pytest.mark.parametrize("framework", keep_rows(FRAMEWORKS, "react"))
def test_a_script_that_arrives_after_its_component_has_gone_shows_nothing(
    page: Page, hosted_page: HostedPage, framework: str
) -> None:
    guide_shop = GuideShop(hosted_page, framework)
    release = hold_requests(page, "**/v1/paymentWidgets.js?*")
    page.goto(f"{hosted_page.shop.url}/")
    click(page, CHECK_OUT)
    click(page, BASKET)
    click(page, CHECK_OUT)
    expect(page.get_by_role("button", name=BASKET)).to_be_visible()
    release()

    pay(page, guide_shop)
    assert len(guide_shop.checkouts) == 2


def test_every_block_of_code_is_run_or_says_that_it_is_only_shown() -> None:
    found = [(language, name) for language, name in NAMED.findall(GUIDE) if language != "sh"]
    assert {language for language, _ in found} == {*RUN, *SHOWN}
    assert [language for language, name in found if bool(name) != (language in RUN)] == []
    built = {path.name for path in (FOLDER.parent / "guide").iterdir()}
    assert {name for _, name in found if name} <= built
    assert GUIDE.count("(shown only, not run by our tests)") == len(SHOWN)


@pytest.fixture
def app_client(client: Client) -> Client:
    """A lenient channel, which knows schemes of apps without being told."""
    return replace(client, entity_id=client.lenient_entity_id)


@pytest.mark.parametrize("target", ["", "_top"], ids=["in a dialog", "in the whole window"])
@pytest.mark.parametrize("number", ["4200000000000000", "4711100000000000"], ids=["card", "3-D Secure"])
def test_a_phone_s_browser_returns_to_the_app_by_its_scheme(
    open_context: OpenContext, watch: Watch, shop: Site, app_client: Client, number: str, target: str
) -> None:
    context = open_context(user_agent=PHONE, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page, hosted_page = context.new_page(), HostedPage(shop, app_client)
    asked: list[str] = []
    session = context.new_cdp_session(page)
    session.send("Page.enable")
    session.on("Page.frameRequestedNavigation", lambda event: asked.append(event["url"]))
    address = {
        "billing__street1": "Ring 7",
        "billing__city": "Graz",
        "billing__postcode": "8010",
        "billing__country": "AT",
    }
    checkout = hosted_page.prepare(shopperResultUrl=APP, **address)
    chosen = options({"paymentTarget": target} if target else {})
    hosted_page.show(page, chosen, form("VISA"), hosted_page.script(checkout))

    fill_card(page, number)
    pay_button(page).tap()
    if number == "4711100000000000":
        bank = page if target else bank_page(page)
        bank.get_by_role("button", name="Send outcome").tap()
    while not any(url.startswith(APP) for url in asked):
        page.wait_for_timeout(50)

    returned = urlsplit(next(url for url in asked if url.startswith(APP)))
    path = f"/v1/checkouts/{checkout.id}/payment"
    assert parse_qs(returned.query) == {"id": [checkout.id], "resourcePath": [path]}
    assert app_client.get(path).code == "000.100.110"
    # The form and the gateway's pages set no cookie, as a WebView may refuse them.
    assert context.cookies() == []
    # No app has the scheme here.
    assert [text for text in watch.take() if APP not in text] == []
