"""Log lines are JSON without card numbers; redirects lead to this host and nowhere else."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from tollgate.hosting.log import JsonLines
from tollgate.hosting.redirect import render_redirect

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
        (b"GET /v1/payments?a=1 HTTP/1.1", "/v1/payments?a=1"),
        (b"GET //elsewhere.example/ HTTP/1.1", "//elsewhere.example/"),
        (b"GET http://elsewhere.example/ HTTP/1.1", "/"),
        (b"GET @elsewhere.example HTTP/1.1", "/"),
        (b"GET /\xff HTTP/1.1", "/"),
        (b"GET /a b HTTP/1.1", "/"),
        (b"", "/"),
    ],
)
def test_a_redirect_stays_on_this_host(target: bytes, location: str) -> None:
    reply = render_redirect(target + b"\r\nHost: elsewhere.example\r\n\r\n", BASE_URL)

    assert reply.startswith(b"HTTP/1.1 307 ")
    assert f"\r\nlocation: {BASE_URL}{location}\r\n".encode() in reply
    assert reply.endswith(b"connection: close\r\n\r\n")
