"""Lines for a person at a terminal: short, coloured, free of secrets and of control characters from outside."""

from __future__ import annotations

import asyncio
import logging
import os
import pty
import re
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tollgate.config import LogFormat
from tollgate.hosting.log import (
    TerminalFormatter,
    TerminalLines,
    escape_controls,
    hide_secrets,
    set_up_logs,
    wants_colours,
)
from tollgate.web.request import RequestContext
from tollgate.web.telemetry import log_access

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
REQUEST = {"level": "info", "log": "x", "event": "request", "ndc": "8a01_ff", "method": "POST", "path": "/v1/payments"}


def render(line: dict[str, object], *, is_coloured: bool = False) -> str:
    text = TerminalLines(hide_secrets, is_coloured=is_coloured).render(line)
    assert re.match(r"\d\d:\d\d:\d\d ", COLOUR.sub("", text))
    return text


def test_an_event_is_logged_with_its_facts() -> None:
    line = {"level": "info", "log": "tollgate.server", "event": "serving", "base_url": "http://x", "why": "two words"}

    assert render(dict(line))[9:] == 'info     serving base_url=http://x why="two words"'


def test_a_request_is_its_status_method_path_and_time() -> None:
    assert (
        render({**REQUEST, "operation": "pay", "status": 200, "ms": 1.5})[9:] == "info     200 POST /v1/payments 1.5 ms"
    )


def test_a_request_that_failed_shows_its_trace() -> None:
    assert render({**REQUEST, "status": 400, "ms": 1})[9:] == "info     400 POST /v1/payments 1 ms ndc=8a01_ff"


@pytest.mark.parametrize(("status", "colour"), [(200, 32), (302, 32), (404, 33), (503, 31)])
def test_the_status_has_the_colour_of_its_class(status: int, colour: int) -> None:
    assert f"\x1b[{colour}m{status}\x1b[0m" in render({**REQUEST, "status": status, "ms": 1}, is_coloured=True)


@pytest.mark.parametrize(("level", "colour"), [("warning", "33"), ("error", "31"), ("debug", "2")])
def test_the_level_has_a_colour(level: str, colour: str) -> None:
    assert f"\x1b[{colour}m{level}" in render({"level": level, "event": "x"}, is_coloured=True)


@pytest.mark.parametrize("mark", ["\x1b[2J", "\x07", "\r", "\n", "\x9b1m", "\u202e", "\u2028", "\udc1b", "\x7f"])
def test_no_control_character_of_somebody_else_is_written(mark: str) -> None:
    lines = [
        render({"level": "info", "event": f"a{mark}b", "why": f"c{mark}d"}),
        render({**REQUEST, "path": f"/{mark}", "status": 404, "ms": 1}),
        render({"level": "error", "event": "broke", "traceback": f"ValueError: {mark}"}).replace("\n    ", ""),
    ]

    assert all(line.isprintable() for line in lines)


def test_printable_text_of_any_script_stays_as_it_is() -> None:
    assert escape_controls("Müller العربية 支払い") == "Müller العربية 支払い"


def test_card_numbers_and_credentials_are_hidden_as_in_json() -> None:
    checkout = "0123456789ABCDEF0123456789ABCDEF.8a11aa22bb33"
    text = render({"level": "error", "event": "card 4200000000000000", "of": checkout, "traceback": "4200000000000000"})

    assert "4200000000000000" not in text
    assert checkout not in text


def test_a_traceback_stands_indented_under_its_line() -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        record = logging.LogRecord("tollgate", logging.ERROR, "", 0, "broke", None, sys.exc_info())
    lines = TerminalFormatter(TerminalLines(hide_secrets, is_coloured=False)).format(record).split("\n")

    assert lines[0].endswith("error    broke")
    assert lines[-1] == "    ValueError: odd"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_left_out_where_somebody_asks_for_it(variables: dict[str, str], expected: bool) -> None:
    assert wants_colours(variables) is expected


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, log_format: LogFormat) -> Iterator[int]:
    """Makes standard error a real terminal, and yields the side that reads what is written."""
    reading, writing = pty.openpty()
    modes = termios.tcgetattr(writing)
    modes[1] &= ~termios.OPOST  # the line discipline would write CR LF
    termios.tcsetattr(writing, termios.TCSANOW, modes)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(writing, "w", buffering=1) as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        keep_logging(monkeypatch)
        set_up_logs("info", log_format)
        yield reading
        # Undone here: pytest looks at standard error as soon as the test is over.
        monkeypatch.undo()
    os.close(reading)


def keep_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the test set up logs of its own, and the next test find them as they were."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging.getLogger(), "level", logging.INFO)
    monkeypatch.setattr("tollgate.web.telemetry._render", None)


@pytest.mark.parametrize(
    ("log_format", "pattern"),
    [
        (LogFormat.AUTO, rb"\x1b\[2m\d\d:\d\d:\d\d\x1b\[0m \x1b\[33mwarning \x1b\[0m odd\n"),
        (LogFormat.TERMINAL, rb"\x1b\[2m\d\d:\d\d:\d\d\x1b\[0m \x1b\[33mwarning \x1b\[0m odd\n"),
        (LogFormat.JSON, rb'\{"time":".*","event":"odd"\}\n'),
    ],
)
def test_a_terminal_gets_short_lines_unless_json_is_asked_for(
    log_format: LogFormat, pattern: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(monkeypatch, log_format) as reading:
        logging.getLogger("tollgate.test").warning("odd")

        assert re.fullmatch(pattern, os.read(reading, 1000))


@pytest.mark.anyio
@pytest.mark.parametrize("log_format", [LogFormat.AUTO, LogFormat.JSON])
async def test_the_access_log_has_the_form_of_all_other_lines(
    log_format: LogFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(monkeypatch, log_format) as reading:
        log_access(RequestContext("0" * 32, "8a" + "1" * 30, "GET", "/v1/\x1b[2J", "read"), 404, 0.01)
        await asyncio.sleep(0)
        line = os.read(reading, 1000)

    assert line.startswith(b"{") is (log_format is LogFormat.JSON)
    assert b"\x1b[2J" not in line


def test_no_terminal_means_json(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    keep_logging(monkeypatch)
    set_up_logs("info", LogFormat.AUTO)
    logging.getLogger("tollgate.test").warning("odd")

    assert capfd.readouterr().err.startswith('{"time":')
