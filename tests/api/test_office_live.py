"""The back office of a live host: its first user, the second factor that it needs, and its cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.merchants import add_merchant, run_command
from api.recording import RecordingAcquirer
from api.secure import SecureGateway, make_certificate
from api.test_live_host import make_keys, make_variables
from office_client import OfficeClient
from office_pages import choose_password, make_next_code, read_totp, set_up_totp
from office_users import PASSWORD, add_user
from ports import find_free_port
from postgres import PostgresCluster

NEW = "quite another password"
COOKIE = "__Host-tollgate-office"


@dataclass(frozen=True)
class LiveOffice:
    gateway: SecureGateway
    authority: Path

    def open(self) -> OfficeClient:
        return OfficeClient(self.gateway.base_url, authority=self.authority)


@pytest.fixture(scope="module")
def live(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveOffice]:
    folder = tmp_path_factory.mktemp("live_office")
    certificate = make_certificate(folder / "tls")
    gateway = SecureGateway(folder / "data", cluster.create_database(), is_cold=True)
    gateway.environment = make_variables(certificate, make_keys(folder / "keys"), find_free_port())
    run_command(gateway, "migrate")
    known = add_merchant(gateway, "Live shop")
    run_command(gateway, "channel", "set", known.entity_id, "--live-url", acquirer.url)
    with gateway:
        yield LiveOffice(gateway, certificate.authority)


def test_the_first_user_of_a_live_host_chooses_a_password_and_sets_up_a_second_factor(live: LiveOffice) -> None:
    assert run_command(live.gateway, "user", "list") == ""
    name, first = "first", run_command(live.gateway, "user", "add", "first", "--role", "platform")
    office = live.open()
    office.sign_in(name, first)
    assert office.path == "/office/set-up"
    page = choose_password(office, PASSWORD, follow=True).body.decode()
    assert "Set up a second factor" in page
    assert "Passkeys need a host with a name" in page
    for path in ("/office", "/office/profile", "/office/users"):
        assert office.get(path, follow=False).headers["location"] == "/office/set-up"
    before = office.cookies[COOKIE]

    app, codes = set_up_totp(office, "/office/set-up/totp")

    assert len(codes) == 10
    assert office.cookies[COOKIE] != before
    assert office.get("/office/profile", follow=False).status == 200
    assert live.open().get("/office/profile", follow=False).status == 303
    again = live.open()
    again.sign_in(name, PASSWORD)
    assert again.path == "/office/second-factor"
    again.post("/office/second-factor", {"code": make_next_code(app)}, follow=False)
    assert again.get("/office/users").status == 200


def test_the_password_comes_before_the_second_factor(live: LiveOffice) -> None:
    name = add_user(live.gateway, must_change_password=True).name
    office = live.open()
    office.sign_in(name, PASSWORD)

    answer = office.post("/office/set-up/totp", {"sealed": "", "code": "123456"})

    assert (answer.status, "must be chosen first" in answer.body.decode()) == (400, True)
    choose_password(office, NEW)
    _, sealed = read_totp(office.get("/office/set-up"))
    wrong = office.post("/office/set-up/totp", {"sealed": sealed, "code": "wrong"})
    assert (wrong.status, read_totp(wrong)[1] != "") == (400, True)
    assert office.get("/office/profile", follow=False).headers["location"] == "/office/set-up"


def test_the_last_second_factor_cannot_be_removed(live: LiveOffice) -> None:
    name = add_user(live.gateway, must_change_password=True).name
    office = live.open()
    office.sign_in(name, PASSWORD)
    choose_password(office, NEW)
    set_up_totp(office, "/office/set-up/totp")
    page = office.get("/office/profile").body.decode()
    assert "/office/profile/totp/remove" not in page

    answer = office.post("/office/profile/totp/remove")

    assert (answer.status, "is the last one" in answer.body.decode()) == (400, True)


def test_cookies_are_for_this_host_over_tls_only(live: LiveOffice) -> None:
    name = add_user(live.gateway, must_change_password=True).name
    office = live.open()
    form = office.get("/office/sign-in")
    signed = office.post("/office/sign-in", {"name": name, "password": PASSWORD}, follow=False)

    for answer, cookie in ((form, f"{COOKIE}-form"), (signed, COOKIE)):
        expected = rf"{cookie}=[A-Za-z0-9_-]{{43}}; Path=/; HttpOnly; SameSite=Lax; Secure"
        assert re.fullmatch(expected, answer.headers["set-cookie"])


def test_every_page_says_that_it_is_about_real_money(live: LiveOffice) -> None:
    assert "Live: real money" in live.open().get("/office/sign-in").body.decode()
