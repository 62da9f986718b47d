"""Hostile input within a proper HTTP request: always refused in the envelope, never a breakage."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from api.sockets import exchange, render
from gateway import PAYMENT, Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

MEBIBYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def _no_breakage(gateway: GatewayProcess) -> Iterator[None]:
    since = gateway.log_path.stat().st_size
    yield
    assert b'"event":"unhandled error"' not in gateway.log_path.read_bytes()[since:]


def assert_refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)
    assert {"result", "buildNumber", "timestamp", "ndc"} <= set(answer.json)
    assert answer.headers["content-type"].startswith("application/json")


def post(client: Client, body: bytes, content_type: str = "application/x-www-form-urlencoded") -> Answer:
    owner = f"entityId={client.entity_id}&".encode()
    return client.send("POST", "/v1/payments", owner + body, client.authorized({"Content-Type": content_type}))


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"card.holder=J%FFnes", "card.holder"),
        (b"card.holder=J\xffnes", "card.holder"),
        (b"card.holder=%C0%AF", "card.holder"),
        (b"card.holder=%ED%A0%80", "card.holder"),
        (b"card.h\xfflder=Jones", "card.h"),
        (b"card.holder=a%00b", "card.holder"),
        (b"card.holder=a\x00b", "card.holder"),
        (b"card.ho%00lder=ab", "card.ho%00lder"),
        (b"card.holder=100%zz", "card.holder"),
        (b"card.holder=100%", "card.holder"),
        (b"card.holder=100%4", "card.holder"),
        (b"=nameless", ""),
        (b"a=1&&b=2", ""),
        (b"n" * 257 + b"=1", "n" * 64),
    ],
)
def test_text_that_is_none_is_refused_and_named(client: Client, body: bytes, name: str) -> None:
    answer = post(client, body)

    assert_refused(answer, 400, "200.300.404")
    assert [shown[: len(name)] for shown in answer.faults] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "customParameters[" * 20 + "x" + "]" * 20,
        "cart.items[0]" * 15 + ".name",
        ".".join(["a"] * 120),
        "[[[[[[[[]]]]]]]]",
        "cart.items[].name",
        "cart.items[0.name",
        "cart.items]0[.name",
        "__proto__[polluted]",
        "card.number.",
        "..",
    ],
)
def test_deep_and_broken_names_do_no_harm(client: Client, name: str) -> None:
    answer = post(client, urlencode({**PAYMENT, name: "x"}).encode())

    assert answer.status in (200, 400)
    assert {"result", "buildNumber", "timestamp", "ndc"} <= set(answer.json)


def test_ten_thousand_parameters_are_read_and_one_more_is_refused(client: Client) -> None:
    filler = b"&".join(b"x%d=1" % number for number in range(10_000 - len(PAYMENT) - 1))
    body = filler + b"&" + urlencode(PAYMENT).encode()

    assert post(client, body).status == 200
    assert_refused(post(client, b"y=1&" + body), 413, "200.100.103")


def test_a_body_of_a_mebibyte_is_read(client: Client) -> None:
    body = urlencode(PAYMENT).encode() + b"&filler="
    body += b"x" * (MEBIBYTE - len(body) - len(f"entityId={client.entity_id}&"))

    assert post(client, body).status == 200


def test_a_body_declared_too_large_is_refused_before_it_is_read(client: Client) -> None:
    head = render("POST", "/v1/payments", [("Content-Length", str(MEBIBYTE + 1)), *client.authorized().items()])

    (answer,) = exchange(client, head)

    assert_refused(answer, 413, "200.100.103")
    assert answer.headers["connection"] == "close"


def test_a_body_that_grows_too_large_in_chunks_is_refused(client: Client) -> None:
    head = render("POST", "/v1/payments", [("Transfer-Encoding", "chunked"), *client.authorized().items()])
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

    (answer,) = exchange(client, head, *[chunk] * 20)

    assert_refused(answer, 413, "200.100.103")


def test_a_small_body_may_come_in_chunks(client: Client) -> None:
    body = urlencode({**PAYMENT, "entityId": client.entity_id}).encode()
    head = render("POST", "/v1/payments", [("Transfer-Encoding", "chunked"), *client.authorized().items()])
    chunks = [b"%x\r\n%b\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7)]

    (answer,) = exchange(client, head, *chunks, b"0\r\n\r\n")

    assert answer.status == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded; charset=utf-16",
        "application/x-www-form-urlencodedx",
        "",
        ";",
        "\xff",
    ],
)
def test_another_content_type_is_refused(client: Client, content_type: str) -> None:
    assert_refused(post(client, urlencode(PAYMENT).encode(), content_type), 400, "200.100.103")


@pytest.mark.parametrize(
    "path",
    [
        *("/v1", "/v1/payment", "/v9/payments", "/v2/checkouts", "/offices", "/doc", "/static/x", "/sandbox"),
        *("/v1/payments/a/b/c", "/.env", "/%2e%2e/etc/passwd", "/" + "x" * 1000, "/%00", "/%ff"),
    ],
)
def test_an_unknown_path_is_404_in_the_envelope(client: Client, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert_refused(client.send(method, path, None, client.authorized()), 404, "200.300.404")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/payments", "POST"),
        ("GET", "/v1/payments/", "POST"),
        ("PUT", "/v1/payments", "POST"),
        ("DELETE", "/v1/payments/8a", "GET"),
        ("POST", "/v1/resultcodes", "GET"),
        ("OPTIONS", "/v1/payments", "POST"),
        ("TRACE", "/v1/payments", "POST"),
        ("PATCH", "/healthz", "GET"),
        ("PROPFIND", "/v1/query", "GET"),
    ],
)
def test_a_known_path_with_another_method_is_405(client: Client, method: str, path: str, allowed: str) -> None:
    answer = client.send(method, path, None, client.authorized())

    assert_refused(answer, 405, "200.300.403")
    assert allowed in answer.headers["allow"]


def test_head_is_answered_without_a_body(client: Client) -> None:
    answer = client.send("HEAD", "/v1/payments")

    assert (answer.status, answer.body) == (405, b"")
    assert answer.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(
    "query",
    ["entityId=%00", "entityId=%ff", "%zz", "=", "&&", "merchantTransactionId=%00", "a" * 300 + "=1", "[" * 200],
)
def test_a_hostile_query_is_refused(client: Client, query: str) -> None:
    answer = client.send("GET", f"/v1/query?{query}", None, client.authorized())

    assert_refused(answer, 400, "200.300.404")


def test_accounts_that_cannot_be_charged_are_refused_in_the_envelope(client: Client) -> None:
    money = {"amount": "1.00", "currency": "EUR", "paymentType": "DB"}
    for account in (
        {"registrationId": "8a" + "0" * 30},
        {"referenceUuid": "8a" + "0" * 30},
        {"paymentBrand": "VISA", "tokenAccount.number": "4200000000000001", "tokenAccount.type": "NETWORK"},
        {"paymentBrand": "APPLEPAY", "applePay.paymentToken": "{}"},
        {"googlePay.paymentToken": "{}"},
        {"paymentBrand": "PAYPAL"},
        {"paymentBrand": "DIRECTDEBIT_SEPA", "bankAccount.iban": "AT152011128161647502"},
        {"virtualAccount.accountId": "jane"},
        {"card.number": "4200000000000000", "registrationId": "8a" + "0" * 30},
    ):
        answer = client.post("/v1/payments", {**money, **account})

        assert answer.status == 400, account
        assert {"result", "buildNumber", "timestamp", "ndc"} <= set(answer.json)
