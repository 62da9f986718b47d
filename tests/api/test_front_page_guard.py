"""The front page shows credentials to the developer at this machine, and to nobody who only looks like that."""

from __future__ import annotations

import hmac
import re
from pathlib import Path

import pytest

from api.front_page import COOKIE, Developer
from api.merchants import find_merchant_id
from api.server import SharedServer
from api.sockets import exchange
from gateway import Client, GatewayProcess
from office_users import OfficeUser, add_users
from tollgate.catalog.permissions import Role

FORMS = ("/payments", "/payments/8ac7a4a17f3c8d0a017f3c8d0a010001/refund", "/webhook", "/clock")
SECRETS = ("/sandbox/credentials", "/sandbox/front/news")
FIXED = "A" * 43


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    return own_server


def expect_refused(developer: Developer, client: Client, **headers: str) -> None:
    """Expects that nothing secret is shown at any address."""
    front = developer.send("GET", "/", headers=headers)
    assert (front.status, front.headers["location"]) == (303, "/office/sign-in?next=/")
    for answer in (front, *(developer.send("GET", path, headers=headers) for path in SECRETS)):
        assert answer.status in (303, 403)
        assert client.token.encode() not in answer.body
        assert COOKIE not in answer.headers.get("set-cookie", "")
    for path in FORMS:
        assert developer.post(f"/sandbox/front{path}", {}, headers).status == 403
    assert developer.post("/sandbox/send", {"method": "GET", "target": "/v1/webhooks"}, headers).status == 403


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "LocalHost"])
@pytest.mark.parametrize("port", ["", ":8080"])
def test_the_developer_opens_it_by_any_name_of_this_machine(
    developer: Developer, client: Client, name: str, port: str
) -> None:
    developer.host = name + port

    page = developer.open()

    for secret in (client.token, client.entity_id, client.lenient_entity_id):
        assert f">{secret}</code>" in page


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.localhost",
        "localhost.evil.com",
        "127.0.0.1.nip.io",
        "localhost:8080@evil.example",
        "user@localhost",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "127.0.0.2",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "::1",
        "localhost:999999",
        "localhost:",
        "localhost evil.example",
        "localhost,evil.example",
        "localhost/evil.example",
        "xn--localhost-",
    ],
)
def test_a_name_that_was_rebound_to_this_machine_leads_to_the_sign_in(
    developer: Developer, client: Client, host: str
) -> None:
    developer.open()
    developer.host = host

    front = developer.send("GET", "/")

    if front.status != 400:
        expect_refused(developer, client)


def test_a_repeated_or_missing_host_is_refused(client: Client) -> None:
    for hosts in (b"Host: localhost\r\nHost: evil.example\r\n", b"Host: \r\n", b""):
        last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        [answer] = exchange(client, b"GET / HTTP/1.1\r\n" + hosts + b"\r\n", last)[:1]

        assert answer.status in (303, 400)
        assert client.token.encode() not in answer.body


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded",
        "Via",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Port",
        "X-Forwarded-Server",
        "X-Real-IP",
        "X-Client-IP",
        "X-Original-Forwarded-For",
        "CF-Connecting-IP",
        "True-Client-IP",
        "CF-Ray",
        "CDN-Loop",
        "X-Scheme",
        "X-Request-Id",
        "X-Amzn-Trace-Id",
        "X-Azure-ClientIP",
        "X_Forwarded_For",
        "Client-IP",
        "Tailscale-User-Login",
    ],
)
def test_what_a_proxy_on_this_machine_passes_on_is_not_the_developer(
    developer: Developer, client: Client, header: str
) -> None:
    expect_refused(developer, client, **{header: "127.0.0.1"})


@pytest.mark.parametrize("connection", ["close", "Close", "close, TE", "keep-alive, close"])
def test_a_proxy_with_the_defaults_of_nginx_is_recognized(
    developer: Developer, client: Client, connection: str
) -> None:
    expect_refused(developer, client, Connection=connection)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "nonsense"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost.evil.example"},
    ],
)
def test_a_page_of_another_origin_reads_and_changes_nothing(
    developer: Developer, client: Client, headers: dict[str, str]
) -> None:
    developer.open()
    before = developer.list_buttons()

    for path in SECRETS:
        answer = developer.send("GET", path, headers=headers)
        assert answer.status == 403
        assert client.token.encode() not in answer.body
    for path in FORMS:
        assert developer.post(f"/sandbox/front{path}", {"forward": "1", "unit": "days"}, headers).status == 403
    assert developer.post("/sandbox/send", {"method": "GET", "target": "/v1/webhooks"}, headers).status == 403

    assert developer.list_buttons() == before


def test_a_link_from_another_site_opens_the_page(developer: Developer) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    answer = developer.send("GET", "/", headers=headers)

    assert answer.status == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers


def test_a_form_needs_the_token_of_its_own_browser(developer: Developer, own_gateway: GatewayProcess) -> None:
    other = Developer(own_gateway.base_url)
    other.open()
    developer.open()
    own, fields = developer.form_token, {"forward": "1", "unit": "seconds"}

    for token in ("", other.form_token, own[:-1], own.upper(), "0" * 64):
        developer.form_token = token
        assert developer.post("/sandbox/front/clock", fields).status == 403
    developer.form_token = own
    assert developer.post("/sandbox/front/clock", fields).status == 303


def test_a_form_of_the_page_itself_is_accepted(developer: Developer) -> None:
    developer.open()
    fields = {"forward": "1", "unit": "seconds"}

    for origin in (developer.base_url, "null"):
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        assert developer.post("/sandbox/front/clock", fields, headers).status == 303


def test_a_form_without_the_cookie_is_refused(developer: Developer) -> None:
    developer.open()
    developer.cookies.clear()

    assert developer.post("/sandbox/front/clock", {"forward": "1", "unit": "seconds"}).status == 403


@pytest.mark.parametrize("path", FORMS)
def test_what_changes_something_is_not_read(developer: Developer, path: str) -> None:
    developer.open()

    assert developer.send("GET", f"/sandbox/front{path}").status in (404, 405)


def test_a_cookie_that_another_site_planted_does_not_help_it(developer: Developer) -> None:
    developer.cookies[COOKIE] = FIXED
    developer.form_token = hmac.new(FIXED.encode(), b"tollgate form", "sha256").hexdigest()
    fields = {"forward": "1", "unit": "seconds"}

    assert developer.post("/sandbox/front/clock", fields, {"Sec-Fetch-Site": "cross-site"}).status == 403
    assert developer.post("/sandbox/front/clock", fields, {"Origin": "http://evil.example"}).status == 403


@pytest.mark.parametrize("planted", ["short", "A" * 44, "<script>", "A" * 42 + "="])
def test_a_cookie_that_this_host_did_not_make_is_replaced(developer: Developer, planted: str) -> None:
    developer.cookies[COOKIE] = planted

    developer.open()

    assert re.fullmatch("[A-Za-z0-9_-]{43}", developer.cookies[COOKIE])
    assert developer.cookies[COOKIE] != planted


def test_a_page_with_credentials_is_neither_kept_nor_compressed(developer: Developer) -> None:
    developer.send("GET", "/")
    for path in ("/", *SECRETS):
        answer = developer.send("GET", path, headers={"Accept-Encoding": "gzip"})

        assert answer.status == 200
        assert "no-store" in answer.headers["cache-control"]
        assert "content-encoding" not in answer.headers


def test_a_user_without_the_right_is_told_what_is_missing(own_gateway: GatewayProcess, client: Client) -> None:
    merchant_id = find_merchant_id(own_gateway, client)
    viewer = OfficeUser("viewer", Role.VIEWER, merchant_id)
    add_users(own_gateway, viewer)
    browser = Developer(own_gateway.base_url, "pay.example", viewer.enter(own_gateway).cookies)

    answer = browser.send("GET", "/")

    assert answer.status == 403
    assert b"does not allow you to manage access tokens" in answer.body
    assert all(f'href="{path}"'.encode() in answer.body for path in ("/docs", "/office"))
    assert client.token.encode() not in answer.body
    assert [browser.send("GET", path).status for path in SECRETS] == [403, 403]


def test_a_user_with_the_right_uses_it_from_anywhere(own_gateway: GatewayProcess, client: Client) -> None:
    head = OfficeUser("head", Role.PLATFORM)
    add_users(own_gateway, head)
    browser = Developer(own_gateway.base_url, "pay.example", head.enter(own_gateway).cookies)

    page = browser.open(**{"X-Forwarded-For": "192.0.2.7"})
    moved = browser.post("/sandbox/front/clock", {"forward": "1", "unit": "seconds"}, {"X-Forwarded-For": "192.0.2.7"})

    assert client.token in page
    assert moved.status == 303
    assert COOKIE not in browser.cookies


def test_a_session_that_ended_is_nobodys(own_gateway: GatewayProcess, client: Client) -> None:
    browser = Developer(own_gateway.base_url, "pay.example", {"tollgate_office": FIXED})

    expect_refused(browser, client)


def test_a_host_with_a_public_address_asks_everybody_to_sign_in(tmp_path: Path) -> None:
    gateway = GatewayProcess(tmp_path, environment={"TOLLGATE_PUBLIC_URL": "https://pay.example.com"})
    with gateway:
        client = gateway.client()
        for host in ("localhost", "127.0.0.1", "pay.example.com"):
            expect_refused(Developer(gateway.base_url, host), client)


def test_a_caller_behind_a_trusted_proxy_is_not_at_this_machine(tmp_path: Path) -> None:
    gateway = GatewayProcess(tmp_path, environment={"TOLLGATE_TRUSTED_PROXY": "127.0.0.1"})
    with gateway:
        client = gateway.client()
        for address in ("192.0.2.7", "127.0.0.1", "::1", "localhost"):
            expect_refused(Developer(gateway.base_url, "localhost"), client, **{"X-Forwarded-For": address})


def test_no_log_shows_the_credentials(own_gateway: GatewayProcess, client: Client, developer: Developer) -> None:
    developer.pay()
    developer.send("GET", "/sandbox/credentials")

    logged = own_gateway.log_path.read_text().partition('"event":"serving"')[2]

    assert '"path":"/sandbox/credentials"' in logged
    for secret in (client.token, developer.form_token, developer.cookies[COOKIE], "4200000000000000"):
        assert secret not in logged
