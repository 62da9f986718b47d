"""The access log: one JSON line for each answer, no card number in it, silent when it is not wanted."""

from __future__ import annotations

import asyncio
import json
import logging
import sys

import pytest

from tollgate.web.request import RequestContext
from tollgate.web.telemetry import log_access

pytestmark = pytest.mark.anyio


@pytest.fixture
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("tollgate.access"), "level", request.param)
    logging.getLogger("tollgate.access").manager._clear_cache()  # type: ignore[attr-defined]


def make_context(path: str = "/v1/payments") -> RequestContext:
    return RequestContext("0" * 32, "8a" + "1" * 30, "POST", path, "create_payment")


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
async def test_an_answer_is_one_line_of_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log_access(make_context(), 200, 0.01234)
    await asyncio.sleep(0)

    written = capfdbinary.readouterr().err
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    line = json.loads(written)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "log": "tollgate.access",
        "event": "request",
        "ndc": "8a" + "1" * 30,
        "method": "POST",
        "path": "/v1/payments",
        "operation": "create_payment",
        "status": 200,
        "ms": 12.34,
    }


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
async def test_a_card_number_in_a_path_leaves_as_stars(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log_access(make_context("/v1/payments/4200000000000000"), 404, 0.001)
    await asyncio.sleep(0)

    assert json.loads(capfdbinary.readouterr().err)["path"] == "/v1/payments/" + "*" * 16


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.WARNING], indirect=True)
async def test_nothing_is_written_when_only_warnings_are_wanted(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log_access(make_context(), 200, 0.001)
    await asyncio.sleep(0)

    assert capfdbinary.readouterr().err == b""


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
async def test_answers_of_one_turn_are_written_together_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(sys, "stderr", Recorder(written))

    for status in (200, 400):
        log_access(make_context(), status, 0.001)
    assert written == []
    await asyncio.sleep(0)
    log_access(make_context(), 500, 0.001)
    await asyncio.sleep(0)

    assert [[json.loads(line)["status"] for line in lines.splitlines()] for lines in written] == [[200, 400], [500]]


class Recorder:
    """A standard error that remembers every write."""

    def __init__(self, written: list[bytes]) -> None:
        self.buffer = self
        self.write = written.append

    def flush(self) -> None:
        pass


class Broken:
    """A standard error whose reader is gone."""

    def __init__(self) -> None:
        self.is_asked = False

    def write(self, _lines: bytes) -> int:
        self.is_asked = True
        raise BrokenPipeError

    @property
    def buffer(self) -> Broken:
        return self


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
async def test_a_log_that_cannot_be_written_fails_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", broken := Broken())

    log_access(make_context(), 200, 0.001)
    await asyncio.sleep(0)

    assert broken.is_asked
