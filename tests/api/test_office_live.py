"""The back office of a live host: its first user, the second factor that it needs, and its cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from api.merchants import run_command
from api.recording import RecordingAcquirer
from gateway import Client
from live_office import LiveOffice, open_live_office
from office_pages import choose_password, find_id, make_next_code, read_key, read_totp, set_up_totp
from office_users import PASSWORD, add_user, list_audit
from postgres import PostgresCluster
from tollgate.catalog.permissions import Role

NEW = "quite another password"
COOKIE = "__Host-tollgate-office"


@pytest.fixture(scope="module")
def live(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveOffice]:
    folder = tmp_path_factory.mktemp("live_office")
    with open_live_office(folder, cluster.create_database(), acquirer.url) as office:
        yield office


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


def test_an_operator_records_a_receipt_that_a_second_person_confirms_and_the_prepayment_is_complete(
    live: LiveOffice, acquirer: RecordingAcquirer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquirer, "reply", {"status": "account", "account": {"iban": "DE89370400440532013000"}})
    order = {"amount": "38.50", "currency": "EUR", "paymentType": "PA", "paymentBrand": "PREPAYMENT"}
    payment_id = live.client.post("/v1/payments", order).json["id"]
    monkeypatch.undo()
    operator, administrator = live.enter_as(Role.OPERATOR), live.enter_as(Role.ADMINISTRATOR)
    path = f"{operator.base}/payments/{payment_id}"
    key = read_key(operator.get(path).body.decode(), "record")

    asked = operator.post(f"{path}/record", {"key": key, "type": "RC", "amount": "38.50"}).body.decode()

    assert "A second person has to confirm this" in asked
    approval_id = find_id(administrator.get(f"{administrator.base}/approvals"), "approvals")
    decision = f"{administrator.base}/approvals/{approval_id}"
    assert operator.post(decision, {"decision": "grant"}).status == 403
    assert list_chain(live.client, payment_id) == [("PA", "38.50")]

    assert "was recorded" in administrator.post(decision, {"decision": "grant"}).body.decode()

    assert sorted(list_chain(live.client, payment_id)) == [("PA", "38.50"), ("RC", "38.50")]
    assert list_audit(live.gateway, "approval requested")[-1].user_name == operator.name
    assert list_audit(live.gateway, "approval granted")[-1].user_name == administrator.name
    assert list_audit(live.gateway, "receipt or dispute recorded")[-1].subject == payment_id


def list_chain(client: Client, payment_id: str) -> list[tuple[str, str]]:
    chain = client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"}).json["payments"]
    return [(each["paymentType"], each["amount"]) for each in chain]
