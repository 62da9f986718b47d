"""Pages of account, access tokens, webhooks and the audit log in a browser: usable, and free of faults for axe."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from gateway import GatewayProcess


@pytest.fixture
def office(page: Page, gateway: GatewayProcess) -> str:
    """Signs the administrator in, and returns the address of the merchant's pages."""
    return sign_in(page, gateway)


def sign_in(page: Page, gateway: GatewayProcess) -> str:
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    page.goto(f"{gateway.base_url}/office/sign-in?next=/office/merchants")
    page.get_by_label("Name").fill(shown["user"])
    page.get_by_label("Password").fill(shown["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{gateway.base_url}/office/merchants")
    merchant_id = gateway.run("merchant", "list").stdout.split()[0]
    return f"{gateway.base_url}/office/merchants/{merchant_id}"


def test_a_token_is_made_shown_and_revoked(page: Page, office: str, shoot: Shoot) -> None:
    page.goto(f"{office}/tokens")
    page.get_by_label("Label").fill("Server of the browser")
    page.get_by_label("read", exact=False).first.check()
    page.get_by_label("Days until its end").fill("30")
    page.get_by_role("button", name="Make token").click()
    expect(page.get_by_role("status")).to_contain_text("was made")
    shoot(page, "office-tokens")
    page.get_by_role("link", name="Server of the browser").click()
    expect(page.locator("#clear-token")).to_have_count(0)
    page.get_by_role("button", name="Show the token").click()
    expect(page.locator("#clear-token")).to_be_visible()
    assert list_faults(page) == []
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")


def test_a_webhook_is_added_and_its_secrets_are_shown_once(page: Page, office: str, shoot: Shoot) -> None:
    page.goto(f"{office}/webhooks")
    page.get_by_label("URL").fill("http://127.0.0.1:9/browser")
    page.get_by_role("button", name="Add webhook").click()
    page.get_by_role("button", name="Show the secrets").click()
    expect(page.locator("#webhook-secret")).to_have_text(re.compile("[0-9a-f]{64}"))
    assert list_faults(page) == []
    shoot(page, "office-webhook")
    page.get_by_role("link", name="Events and deliveries").click()
    expect(page.get_by_text("No event was queued for this webhook")).to_be_visible()
    page.goto(f"{office}/webhooks")
    page.get_by_role("link", name="http://127.0.0.1:9/browser").click()
    expect(page.get_by_role("button", name="Show the secrets")).to_have_count(0)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("status")).to_contain_text("was removed")


def test_a_channel_is_changed_and_the_audit_log_says_so_in_a_file(page: Page, office: str, shoot: Shoot) -> None:
    page.goto(f"{office}/account")
    shoot(page, "office-account")
    page.get_by_role("region", name="Channels").get_by_role("link").first.click()
    expect(page.get_by_label("Creditor IBAN")).to_be_visible()
    page.get_by_label("Rebills max").fill("7")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("status")).to_contain_text("Changed: rebills_max")
    page.goto(f"{office}/audit-log")
    expect(page.get_by_role("cell", name="channel changed").first).to_be_visible()
    shoot(page, "office-audit-log")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export as CSV").click()
    assert saved.value.suggested_filename == "audit-log.csv"


def test_the_pages_are_read_and_used_without_scripts(open_context: OpenContext, gateway: GatewayProcess) -> None:
    page = open_context(java_script_enabled=False).new_page()
    office = sign_in(page, gateway)
    for name, heading in (("account", "Account"), ("tokens", "Access tokens"), ("webhooks", "Webhooks")):
        page.goto(f"{office}/{name}")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    page.goto(f"{office}/audit-log")
    page.get_by_label("Action").select_option("signed in")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(f"{office}/audit-log?user=&action=signed+in&since=&until=")
