"""Log lines are JSON without card numbers; redirects lead to this host and nowhere else."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from tollgate.catalog.results import get_result
from tollgate.hosting.listener import Redirector
from tollgate.hosting.log import JsonLines
from tollgate.values import Refusal
from tollgate.web.parsing import HeadReader

BASE_URL = "https://gateway.example"


def render(message: str, **extra: object) -> dict[str, object]:
    record = logging.LogRecord("tollgate.test", logging.WARNING, "", 0, message, None, None)
    record.__dict__.update(extra)
    line: dict[str, object] = json.loads(JsonLines().format(record))
    return line


def test_a_line_has_time_level_log_event_and_what_was_added() -> None:
    line = render("it happened", ndc="8a01_ff", count=3)

    assert str(line.pop("time")).endswith("+00:00")
    assert line == {"level": "warning", "log": "tollgate.test", "event": "it happened", "ndc": "8a01_ff", "count": 3}


def test_a_card_number_leaves_as_stars_wherever_it_stands() -> None:
    line = render("card 4200000000000000", path="/v1/4200-0000-0000-0000")

    assert line["event"] == "card ****************"
    assert line["path"] == "/v1/*******************"


def test_what_lets_its_holder_pay_leaves_cut_short() -> None:
    checkout_id = "0123456789ABCDEF0123456789ABCDEF.8a11aa22bb33"
    shopper_token = "igQ" * 28
    line = render(
        f"no job for {checkout_id}",
        ndc=checkout_id,
        path=f"/v1/shopper/{shopper_token}?x",
        to=f"/v1/threeDSecure/results/{shopper_token}",
    )

    assert line["event"] == "no job for 01234567***.8a11aa22bb33"
    assert line["ndc"] == "01234567***.8a11aa22bb33"
    assert (line["path"], line["to"]) == ("/v1/shopper/***?x", "/v1/threeDSecure/results/***")


@pytest.mark.parametrize("path", ["/paymentlink", "/paybylink/v1"])
def test_the_address_of_a_payment_link_leaves_without_its_key(path: str) -> None:
    line = render("asked", url=f"https://gate.example{path}/{'0a' * 16}-8a11aa22bb33/more")

    assert line["url"] == f"https://gate.example{path}/***/more"


def test_a_traceback_is_one_line_without_card_numbers() -> None:
    try:
        raise ValueError("4200000000000000")
    except ValueError:
        record = logging.LogRecord("tollgate", logging.ERROR, "", 0, "broke", None, sys.exc_info())
    text = JsonLines().format(record)

    assert "\n" not in text
    assert "ValueError" in json.loads(text)["traceback"]
    assert "4200000000000000" not in text


@pytest.mark.parametrize("value", [object(), b"\xff", {1, 2}, float("nan")])
def test_whatever_is_added_can_be_written(value: object) -> None:
    assert "odd" in render("event", odd=value)


@pytest.mark.parametrize(
    ("target", "location"),
    [
        (b"GET /v1/payments?a=1 HTTP/1.1", b"/v1/payments?a=1"),
        (b"GET //elsewhere.example/ HTTP/1.1", b"//elsewhere.example/"),
        (b"GET http://elsewhere.example/ HTTP/1.1", b"/"),
        (b"OPTIONS * HTTP/1.1", b"/"),
    ],
)
def test_a_redirect_stays_on_this_host(target: bytes, location: bytes) -> None:
    reader = HeadReader()
    reader.feed(target + b"\r\nHost: elsewhere.example\r\n\r\n", 0)

    reply = Redirector(BASE_URL).admit(reader.read(), "192.0.2.1", is_secure=False).refused

    assert reply is not None
    assert (reply.status, reply.headers, reply.is_last) == (307, ((b"location", BASE_URL.encode() + location),), True)


def test_what_cannot_be_read_is_sent_to_the_front_page() -> None:
    reply = Redirector(BASE_URL).refuse(Refusal(get_result("200.100.103")), None)

    assert (reply.status, reply.headers) == (307, ((b"location", BASE_URL.encode() + b"/"),))
