"""The payment form in pages of React (in StrictMode), Vue and Angular whose components own the form's element: it comes
and goes with the component, and the page stays whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from playwright.sync_api import Page, expect

from browser.npm_built import serve_built
from browser.repeats import keep_rows
from browser.shops import BACK, HTML, Site
from browser.widget_shop import PAYMENT_PATH, HostedPage, Prepared, fill_card, number_field, pay_button
from gateway import Client
from tollgate.web.request import Reply

FRAMEWORKS = ("react", "vue", "angular")
OURS = "[class*=wpwl-]:visible"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show(
    page: Page,
    hosted_page: HostedPage,
    framework: str,
    *,
    checkout: Prepared | None = None,
    visits: Sequence[Prepared] = (),
) -> None:
    """`checkout`: the page itself has its script; `visits`: the component loads the next one each time."""
    service = hosted_page.client.base_url
    # Vue and Angular compile their templates in the browser.
    policy = (
        f"default-src 'none'; script-src 'self' 'unsafe-eval' {service}; style-src {service}; frame-src {service}; "
        f"connect-src {service}; img-src {service}"
    )
    scripts = [f"{service}/v1/paymentWidgets.js?checkoutId={visit.id}" for visit in visits]
    facts = {"action": f"{BACK}?order=17", "brands": "VISA PAYPAL", "scripts": scripts}
    pieces = (
        "<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1><div id=app></div>",
        f"<script id=facts type=application/json>{json.dumps(facts)}</script>",
        hosted_page.script(checkout) if checkout else "",
        f"<script src={serve_built(hosted_page.shop, f'{framework}.js')}></script>",
    )
    headers = ((b"content-security-policy", policy.encode()),)
    hosted_page.shop.pages[PAYMENT_PATH] = Reply(200, "".join(pieces).encode(), HTML, headers)
    page.goto(hosted_page.shop.url + PAYMENT_PATH)


def click(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def expect_no_form(page: Page) -> None:
    expect(page.locator(OURS)).to_have_count(0)
    expect(page.get_by_text("Cart")).to_be_visible()
    expect(page.get_by_text("Terms")).to_be_visible()


def pay(page: Page, hosted_page: HostedPage, checkout: Prepared) -> None:
    card = page.locator(".wpwl-container-card")
    expect(card).to_have_count(1)
    fill_card(card)
    pay_button(card).click()
    hosted_page.expect_home(page, checkout)


@pytest.mark.parametrize("framework", keep_rows(FRAMEWORKS, "react"))
def test_a_component_may_be_unmounted_and_mounted_again(page: Page, hosted_page: HostedPage, framework: str) -> None:
    checkout = hosted_page.prepare()
    show(page, hosted_page, framework, checkout=checkout)
    fill_card(page.locator(".wpwl-container-card"))

    click(page, "Toggle")
    expect_no_form(page)
    click(page, "Toggle")

    pay(page, hosted_page, checkout)


@pytest.mark.parametrize("framework", keep_rows(FRAMEWORKS, "vue"))
def test_a_component_may_be_rendered_again_reordered_and_renewed(
    page: Page, hosted_page: HostedPage, framework: str
) -> None:
    checkout = hosted_page.prepare()
    show(page, hosted_page, framework, checkout=checkout)
    number_field(page).press_sequentially("4200")
    click(page, "Render")
    expect(page.get_by_text("Cart 1")).to_be_visible()
    expect(number_field(page)).to_have_value("4200")

    click(page, "Reorder")
    expect(page.locator("form.paymentWidgets ~ .wpwl-container-card ~ p")).to_have_text("Cart 1")
    expect(page.locator("p ~ .wpwl-container")).to_have_count(0)
    click(page, "Reorder")
    expect(page.locator("p ~ form.paymentWidgets ~ .wpwl-container-card ~ footer")).to_be_visible()
    click(page, "Renew")
    expect(number_field(page)).to_have_value("")

    pay(page, hosted_page, checkout)


@pytest.mark.parametrize("framework", keep_rows(FRAMEWORKS, "angular"))
def test_a_component_may_load_the_script_with_another_checkout_each_time(
    page: Page, hosted_page: HostedPage, framework: str
) -> None:
    visits = [hosted_page.prepare(), hosted_page.prepare(), hosted_page.prepare()]
    show(page, hosted_page, framework, visits=visits)
    expect(number_field(page)).to_be_visible()

    click(page, "Toggle")
    expect_no_form(page)
    assert page.locator("iframe, link[rel=stylesheet]").count() == 0
    click(page, "Toggle")
    expect(number_field(page)).to_be_visible()
    page.wait_for_function("(id) => window.wpwl && wpwl.checkout.id === id", arg=visits[1].id)

    click(page, "Renew")
    page.wait_for_function("(id) => window.wpwl && wpwl.checkout.id === id", arg=visits[2].id)
    pay(page, hosted_page, visits[2])


def test_react_may_take_away_what_stood_in_its_form(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    show(page, hosted_page, "react", checkout=checkout)
    expect(page.locator(".wpwl-form-card").get_by_text("Note")).to_be_visible()

    click(page, "Render")
    expect(page.get_by_text("Note")).to_have_count(0)

    pay(page, hosted_page, checkout)
