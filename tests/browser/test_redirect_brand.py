"""A shopper pays at a provider's page in a real browser: approves, declines, cancels, walks away, comes back twice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext, Shoot
from browser.shops import BACK, Site
from browser.walks import Journey, pay_by_brand
from gateway import Client

APPROVED = "000.100.110"
PENDING = "000.200.000"
BY_LINK, BY_FORM = "PAYPAL", "GIROPAY"


def go_to_provider(page: Page, journey: Journey) -> None:
    journey.start(page)
    page.locator("#onward").click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()


@pytest.mark.parametrize("brand", [BY_LINK, BY_FORM])
def test_a_shopper_approves_and_comes_home(page: Page, shop: Site, client: Client, shoot: Shoot, brand: str) -> None:
    journey = pay_by_brand(shop, client, brand)
    assert journey.redirect["method"] == {BY_LINK: "GET", BY_FORM: "POST"}[brand]

    go_to_provider(page, journey)
    shoot(page, f"provider-{brand.lower()}")
    page.get_by_role("button", name="Approve").click()

    journey.expect_home(page)
    assert journey.read_code() == APPROVED


@pytest.mark.parametrize(("button", "code"), [("Decline", "800.100.152"), ("Cancel", "100.396.101")])
def test_a_shopper_says_no_and_comes_home(page: Page, shop: Site, client: Client, button: str, code: str) -> None:
    journey = pay_by_brand(shop, client, BY_LINK)

    go_to_provider(page, journey)
    page.get_by_role("button", name=button).press("Enter")

    journey.expect_home(page)
    assert journey.read_code() == code


def test_a_shopper_approves_without_scripts(plain_page: Page, shop: Site, client: Client) -> None:
    journey = pay_by_brand(shop, client, BY_LINK)

    go_to_provider(plain_page, journey)
    plain_page.get_by_role("button", name="Approve").click()

    journey.expect_home(plain_page)
    assert journey.read_code() == APPROVED


def test_a_shopper_who_closes_the_tab_decides_nothing(open_context: OpenContext, shop: Site, client: Client) -> None:
    journey = pay_by_brand(shop, client, BY_LINK)
    context = open_context()
    page = context.new_page()

    go_to_provider(page, journey)
    page.close()
    assert journey.read_code() == PENDING

    again = context.new_page()
    go_to_provider(again, journey)
    again.get_by_role("button", name="Approve").click()
    journey.expect_home(again)
    assert journey.read_code() == APPROVED


def test_the_back_button_shows_what_was_decided(page: Page, shop: Site, client: Client, shoot: Shoot) -> None:
    journey = pay_by_brand(shop, client, BY_LINK)
    go_to_provider(page, journey)
    page.get_by_role("button", name="Decline").click()
    journey.expect_home(page)

    page.go_back()

    expect(page.get_by_text("Nothing is left to decide here.")).to_be_visible()
    shoot(page, "provider-decided")
    page.get_by_role("link", name="Back to the shop").click()
    journey.expect_home(page)
    assert len(shop.visits_to(BACK)) == 2
    assert journey.read_code() == "800.100.152"


def test_coming_back_without_having_decided_proves_nothing(page: Page, shop: Site, client: Client) -> None:
    """The address of the way home is no secret to the shopper; the provider is asked all the same."""
    journey = pay_by_brand(shop, client, BY_LINK)
    go_to_provider(page, journey)
    other = page.context.new_page()
    go_to_provider(other, journey)

    other.goto(f"{shop.url}{BACK}?order=17&id={journey.id}&resourcePath=/v1/payments/{journey.id}")

    assert journey.read_code() == PENDING
    page.get_by_role("button", name="Cancel").click()
    journey.expect_home(page)
    assert journey.read_code() == "100.396.101"
