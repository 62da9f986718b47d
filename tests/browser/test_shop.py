"""A newcomer opens the demo shop in a real browser, pays in every way it offers, and takes the code along."""

from __future__ import annotations

import subprocess
from typing import Literal

from playwright.sync_api import BrowserContext, Frame, Page, expect

from browser.accessibility import list_violations
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
from tollgate.widget.languages import LANGUAGES

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
IS_COVERED_OR_CUT = """
  all => all.map((snippet) => {
    const [pre, code, button] = ["pre", "code", "button"].map((each) => snippet.querySelector(each));
    const edge = button.getBoundingClientRect();
    const covered = [...code.getClientRects()].some((line) => line.top < edge.bottom && line.right > edge.left);
    return covered || pre.scrollWidth > pre.clientWidth;
  })
"""
SLOW_BANK_MS = 6000


def expect_paid(page: Page) -> None:
    expect(page.get_by_role("heading", name="Thank you, it is paid")).to_be_visible()


def list_faults(page: Page, frame: Frame | None = None) -> list[str]:
    """Lists what axe finds in a page or frame, light and dark; the form's own frames have tests of their own."""
    found = []
    for scheme in SCHEMES:
        # A colour that is on its way from day to night is neither.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += list_violations(frame or page)
    return found


def test_a_newcomer_fills_the_cart_pays_by_card_and_sees_the_result_and_the_code(
    page: Page, gateway: GatewayProcess, client: Client
) -> None:
    page.goto(f"{gateway.base_url}/sandbox/shop")
    page.get_by_label("Quantity of Canvas bag").fill("3")
    expect(page.locator("#total")).to_have_text("95.50")
    faults = list_faults(page)

    page.get_by_role("button", name="Go to payment").click()
    wait_for_form(page)
    expect(page.get_by_text("95.50 EUR")).to_be_visible()
    faults += list_faults(page)
    pay_by_card(page, NUMBER)

    expect_paid(page)
    faults += list_faults(page)
    expect(page.locator("#json")).to_contain_text('"amount": "95.50"')
    checkout_id = page.url.partition("id=")[2].partition("&")[0]
    expect(page.locator("#snippet-3")).to_contain_text(
        f"/v1/checkouts/{checkout_id}/payment?entityId={client.entity_id}"
    )
    page.reload()
    expect_paid(page)
    assert faults == []


def test_no_line_of_the_code_is_covered_or_cut(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/sandbox/shop")
    page.get_by_role("button", name="Go to payment").click()
    wait_for_form(page)
    for width in (320, 1200):
        page.set_viewport_size({"width": width, "height": 900})

        covered = page.locator(".snippet").evaluate_all(IS_COVERED_OR_CUT)

        assert covered, "the page shows code"
        assert not any(covered), width


def test_the_code_to_copy_works_as_it_stands(
    open_context: OpenContext, gateway: GatewayProcess, client: Client
) -> None:
    context = open_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    order(page, gateway.base_url)

    # "Copied" stands there until it is seen.
    page.evaluate("void (window.setTimeout = () => 0)")
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
    expect(page).to_have_url(form_url)
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


# ---- for everybody ----


def test_nothing_keeps_anybody_out_of_an_empty_cart_or_a_checkout_that_is_over(
    page: Page, gateway: GatewayProcess, watch: Watch
) -> None:
    page.goto(f"{gateway.base_url}/sandbox/shop")
    for name in ("Enamel mug", "Dotted notebook"):
        page.get_by_label(f"Quantity of {name}").fill("0")
    page.get_by_role("button", name="Go to payment").click()
    expect(page.get_by_role("alert")).to_contain_text("The cart is empty")
    assert list_faults(page) == []

    page.goto(f"{gateway.base_url}/sandbox/shop/checkout?id=8a01")
    expect(page.get_by_role("heading", name="This checkout is over")).to_be_visible()
    assert list_faults(page) == []
    assert all("404" in complaint for complaint in watch.take())


def test_nothing_keeps_anybody_out_of_an_open_or_a_declined_result(
    page: Page, gateway: GatewayProcess, watch: Watch
) -> None:
    order(page, gateway.base_url)
    form_url = page.url
    checkout_id = form_url.partition("id=")[2]
    path = f"%2Fv1%2Fcheckouts%2F{checkout_id}%2Fpayment"
    page.goto(f"{gateway.base_url}/sandbox/shop/result?id={checkout_id}&resourcePath={path}")
    expect(page.get_by_role("heading", name="Nothing is paid yet")).to_be_visible()
    assert list_faults(page) == []

    page.goto(form_url)
    wait_for_form(page)
    pay_by_card(page, DECLINED)
    expect(page.get_by_role("heading", name="It was not paid")).to_be_visible()
    page.locator("summary").click()
    assert list_faults(page) == []
    assert all("400" in complaint for complaint in watch.take())


def test_fields_of_the_cart_are_large_enough_for_a_phone(page: Page, gateway: GatewayProcess) -> None:
    """Safari enlarges the page around a field whose letters are smaller than 16 pixels."""
    page.goto(f"{gateway.base_url}/sandbox/shop")

    sizes = page.locator("input:visible, select:visible").evaluate_all(
        "fields => fields.map(field => parseFloat(getComputedStyle(field).fontSize))"
    )
    assert sizes == [16, 16, 16]


def test_the_result_is_a_receipt_first_and_the_answer_is_folded(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    pay_by_card(page, NUMBER)
    expect_paid(page)

    receipt = page.get_by_role("region", name="Thank you, it is paid")
    for text in ("38.50 EUR", "Gatehouse Goods", "Visa •••• 0000", "demo-shop-"):
        expect(receipt).to_contain_text(text)
    expect(page.locator("#json")).to_be_hidden()
    page.locator("summary").click()
    expect(page.locator("#json")).to_be_visible()


# ---- the developer panel ----


def test_a_developer_switches_layout_style_colours_and_stored_cards(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    expect(page.locator(".wpwl-accordion")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("radio", name="Classic").check()
    expect(page.locator(".wpwl-container-card")).to_be_visible()
    expect(page.locator(".wpwl-accordion")).to_have_count(0)
    page.get_by_role("radio", name="Plain").check()
    expect(page.locator('link[href$="/plain.css"]')).to_have_count(1)
    page.get_by_role("radio", name="Forest").check()
    expect(page.locator(".payment.colours-forest .wpwl-container-card")).to_be_visible()
    page.get_by_role("group", name="Stored cards").get_by_role("radio", name="Off").check()
    expect(page.locator(".wpwl-container-card")).to_be_visible()
    expect(page.get_by_label("Save this card")).to_have_count(0)

    page.reload()

    for name in ("Classic", "Plain", "Forest", "Off"):
        expect(page.get_by_role("radio", name=name)).to_be_checked()
    assert list_faults(page) == []


def test_a_checkout_that_expires_now_says_the_shopper_when_it_is_paid(
    page: Page, gateway: GatewayProcess, watch: Watch
) -> None:
    order(page, gateway.base_url)
    page.get_by_role("button", name="Expire now").click()
    expect(page.get_by_role("status").filter(has_text="The checkout has ended")).to_be_visible()

    pay_by_card(page, NUMBER)

    expect(page.get_by_text(LANGUAGES["en"]["sessionGone"])).to_be_visible()
    assert watch.take()


def test_a_slow_bank_takes_its_time_and_pays_all_the_same(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    with page.expect_navigation():
        page.get_by_role("radio", name="Slow").check()
    wait_for_form(page)
    fill_in_card(page, NUMBER)
    started_at = page.evaluate("performance.timeOrigin + performance.now()")
    pay_button(page).click()

    expect_paid(page)
    assert page.evaluate("performance.timeOrigin") - started_at >= SLOW_BANK_MS


def test_a_shopper_pays_with_a_wallet(page: Page, gateway: GatewayProcess) -> None:
    order(page, gateway.base_url)
    open_method(page, "virtualAccount-APPLEPAY")
    pay_button(page).click()
    sheet = page.get_by_role("dialog", name="Apple Pay").frame_locator("iframe")
    expect(sheet.get_by_text("Gatehouse Goods")).to_be_visible()
    sheet.get_by_role("button", name="Confirm").click()

    expect_paid(page)
    expect(page.get_by_role("region", name="Thank you")).to_contain_text("Apple Pay •••• 0000")


def test_a_bank_and_a_provider_name_the_merchant_and_keep_nobody_out(
    page: Page, gateway: GatewayProcess, watch: Watch
) -> None:
    order(page, gateway.base_url)
    open_method(page, "virtualAccount-PAYPAL")
    with page.expect_popup() as opened:
        pay_button(page).click()
    expect(opened.value.get_by_text("Gatehouse Goods")).to_be_visible()
    assert list_faults(opened.value) == []
    opened.value.close()

    order(page, gateway.base_url)
    fill_in_card(page, CHALLENGED)
    pay_with_address(page)

    expect(bank_page(page).get_by_text("Gatehouse Goods")).to_be_visible()
    assert list_faults(page, next(frame for frame in page.frames if "/sandbox/acs/challenge/" in frame.url)) == []
    watch.take()
