"""A newcomer's hands in the demo shop: fills the cart, types a card, pays. What comes of it is judged by the tests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

NUMBER = "4200000000000000"
DECLINED = "4000000000000002"
CHALLENGED = "4711100000000000"


def order(page: Page, base_url: str, language: str = "") -> None:
    """Goes from the cart to the payment form."""
    page.goto(f"{base_url}/sandbox/shop" + (f"?lang={language}" if language else ""))
    page.get_by_role("button", name="Go to payment").click()
    wait_for_form(page)


def wait_for_form(page: Page) -> None:
    expect(pay_button(page)).to_be_attached()


def pay_button(page: Page) -> Locator:
    """Returns the one button of all methods."""
    return page.locator(".wpwl-button-pay")


def open_method(page: Page, key: str) -> None:
    """`key` is the last word of the class of the method's row, such as "card"."""
    page.locator(f".wpwl-method-{key} .wpwl-method-radio").check()


def card_form(page: Page) -> Locator:
    return page.locator(".wpwl-container-card")


def fill_in_card(page: Page, number: str) -> None:
    form = card_form(page)
    form.frame_locator('iframe[name="card.number"]').locator("input").press_sequentially(number)
    form.locator(".wpwl-control-expiry").press_sequentially("0534")
    form.locator(".wpwl-control-cardHolder").fill("Jane Jones")
    form.frame_locator('iframe[name="card.cvv"]').locator("input").press_sequentially("123")


def pay_by_card(page: Page, number: str) -> None:
    fill_in_card(page, number)
    pay_button(page).click()


def pay_with_address(page: Page) -> None:
    """Presses the button of the card form, fills in the billing address that 3-D Secure needs, and presses again."""
    form = card_form(page)
    pay_button(page).click()
    expect(form.locator('[name="billing.country"]')).to_be_focused()
    form.locator('[name="billing.country"]').select_option("AT")
    for name, text in (("city", "Graz"), ("postcode", "8010"), ("street1", "Ring 7")):
        form.locator(f'[name="billing.{name}"]').fill(text)
    pay_button(page).click()
