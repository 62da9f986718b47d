"""Hostile input below HTTP: garbage, oversized heads, pipelines and slowness, over bare sockets."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest

from api.sockets import connect, exchange, read_all, render, split_answers
from gateway import PAYMENT, Answer, Client
from tollgate.catalog.limits import LIMITS


def assert_refused(answer: Answer, status: int) -> None:
    assert (answer.status, answer.code) == (status, "200.100.103")
    assert set(answer.json) == {"result", "buildNumber", "timestamp", "ndc"}
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["connection"] == "close"


def payment_of(client: Client, **changes: str) -> bytes:
    return urlencode({**PAYMENT, "entityId": client.entity_id, **changes}).encode()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"hello\r\n\r\n",
        b"\x00" * 100,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"BREW /healthz HTTP/1.1\r\n\r\n",
        b"get /healthz HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHo\x00st: x\r\n\r\n",
        b"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/payments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_the_envelope(client: Client, garbage: bytes) -> None:
    (answer,) = exchange(client, garbage)

    assert_refused(answer, 400)


@pytest.mark.parametrize(
    "head",
    [
        b"X: " + b"a" * LIMITS.header_bytes_max,
        b"a" * LIMITS.header_bytes_max + b": x",
        b"\r\n".join(b"X-%d: %s" % (number, b"a" * 1000) for number in range(20)),
        b"\r\n".join(b"X-%d: x" % number for number in range(LIMITS.headers_max + 1)),
    ],
    ids=["one value", "one name", "many values", "many names"],
)
def test_a_head_that_is_too_large_is_refused_however_it_is_cut(client: Client, head: bytes) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n"

    for parts in ([whole], [whole[at : at + 900] for at in range(0, len(whole), 900)]):
        (answer,) = exchange(client, *parts)
        assert_refused(answer, 413)


def test_an_endless_head_is_cut_off(client: Client) -> None:
    (answer,) = exchange(client, b"GET /healthz HTTP/1.1\r\nX: ", *[b"a" * 1000] * 30)

    assert_refused(answer, 413)


def test_a_path_that_is_too_long_is_refused(client: Client) -> None:
    (answer,) = exchange(client, render("GET", "/" + "x" * (LIMITS.path_length_max + LIMITS.query_bytes_max)))

    assert_refused(answer, 413)


def test_pipelined_requests_are_answered_in_order(client: Client) -> None:
    slow = payment_of(client, **{"customParameters[simulatorDelay]": "300"})
    paying = [*client.authorized().items(), ("Content-Type", "application/x-www-form-urlencoded")]

    answers = exchange(
        client,
        render("POST", "/v1/payments", paying, slow, is_last=False)
        + render("GET", "/healthz", is_last=False)
        + render("POST", "/v1/payments", paying, payment_of(client, amount="7.00"), is_last=False)
        + render("GET", "/nowhere"),
    )

    assert [answer.status for answer in answers] == [200, 200, 200, 404]
    assert answers[0].json["amount"] == "92.00"
    assert answers[2].json["amount"] == "7.00"


def test_one_connection_carries_many_payments(client: Client) -> None:
    request = render("POST", "/v1/payments", client.authorized().items(), payment_of(client), is_last=False)
    last = render("POST", "/v1/payments", client.authorized().items(), payment_of(client))

    answers = exchange(client, *[request] * 20, last)

    assert [answer.status for answer in answers] == [200] * 21
    assert len({answer.json["id"] for answer in answers}) == 21


def test_nonsense_behind_a_payment_does_not_cost_it_its_answer(client: Client) -> None:
    """This happens when a client counts the length of its body in characters instead of bytes."""
    body = payment_of(client, **{"customParameters[simulatorDelay]": "300"})
    request = render("POST", "/v1/payments", client.authorized().items(), body, is_last=False)

    (answer,) = exchange(client, request + b"\xc3\xa9")

    assert answer.code == "000.100.110"


def test_a_caller_that_has_closed_its_side_still_gets_the_answer(client: Client) -> None:
    body = payment_of(client, **{"customParameters[simulatorDelay]": "300"})
    with connect(client) as connection:
        connection.sendall(render("POST", "/v1/payments", client.authorized().items(), body, is_last=False))
        connection.shutdown(socket.SHUT_WR)

        (answer,) = split_answers(read_all(connection))

    assert answer.code == "000.100.110"


def test_half_a_body_and_a_closed_line_make_no_payment(client: Client) -> None:
    body = payment_of(client, merchantTransactionId="half-a-body-1")
    with connect(client) as connection:
        head = render("POST", "/v1/payments", [*client.authorized().items(), ("Content-Length", str(len(body) + 1))])
        connection.sendall(head + body)
        connection.shutdown(socket.SHUT_WR)

        assert read_all(connection) == b""

    assert client.get("/v1/query", {"merchantTransactionId": "half-a-body-1"}).code == "700.400.580"


def test_an_upgrade_is_declined_by_going_on_in_http(client: Client) -> None:
    upgrade = [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Connection", "Upgrade")]

    (answer,) = exchange(client, render("GET", "/nowhere", upgrade), render("GET", "/healthz"))[:1]

    assert answer.status == 404


@pytest.mark.parametrize("gateway", ["sqlite"], indirect=True)
def test_slow_callers_are_sent_away_and_slow_acquirers_are_waited_for(client: Client) -> None:
    """Four waits at once, because each takes as long as a request may take to arrive."""
    slow_acquirer_s = LIMITS.read_timeout_s + 2
    with ThreadPoolExecutor(4) as pool:
        silent = pool.submit(talk_slowly, client, b"")
        half_head = pool.submit(talk_slowly, client, b"GET /healthz HTTP/1.1\r\nX: ")
        half_body = pool.submit(
            talk_slowly, client, render("POST", "/v1/payments", [("Content-Length", "100")], is_last=False)
        )
        patient = pool.submit(
            client.pay, None, **{"customParameters[simulatorDelay]": str(int(slow_acquirer_s * 1000))}
        )

    assert (silent.result(), half_head.result()) == (b"", b"")
    (refusal,) = split_answers(half_body.result())
    assert_refused(refusal, 400)
    assert patient.result().code == "000.100.110"


def talk_slowly(client: Client, beginning: bytes) -> bytes:
    """Returns what came back before the connection was closed, although a byte was sent every second."""
    deadline = time.monotonic() + 10 * LIMITS.read_timeout_s
    with connect(client, timeout_s=1.0) as connection:
        connection.sendall(beginning)
        received = b""
        while time.monotonic() < deadline:
            try:
                part = connection.recv(65536)
                if not part:
                    return received
                received += part
            except TimeoutError:
                if beginning:
                    connection.sendall(b"x")
            except ConnectionResetError:
                return received
    raise AssertionError("a slow caller was not sent away")
