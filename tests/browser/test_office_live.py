"""The first user of a live host in a browser, over TLS, until a second factor is set up."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from time import time

import pyotp
import pytest
from playwright.sync_api import expect

from api.merchants import run_command
from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from live_office import open_live_office
from office_users import PASSWORD
from postgres import PostgresCluster

NOBODY = "http://127.0.0.1:9"
"""No payment is made here, so no acquirer listens."""


@dataclass(frozen=True)
class NewHost:
    base_url: str
    password: str
    """The one that the command has told for the first user."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewHost]:
    """The host is made in a thread, because Playwright's loop runs in this one."""
    with ExitStack() as opened, ThreadPoolExecutor(1) as elsewhere:
        cluster = opened.enter_context(PostgresCluster())
        office = open_live_office(tmp_path_factory.mktemp("live"), cluster.create_database(), NOBODY)
        gateway = elsewhere.submit(opened.enter_context, office).result().gateway
        told = elsewhere.submit(run_command, gateway, "user", "add", "first", "--role", "platform").result()
        yield NewHost(gateway.base_url, told.strip())


def test_the_first_user_of_a_live_host_sets_up_a_second_factor(
    host: NewHost, open_context: OpenContext, shoot: Shoot
) -> None:
    page = open_context(ignore_https_errors=True).new_page()
    page.goto(f"{host.base_url}/office/sign-in")
    page.get_by_label("Name").fill("first")
    page.get_by_label("Password").fill(host.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("New password again").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Set up a second factor")).to_be_visible()
    faults = list_faults(page)
    shoot(page, "office-set-up-factor")

    secret = page.get_by_text("Secret:").locator("code").inner_text().replace(" ", "")
    page.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).at(int(time())))
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    faults += list_faults(page)
    shoot(page, "office-set-up-codes")

    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("Live", exact=False).first).to_be_visible()
    assert faults == []
