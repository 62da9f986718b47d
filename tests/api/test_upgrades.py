"""Clients that offer HTTP/2 over a plain connection, and bytes that two readers might take for different requests."""

from __future__ import annotations

import subprocess
from urllib.parse import urlencode

import pytest

from api.sockets import exchange, render
from gateway import PAYMENT, Client

pytestmark = pytest.mark.parametrize("gateway", ["sqlite"], indirect=True)

JAVA = (
    "POST /v1/payments HTTP/1.1\r\n"
    "Connection: Upgrade, HTTP2-Settings\r\n"
    "Content-Length: {length}\r\n"
    "Host: 127.0.0.1:8080\r\n"
    "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\n"
    "Upgrade: h2c\r\n"
    "User-Agent: Java-http-client/17.0.15\r\n"
    "Authorization: Bearer {token}\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n"
    "\r\n"
)
"""Recorded from `HttpClient.newHttpClient()` of Java 17, whose default is to prefer HTTP/2."""


def make_body(client: Client, **changes: str) -> bytes:
    return urlencode({**PAYMENT, "entityId": client.entity_id, **changes}).encode()


def as_java_sends(client: Client, body: bytes) -> bytes:
    return JAVA.format(length=len(body), token=client.token).encode() + body


def test_java_pays_with_its_default_settings(client: Client) -> None:
    first, second = make_body(client, amount="1.00"), make_body(client, amount="2.00")

    answers = exchange(client, as_java_sends(client, first) + as_java_sends(client, second), render("GET", "/healthz"))

    assert [answer.status for answer in answers] == [200, 200, 200]
    assert [answer.json["amount"] for answer in answers[:2]] == ["1.00", "2.00"]
    assert "upgrade" not in answers[0].headers


def test_a_body_behind_an_upgrade_may_come_later(client: Client) -> None:
    request = as_java_sends(client, make_body(client))
    head, _, body = request.partition(b"\r\n\r\n")

    answers = exchange(client, head + b"\r\n\r\n", body[:20], body[20:], render("GET", "/healthz"))

    assert [answer.status for answer in answers] == [200, 200]


def test_curl_pays_when_it_prefers_http_2(client: Client) -> None:
    command = ["curl", "--silent", "--http2", "--max-time", "60", "--write-out", "\n%{http_version} %{http_code}"]
    command += ["--header", f"Authorization: Bearer {client.token}", "--data", make_body(client).decode()]

    done = subprocess.run([*command, f"{client.base_url}/v1/payments"], capture_output=True, text=True, check=True)

    body, _, received = done.stdout.rpartition("\n")
    assert received == "1.1 200"
    assert '"000.100.110"' in body


@pytest.mark.parametrize("upgrade", ["h2c", "websocket", "TLS/1.0, HTTP/1.1"])
def test_a_body_behind_an_upgrade_is_no_second_request(client: Client, upgrade: str) -> None:
    hidden = render(
        "POST", "/v1/payments", client.authorized().items(), make_body(client, merchantTransactionId="hidden-request-1")
    )
    offer = [("Connection", "Upgrade"), ("Upgrade", upgrade), *client.authorized().items()]

    answers = exchange(client, render("POST", "/v1/payments", offer, hidden, is_last=False), render("GET", "/healthz"))

    assert [answer.status for answer in answers] == [400, 200]
    assert client.get("/v1/query", {"merchantTransactionId": "hidden-request-1"}).code == "700.400.580"


HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
START = b"POST /v1/payments HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        START + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        START + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        START + b"Content-Length: +0\r\n\r\n",
        START + b"Content-Length: 0\r\n Content-Length: 5\r\n\r\n",
        START + b"Content-Length : 0\r\n\r\n",
        START + b"Content-Length: 0\nX: y\r\n\r\n",
        START + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: identity\r\n\r\n",
        START + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n0;a=b\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
        START.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        START + b"X: a\x00b\r\n\r\n",
        b"POST /v1/payments\r\n\r\n",
        b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_two_readers_might_take_differently_is_refused_and_nothing_behind_it_is_read(
    client: Client, request_bytes: bytes
) -> None:
    (answer,) = exchange(client, request_bytes + HIDDEN)

    assert (answer.status, answer.code) == (400, "200.100.103")
    assert answer.headers["connection"] == "close"


def test_head_gets_the_headers_that_get_would(client: Client) -> None:
    paid = client.pay().json["id"]
    for path in ("/healthz", "/v1/resultcodes", f"/v1/payments/{paid}?entityId={client.entity_id}", "/nowhere"):
        read = client.send("GET", path, None, client.authorized())
        received = client.send("HEAD", path, None, client.authorized())

        assert (received.status, received.body) == (read.status, b"")
        assert received.headers["content-length"] == read.headers["content-length"]
        assert received.headers["content-type"] == read.headers["content-type"]
