"""Passkeys of the back office with Chromium's virtual authenticator, and the pages around them."""

from __future__ import annotations

import json
import re
from typing import Any
from zlib import crc32

import pytest
from playwright.sync_api import CDPSession, Page, expect

from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from browser.watching import Watch
from gateway import GatewayProcess
from office_client import OfficeClient

PASSWORD = "correct horse battery"
WRONG = "The code or the passkey is wrong"
BAD_REQUEST = "the server responded with a status of 400"
REPLAY = """async ([answer, asksAgain]) => {
  const form = document.querySelector("form[data-passkey]");
  if (asksAgain) {
    const token = form.querySelector("[name=form_token]").value;
    await fetch("/office/passkeys/use", { method: "POST", body: new URLSearchParams({ form_token: token }) });
  }
  form.querySelector("[name=credential]").value = answer;
  form.submit();
}"""
"""Sends an answer again, with or without asking for another challenge first."""
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Person:
    """A user with a browser and an authenticator."""

    def __init__(self, page: Page, base_url: str, name: str) -> None:
        self.page, self.name = page, name
        self.office = base_url.replace("127.0.0.1", "localhost") + "/office"
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        self.authenticator = self.add_authenticator()

    def add_authenticator(self) -> dict[str, str]:
        added: dict[str, str] = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        return added

    def list_credentials(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.cdp.send("WebAuthn.getCredentials", self.authenticator)["credentials"]
        return found

    def verify(self, is_verified: bool) -> None:
        self.cdp.send("WebAuthn.setUserVerified", {**self.authenticator, "isUserVerified": is_verified})

    def sign_in(self, password: str = PASSWORD) -> None:
        self.page.goto(f"{self.office}/sign-in?next=/office/profile")
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def sign_out(self) -> None:
        self.page.goto(f"{self.office}/profile")
        self.page.get_by_role("button", name="Sign out").click()
        expect(self.page).to_have_url(re.compile("/sign-in$"))

    def add_passkey(self, name: str) -> None:
        self.page.goto(f"{self.office}/profile/passkey")
        self.page.get_by_label("Name of the passkey").fill(name)
        self.page.get_by_role("button", name="Add the passkey").click()


@pytest.fixture
def person(gateway: GatewayProcess, open_context: OpenContext, request: pytest.FixtureRequest) -> Person:
    """A user who has chosen a password and has one passkey; the page shows its recovery codes."""
    name = f"user{crc32(request.node.name.encode())}"
    first = gateway.run("user", "add", name, "--role", "platform").stdout.strip()
    office = OfficeClient(gateway.base_url)
    office.sign_in(name, first)
    office.post("/office/set-up/password", {"new_password": PASSWORD, "repeated_password": PASSWORD}, follow=False)
    person = Person(open_context().new_page(), gateway.base_url, name)
    person.sign_in()
    person.page.wait_for_url(f"{person.office}/profile")
    person.add_passkey("Phone")
    expect(person.page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    return person


def test_who_is_not_signed_in_yet_is_kept_out_by_no_page(
    gateway: GatewayProcess, open_context: OpenContext, shoot: Shoot
) -> None:
    first = gateway.run("user", "add", "newcomer", "--role", "platform").stdout.strip()
    person = Person(open_context().new_page(), gateway.base_url, "newcomer")
    person.page.goto(f"{person.office}/sign-in")
    faults = list_faults(person.page)
    shoot(person.page, "office-sign-in")
    person.sign_in(first)
    expect(person.page.get_by_label("New password", exact=True)).to_be_visible()
    faults += list_faults(person.page)
    shoot(person.page, "office-set-up")
    assert faults == []


def test_a_passkey_is_the_second_factor_and_confirms_who_is_there(person: Person, shoot: Shoot) -> None:
    page = person.page
    faults = list_faults(page)
    shoot(page, "office-recovery-codes")
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("Phone", exact=True)).to_be_visible()
    person.sign_out()
    person.sign_in()
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    assert faults + list_faults(page) == []
    shoot(page, "office-second-factor")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{person.office}/profile")

    page.goto(f"{person.office}/confirm?next=/office/profile")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Your profile")).to_be_visible()
    expect(page.get_by_text("last used")).to_be_visible()


def test_a_passkey_without_verification_of_its_user_proves_nothing(person: Person) -> None:
    page = person.page
    person.sign_out()
    person.sign_in()
    person.verify(False)
    page.get_by_role("button", name="Use a passkey").click()

    expect(page.get_by_role("alert")).to_have_text("The passkey was not used. Please try again.")
    person.verify(True)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{person.office}/profile")


@pytest.mark.parametrize("asks_again", [False, True], ids=["the challenge is used", "the challenge is another"])
def test_the_answer_of_a_passkey_is_worth_nothing_a_second_time(person: Person, watch: Watch, asks_again: bool) -> None:
    page = person.page
    person.sign_out()
    person.sign_in()
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/second-factor")) as sent:
        page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{person.office}/profile")
    answer = (sent.value.post_data_json or {})["credential"]

    page.goto(f"{person.office}/confirm")
    page.evaluate(REPLAY, [answer, asks_again])
    expect(page.get_by_text(WRONG)).to_be_visible()
    person.sign_out()
    person.sign_in()
    page.evaluate(REPLAY, [answer, asks_again])
    expect(page.get_by_text(WRONG)).to_be_visible()
    assert [BAD_REQUEST in each for each in watch.take()] == [True, True]


def test_a_copied_passkey_is_refused_by_its_count(person: Person, watch: Watch) -> None:
    page = person.page
    (copied,) = person.list_credentials()
    person.sign_out()
    person.sign_in()
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{person.office}/profile")
    person.cdp.send("WebAuthn.removeCredential", {**person.authenticator, "credentialId": copied["credentialId"]})
    person.cdp.send("WebAuthn.addCredential", {**person.authenticator, "credential": {**copied, "signCount": 0}})
    person.sign_out()
    person.sign_in()

    page.get_by_role("button", name="Use a passkey").click()

    expect(page.get_by_text(WRONG)).to_be_visible()
    assert [BAD_REQUEST in each for each in watch.take()] == [True]


def test_a_recovery_code_replaces_the_passkey_and_the_passkey_can_be_removed(person: Person) -> None:
    page = person.page
    code = page.locator(".codes code").first.inner_text()
    person.sign_out()
    person.sign_in()
    page.get_by_label("Recovery code").fill(code)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{person.office}/profile")
    page.goto(f"{person.office}/profile")
    expect(page.get_by_text("You have 9 left")).to_be_visible()

    page.get_by_role("region", name="Passkeys").get_by_role("button", name="Remove").click()

    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    expect(page.get_by_text("You get recovery codes when you set up a second factor.")).to_be_visible()


def test_the_same_authenticator_is_not_added_twice(person: Person) -> None:
    person.add_passkey("Again")

    expect(person.page.get_by_role("alert")).to_have_text("The passkey was not used. Please try again.")
    assert len(person.list_credentials()) == 1


def test_credentials_lead_to_a_host_with_a_name(gateway: GatewayProcess) -> None:
    told = json.loads(gateway.run("credentials", "--json").stdout)
    assert told["office"]["url"].startswith("http://localhost:")
