"""The code of docs/payment-form.md, as it stands there: a browser shows the pages, and the merchant's server asks."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.shops import BACK, WELCOME, Site
from browser.watching import Watch
from browser.widget_shop import NONCE, HostedPage, Prepared, fill_card, inline, number_field, pay_button
from fences import list_fences
from gateway import Client

BLOCKS = [fence for fence in list_fences() if fence.text == "docs/payment-form.md"]


def find_block(language: str, word: str) -> str:
    """Returns the one block of a language that has this word."""
    (found,) = [fence.block for fence in BLOCKS if fence.language == language and word in fence.block]
    return found


FORM = find_block("html", 'data-brands="VISA')
LABELS = find_block("html", "labels:")
FALLBACK = find_block("html", "form-fault")
WALLETS = find_block("html", "applePay:")
MOUNT = find_block("js", "function mount")
ASK = find_block("python", "def ask")


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    shop.pages["/result"] = WELCOME
    return HostedPage(shop, client)


def fill_in(block: str, hosted_page: HostedPage, checkout: Prepared) -> str:
    """Puts the values of a merchant into the places that the text names."""
    places = {
        "https://pay.example": hosted_page.client.base_url,
        "https://shop.example/result": f"{hosted_page.shop.url}{BACK}?order=17",
        'nonce="…"': f'nonce="{NONCE}"',
        "checkoutId=ID": f"checkoutId={checkout.id}",
        'integrity="INTEGRITY"': f'integrity="{checkout.integrity}"',
    }
    for place, value in places.items():
        block = block.replace(place, value)
    return block


def test_the_form_of_the_three_steps_pays_and_the_server_gets_the_result(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, fill_in(FORM, hosted_page, checkout))
    fill_card(page)
    page.locator(".wpwl-container-card").locator("button.wpwl-button-pay").click()
    hosted_page.expect_home(page, checkout)

    client = hosted_page.client
    names: dict[str, Any] = {"BASE": client.base_url, "ENTITY": client.entity_id, "TOKEN": client.token}
    exec(ASK, names)
    path = hosted_page.shop.visits_to(BACK)[-1].fields["resourcePath"]

    is_paid, answer = names["ask"](path)
    assert (is_paid, answer["amount"]) == (True, "92.00")
    for foreign in ("//evil.example/v1/checkouts", path + "?x=", "/v1/payments/1"):
        with pytest.raises(ValueError, match="not a path"):
            names["ask"](foreign)


def test_the_options_of_the_text_change_the_form(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, fill_in(LABELS, hosted_page, checkout), fill_in(FORM, hosted_page, checkout))

    expect(number_field(page)).to_be_visible()
    expect(page.locator(".wpwl-container-card button.wpwl-button-pay")).to_have_text("Donate €92.00")


def test_the_options_of_wallets_are_read(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, fill_in(WALLETS, hosted_page, checkout), fill_in(FORM, hosted_page, checkout))

    expect(number_field(page)).to_be_visible()
    assert page.evaluate("wpwlOptions.applePay.countryCode + wpwlOptions.googlePay.countryCode") == "ATAT"


def test_a_single_page_application_mounts_the_form(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    given = f"{{ id: '{checkout.id}', integrity: '{checkout.integrity}' }}"
    called = f"mount(document.getElementById('place'), {given});"

    hosted_page.show(page, "<div id=place></div>", inline(fill_in(MOUNT, hosted_page, checkout) + called))

    expect(number_field(page)).to_be_visible()
    expect(pay_button(page)).to_be_visible()


def test_a_script_that_does_not_load_shows_the_fault(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    checkout = hosted_page.prepare()
    page.route("**/v1/paymentWidgets.js*", lambda route: route.abort())

    hosted_page.show(page, fill_in(FALLBACK, hosted_page, checkout))

    expect(page.locator("html.no-form .form-fault")).to_be_visible()
    assert [complaint for complaint in watch.take() if "ERR_FAILED" not in complaint] == []


def test_every_block_of_the_text_is_run() -> None:
    run = {FORM, LABELS, FALLBACK, WALLETS, MOUNT, ASK}
    assert {fence.block for fence in BLOCKS if fence.language not in ("sh", "text", "json")} == run
