"""Routing, risk rules, lists and reviews in a browser: free of faults for axe, and safe from two clicks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from browser.test_office_settings import sign_in
from browser.watching import Watch
from gateway import Client, GatewayProcess

REVIEW = {"customParameters[forceResultCode]": "000.400.000"}


@pytest.fixture
def office(page: Page, gateway: GatewayProcess) -> str:
    """Signs the administrator in, and returns the address of the merchant's pages."""
    return sign_in(page, gateway)


def add_account(page: Page, office: str, client: Client, name: str) -> None:
    """Adds an acquirer account to the channel of the client."""
    page.goto(f"{office}/routing")
    page.locator(f'a[href$="/channels/{client.entity_id}"]').click()
    page.get_by_text("Add an acquirer account").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Test address").fill("https://second.example")
    page.get_by_label("Acquirer weight").fill("30")
    page.get_by_role("button", name="Add account").click()
    expect(page.get_by_role("status")).to_contain_text(f"The acquirer account {name} was added")


def test_an_account_is_added_changed_and_closed(page: Page, office: str, client: Client, shoot: Shoot) -> None:
    add_account(page, office, client, "Second acquirer")
    shoot(page, "office-routing-accounts")
    assert list_faults(page) == []
    page.get_by_role("link", name="Second acquirer").click()
    page.get_by_label("Acquirer weight").fill("70")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("status")).to_contain_text("Changed: acquirer_weight")
    page.get_by_role("button", name="Close the account").click()
    expect(page.get_by_role("status")).to_contain_text("is closed")
    shoot(page, "office-routing-closed")
    assert list_faults(page) == []


def test_dispatch_rows_are_added_moved_and_removed(page: Page, office: str, shoot: Shoot) -> None:
    for brand in ("JCB", "DINERS"):
        page.goto(f"{office}/routing")
        page.get_by_text("Add a dispatch row").click()
        page.get_by_label("Brands").fill(brand)
        page.get_by_role("button", name="Add row").click()
        expect(page.get_by_role("status")).to_contain_text("was added behind the others")
    rows = page.get_by_role("region", name="Dispatch rows").locator("tbody tr")
    expect(rows.last).to_contain_text("DINERS")
    rows.last.get_by_role("button", name="Up").click()
    expect(rows.last).to_contain_text("JCB")
    shoot(page, "office-routing-rows")
    assert list_faults(page) == []
    for brand in ("JCB", "DINERS"):
        page.get_by_role("row", name=re.compile(brand)).get_by_role("button", name="Remove").click()
        expect(page.get_by_role("status")).to_contain_text("was removed")


def test_a_rule_is_made_by_two_clicks_once_and_gets_a_version(page: Page, office: str, shoot: Shoot) -> None:
    page.goto(f"{office}/risk")
    page.get_by_role("link", name="Add a rule").click()
    page.get_by_role("link", name=re.compile("^Count ")).click()
    page.get_by_label("Name").fill("Many cards")
    page.get_by_label("Attribute").select_option("card")
    page.get_by_label("Window").fill("24h")
    page.get_by_role("textbox", name="Count").fill("1000")
    shoot(page, "office-risk-new-count")
    assert list_faults(page) == []
    page.get_by_role("button", name="Add rule").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Risk rules")
    expect(page.get_by_role("link", name="Many cards")).to_have_count(1)
    page.get_by_role("link", name="Many cards").click()
    page.get_by_label("Points").fill("15")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("status")).to_contain_text("Version 2 of the risk rule Many cards")
    assert list_faults(page) == []


def test_a_page_that_shows_an_older_version_is_told(
    page: Page, office: str, open_context: OpenContext, gateway: GatewayProcess, watch: Watch
) -> None:
    page.goto(f"{office}/risk/new?kind=proxy")
    page.get_by_label("Name").fill("Proxies")
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("link", name="Proxies").click()
    other = open_context().new_page()
    sign_in(other, gateway)
    other.goto(page.url)
    other.get_by_label("Points").fill("5")
    other.get_by_role("button", name="Save as a new version").click()
    expect(other.get_by_role("status")).to_contain_text("Version 2")
    page.get_by_label("Points").fill("50")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this after you opened the page")
    # The browser reports the status of the refusal.
    assert [text for text in watch.take() if "status of 409" not in text] == []
    page.go_back()
    page.reload()
    expect(page.get_by_label("Points")).to_have_value("5")


def test_an_address_is_blocked_until_a_day_and_removed(page: Page, office: str, shoot: Shoot) -> None:
    page.goto(f"{office}/lists")
    page.get_by_label("Attribute").select_option("ip")
    page.get_by_label("Value").fill("203.0.113.77")
    page.get_by_label("Last day").fill("2099-01-31")
    page.get_by_label("Note").fill("Many stolen cards")
    page.get_by_role("button", name="Add entry").dblclick()
    entry = page.get_by_role("row", name=re.compile("Many stolen cards"))
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("203.0.***")
    shoot(page, "office-lists-entry")
    assert list_faults(page) == []
    entry.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status")).to_contain_text("on the block list no more")


def test_a_review_is_decided_in_the_queue_and_on_the_page_of_its_payment(
    page: Page, office: str, client: Client, shoot: Shoot
) -> None:
    accepted, rejected = (client.pay(**REVIEW).json for _ in range(2))
    page.goto(f"{office}/reviews")
    shoot(page, "office-reviews-queue")
    assert list_faults(page) == []
    case = page.locator(f"#case-{accepted['id']}")
    case.get_by_label("Note").fill("The shopper called us")
    case.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("status")).to_contain_text("is accepted")
    expect(case).to_have_count(0)
    page.goto(f"{office}/payments/{rejected['id']}")
    shoot(page, "office-payment-reviewed")
    assert list_faults(page) == []
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status")).to_contain_text("is rejected")
    expect(page.locator("#risk")).to_contain_text("rejected")


def test_a_payment_shows_each_account_that_was_considered(
    page: Page, office: str, client: Client, shoot: Shoot
) -> None:
    add_account(page, office, client, "Considered acquirer")
    payment_id = client.pay().json["id"]
    page.goto(f"{office}/payments/{payment_id}")
    accounts = page.get_by_role("region", name="Accounts that were considered")
    expect(accounts.get_by_role("link", name="Considered acquirer")).to_be_visible()
    expect(accounts.get_by_text("chosen", exact=True)).to_have_count(1)
    shoot(page, "office-payment-routed")
    assert list_faults(page) == []
    accounts.get_by_role("link", name="Considered acquirer").click()
    page.get_by_role("button", name="Close the account").click()
    expect(page.get_by_role("status")).to_contain_text("is closed")
