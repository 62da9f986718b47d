"""Nobody learns more from the front page than their role allows, and nothing that it starts breaks the host."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from api.endpoints import advance
from api.front_page import Developer
from api.merchants import find_merchant_id, wait_until
from api.registration_requests import ask_store
from api.server import SharedServer
from gateway import Client, GatewayProcess
from office_users import OfficeUser, add_users
from tollgate.catalog.permissions import Role
from tollgate.office.signing_in import choose_next
from tollgate.store import merchants

CENTURY_S = 100 * 366 * 86_400


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    return own_server


def test_a_user_is_not_told_the_password_of_the_host_s_administrator(
    own_gateway: GatewayProcess, client: Client
) -> None:
    at_host = Developer(own_gateway.base_url)
    at_host.send("GET", "/")
    password = json.loads(at_host.send("GET", "/sandbox/credentials").body)["office"]["password"]
    head = OfficeUser("head of shop", Role.ADMINISTRATOR, find_merchant_id(own_gateway, client))
    add_users(own_gateway, head)
    browser = Developer(own_gateway.base_url, "pay.example", head.enter(own_gateway).cookies)

    shown = [browser.open(), browser.send("GET", "/sandbox/credentials").body.decode()]

    assert password in at_host.open()
    assert all(client.token in text and password not in text for text in shown)


@pytest.mark.parametrize("path", ["/docs", "/docs/payments", "/office/users", "/"])
def test_a_page_of_this_host_follows_the_sign_in(path: str) -> None:
    assert choose_next(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "/docs.evil.example",
        "/docs@evil.example",
        "/docsevil",
        "//evil.example",
        "/docs//evil.example",
        "/docs/\\evil.example",
        "/\\evil.example",
        "https://evil.example/docs",
        "/docs/\r\nSet-Cookie: a=b",
        "/\t/evil.example",
        "/docs/\u2028",
    ],
)
def test_no_other_page_follows_the_sign_in(path: str) -> None:
    assert choose_next(path) == "/office"


def test_the_inbox_of_the_page_cannot_be_guessed(
    own_gateway: GatewayProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with GatewayProcess(tmp_path_factory.mktemp("other")) as other:
        addresses = set()
        for gateway in (own_gateway, other):
            developer = Developer(gateway.base_url)
            developer.open()
            developer.post("/sandbox/front/webhook")
            [webhook] = gateway.client().get("/v1/webhooks").json["webhooks"]
            addresses.add(webhook["url"].removeprefix(gateway.base_url))

    assert len(addresses) == 2


def test_a_form_that_is_sent_many_times_adds_one_webhook(tmp_path_factory: pytest.TempPathFactory) -> None:
    with GatewayProcess(tmp_path_factory.mktemp("twice")) as gateway:
        developer = Developer(gateway.base_url)
        developer.open()

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(developer.post, ["/sandbox/front/webhook"] * 6))

        assert {answer.status for answer in answers} == {303}
        assert len(gateway.client().get("/v1/webhooks").json["webhooks"]) == 1


@pytest.mark.parametrize("what", ["revoked", "expired"])
def test_a_token_that_ended_is_replaced(tmp_path_factory: pytest.TempPathFactory, what: str) -> None:
    with GatewayProcess(tmp_path_factory.mktemp("ended")) as gateway:
        developer, client = Developer(gateway.base_url), gateway.client()
        [ended] = ask_store(gateway, merchants.list_credentials)
        if what == "revoked":
            ask_store(gateway, lambda db: merchants.revoke_credential(db, ended.id, ended.created_at))
        else:
            terms = msgspec.structs.replace(ended, expires_at=ended.created_at)
            assert ask_store(gateway, lambda db: merchants.update_credential(db, terms))

        wait_until(lambda: b"/docs/codes/000.100.110" in developer.pay().body)

        assert client.token not in developer.open()
        assert client.pay().status in (401, 403)


@pytest.mark.parametrize("text", ["9" * 5000, "-1", "1e3", "٣"])
def test_a_number_that_is_none_does_not_move_the_clock(client: Client, text: str) -> None:
    assert client.post("/sandbox/clock", {"advance": text}).faults.keys() == {"advance"}


def test_the_clock_stops_before_dates_end(tmp_path_factory: pytest.TempPathFactory) -> None:
    with GatewayProcess(tmp_path_factory.mktemp("late")) as gateway:
        developer, client = Developer(gateway.base_url), gateway.client()
        for _ in range(9):
            advance(client, CENTURY_S)
        developer.open()

        refused = developer.post("/sandbox/front/clock", {"forward": "36600", "unit": "days"})

        assert refused.status == 400
        assert b"beyond the year 2999" in refused.body
        assert client.post("/sandbox/clock", {"advance": str(CENTURY_S)}).faults.keys() == {"advance"}
        assert "Your sandbox" in developer.open()
