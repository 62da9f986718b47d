"""A newcomer opens the demo shop in a real browser, pays in every way it offers, and takes the code along."""

from __future__ import annotations

import subprocess
from typing import Literal

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import BrowserContext, Page, expect

from browser.conftest import OpenContext
from browser.shopping import (
    CHALLENGED,
    DECLINED,
    NUMBER,
    card_form,
    fill_in_card,
    open_method,
    order,
    pay_button,
    pay_by_card,
    pay_with_address,
    wait_for_form,
)
from browser.watching import Watch
from browser.widget_shop import bank_page
from gateway import Client, GatewayProcess

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SERIOUS = ("serious", "critical")
# What a page loads from elsewhere need not be loaded again to be judged, and its policy would forbid it.
AXE_OPTIONS = {"resultTypes": ["violations"], "iframes": False, "preload": False}


def expect_paid(page: Page) -> None:
    expect(page.get_by_role("heading", name="Thank you, it is paid")).to_be_visible()


def list_serious_faults(page: Page) -> list[str]:
    """What axe finds in the page, by day and by night; the form's own tests look into its frames."""
    found = []
    for scheme in SCHEMES:
        # A colour that is on its way from day to night is neither.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += Axe().run(page, options=AXE_OPTIONS).response["violations"]
    return [f"{fault['id']}: {fault['nodes'][0]['html']}" for fault in found if fault["impact"] in SERIOUS]


def test_a_newcomer_fills_the_cart_pays_by_card_and_sees_the_result_and_the_code(
    page: Page, gateway: GatewayProcess, client: Client
) -> None:
    page.goto(f"{gateway.base_url}/sandbox/shop")
    page.get_by_label("Quantity of Canvas bag").fill("3")
    expect(page.locator("#total")).to_have_text("95.50")
    faults = list_serious_faults(page)

    page.get_by_role("button", name="Go to payment").click()
    wait_for_form(page)
    expect(page.get_by_text("95.50 EUR")).to_be_visible()
    faults += list_serious_faults(page)
    pay_by_card(page, NUMBER)

    expect_paid(page)
    faults += list_serious_faults(page)
    expect(page.locator("#json")).to_contain_text('"amount": "95.50"')
    checkout_id = page.url.partition("id=")[2].partition("&")[0]
    expect(page.locator("#snippet-3")).to_contain_text(
        f"/v1/checkouts/{checkout_id}/payment?entityId={client.entity_id}"
    )
    page.reload()
    expect_paid(page)
    assert faults == []


def test_the_code_to_copy_works_as_it_stands(
    open_context: OpenContext, gateway: GatewayProcess, client: Client
) -> None:
    context = open_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    order(page, gateway.base_url)

    page.get_by_role("button", name="Copy: Your server prepares the checkout").click()
    expect(page.get_by_role("button", name="Copy: Your server prepares the checkout")).to_have_text("Copied")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    said = subprocess.run(
        ["bash", "-c", copied], env={"TOKEN": client.token, "PATH": "/usr/bin:/bin"}, capture_output=True, timeout=300
    )

    assert b'"code":"000.200.100"' in said.stdout, said.stderr
    assert b'"integrity":"sha384-' in said.stdout


def test_a_declined_shopper_goes_back_and_pays_in_the_same_checkout(
    page: Page, gateway: GatewayProcess, watch: Watch
) -> None:
    order(page, gateway.base_url)
    form_url = page.url
    pay_by_card(page, DECLINED)
    expect(page.get_by_role("heading", name="It was not paid")).to_be_visible()
    # A browser complains of every answer that says no.
    assert all("400" in complaint for complaint in watch.take())

    page.get_by_role("link", name="Try again").click()
    assert page.url == form_url
    pay_by_card(page, NUMBER)
    expect_paid(page)

    page.go_back()
    expect_paid(page)


def test_a_shopper_is_asked_by_the_bank_within_the_page(page: Page, gateway: GatewayProcess, watch: Watch) -> None:
    order(page, gateway.base_url)
    fill_in_card(page, CHALLENGED)
    pay_with_address(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert all("400" in complaint for complaint in watch.take())

    bank = bank_page(page)
    bank.get_by_label("One-time code").fill("1234")
    bank.get_by_role("button", name="Confirm").click()

    expect_paid(page)
    expect(page.locator("#json")).to_contain_text('"eci": "05"')


def test_a_shopper_pays_at_a_provider_in_a_window_beside_the_shop(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    open_method(page, "virtualAccount-PAYPAL")

    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.get_by_role("button", name="Approve").click()

    expect_paid(page)
    expect(page.locator("#json")).to_contain_text('"paymentBrand": "PAYPAL"')


def test_a_shopper_pays_by_direct_debit(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    open_method(page, "directDebit")
    form = page.locator(".wpwl-container-directDebit")

    form.locator(".wpwl-control-accountHolder").fill("Jane Jones")
    form.locator(".wpwl-control-accountIban").fill("DE89 3704 0044 0532 0130 00")
    pay_button(page).click()

    expect_paid(page)


def save_card(context: BrowserContext, gateway: GatewayProcess) -> Page:
    page = context.new_page()
    order(page, gateway.base_url)
    fill_in_card(page, NUMBER)
    card_form(page).get_by_label("Save this card").check()
    pay_button(page).click()
    expect_paid(page)
    expect(page.get_by_text("Your card is saved")).to_be_visible()
    return page


def test_a_saved_card_pays_with_one_click_until_it_is_to_be_forgotten(
    open_context: OpenContext, gateway: GatewayProcess
) -> None:
    page = save_card(open_context(), gateway)

    order(page, gateway.base_url)
    stored = page.locator(".wpwl-container-registration")
    expect(stored).to_contain_text("0000")
    expect(card_form(page)).to_be_hidden()
    pay_button(page).click()
    expect_paid(page)

    page.goto(f"{gateway.base_url}/sandbox/shop")
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("button", name="Forget it")).to_be_hidden()
    order(page, gateway.base_url)
    expect(stored).to_have_count(0)


def test_a_shopper_chooses_the_language_of_the_form(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)

    for code, text in (("de", "Kartennummer"), ("ar", "رقم البطاقة")):
        page.get_by_label("Language of the form").select_option(code)
        expect(card_form(page).get_by_text(text)).to_be_visible()
        assert f"lang={code}" in page.url


def test_a_cart_is_ordered_without_scripts_too(plain_page: Page, gateway: GatewayProcess) -> None:
    plain_page.goto(f"{gateway.base_url}/sandbox/shop")
    plain_page.get_by_role("button", name="Go to payment").click()

    expect(plain_page.get_by_role("heading", name="Payment")).to_be_visible()
    expect(plain_page.get_by_text("38.50 EUR")).to_be_visible()
