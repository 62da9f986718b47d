"""The access log: one JSON line for each answer, no card number in it, silent when it is not wanted."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from tollgate.web.access import tell_access
from tollgate.web.visit import Visit


@pytest.fixture
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("tollgate.access"), "level", request.param)
    logging.getLogger("tollgate.access").manager._clear_cache()  # type: ignore[attr-defined]


def make_visit(path: str = "/v1/payments") -> Visit:
    return Visit("0" * 32, "8a" + "1" * 30, "POST", path, "create_payment")


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
def test_an_answer_is_one_line_of_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tell_access(make_visit(), 200, 0.01234)

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
def test_a_card_number_in_a_path_leaves_as_stars(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tell_access(make_visit("/v1/payments/4200000000000000"), 404, 0.001)

    assert json.loads(capfdbinary.readouterr().err)["path"] == "/v1/payments/" + "*" * 16


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.WARNING], indirect=True)
def test_nothing_is_written_when_only_warnings_are_wanted(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tell_access(make_visit(), 200, 0.001)

    assert capfdbinary.readouterr().err == b""


class Broken:
    """A standard error whose reader is gone."""

    def write(self, _line: bytes) -> int:
        raise BrokenPipeError

    @property
    def buffer(self) -> Broken:
        return self


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("level", [logging.INFO], indirect=True)
def test_a_log_that_cannot_be_written_fails_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Broken())

    tell_access(make_visit(), 200, 0.001)
