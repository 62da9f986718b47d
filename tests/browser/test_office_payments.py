"""The list of payments and the overview in a browser: found by keyboard, without faults for axe, in every look."""

from __future__ import annotations

import json
from uuid import uuid4

from playwright.sync_api import Page, expect

from browser.accessibility import list_faults
from browser.conftest import Shoot
from gateway import PAYMENT, Client, GatewayProcess


def enter(page: Page, gateway: GatewayProcess) -> str:
    """Signs the administrator in, and returns the address of the merchant's pages."""
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    page.goto(f"{gateway.base_url}/office")
    page.get_by_label("Name").fill(shown["user"])
    page.get_by_label("Password").fill(shown["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    return page.url.removesuffix("/overview")


def test_a_payment_is_found_saved_as_a_view_and_exported(
    page: Page, gateway: GatewayProcess, client: Client, shoot: Shoot
) -> None:
    reference = f"order-{uuid4().hex}"
    client.post("/v1/payments", {**PAYMENT, "merchantTransactionId": reference})
    client.post("/v1/payments", {**PAYMENT, "card.number": "4000000000000002", "merchantTransactionId": reference})
    enter(page, gateway)

    page.keyboard.press("/")
    page.keyboard.type(f"{reference} today")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="How the search was read")).to_contain_text("merchantTransactionId")
    rows = page.get_by_role("region", name="Payments").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("800.100.152")
    page.get_by_label("Save this view as").fill("Of today")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("The view Of today is saved.")
    shoot(page, "office-payments")

    page.get_by_label("State or group").select_option("approved")
    page.locator("main").get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as CSV").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert [line.split(",")[9] for line in lines] == ["merchantTransactionId", reference]
    page.get_by_role("link", name="Of today").click()
    expect(rows).to_have_count(2)
    page.goto(f"{page.url.partition('?')[0]}?q=nothing-{uuid4().hex}")
    expect(page.get_by_text("No payment fits")).to_be_visible()
    assert list_faults(page) == []


def test_the_overview_shows_charts_with_their_numbers(
    page: Page, gateway: GatewayProcess, client: Client, shoot: Shoot
) -> None:
    client.post("/v1/payments", PAYMENT)
    base = enter(page, gateway)

    page.get_by_label("Period (UTC)").select_option("today")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("img", name="Volume in EUR over time")).to_be_visible()
    expect(page.get_by_role("region", name="EUR over time")).to_be_visible()
    shoot(page, "office-overview")

    page.goto(f"{base}/overview?period=custom&from=2020-01-01&to=2020-01-02")
    expect(page.get_by_role("link", name="Pay in the demo shop")).to_be_visible()
    assert list_faults(page) == []
