"""The guard: refusals become answers with their headers, breakage becomes a 500 that says nothing."""

from __future__ import annotations

import json
import logging

import pytest

from tollgate.catalog import get_result
from tollgate.contract import Envelope
from tollgate.values import FixedClock, Overloaded, Refusal, TooLarge, TooMany, TooSlow, Unauthenticated, WrongMethod
from tollgate.web.body import Gone
from tollgate.web.guard import guard
from tollgate.web.request import Reply
from tollgate.web.visit import Visit

pytestmark = pytest.mark.anyio

ROW = get_result("200.100.103")


async def run(outcome: Reply | Exception) -> Reply | None:
    async def work() -> Reply:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return await guard(work(), Visit("trace", "8a01_ff", "POST", "/v1/payments"), Envelope("build"), FixedClock(1))


async def test_an_answer_passes_unchanged() -> None:
    reply = Reply(200, b"{}")

    assert await run(reply) is reply


@pytest.mark.parametrize(
    ("refusal", "status", "headers"),
    [
        (Refusal(ROW), 400, set()),
        (Unauthenticated(ROW), 401, {b"www-authenticate"}),
        (TooMany(ROW, 7), 429, {b"retry-after"}),
        (WrongMethod(ROW, ["GET", "POST"]), 405, {b"allow"}),
        (TooLarge(ROW), 413, {b"connection"}),
        (TooSlow(ROW), 400, {b"connection"}),
        (Overloaded(ROW, 1), 503, {b"retry-after", b"connection"}),
    ],
)
async def test_a_refusal_becomes_an_answer(refusal: Refusal, status: int, headers: set[bytes]) -> None:
    reply = await run(refusal)

    assert reply is not None
    assert (reply.status, {name for name, _ in reply.headers}) == (status, headers)
    assert json.loads(reply.body)["ndc"] == "8a01_ff"


async def test_breakage_is_logged_with_its_ndc_and_answered_without_a_word_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "tollgate.guard"):
        reply = await run(RuntimeError("the disk is on fire"))

    assert reply is not None
    assert (reply.status, json.loads(reply.body)["result"]["code"]) == (500, "999.999.999")
    assert b"fire" not in reply.body
    assert caplog.records[0].__dict__["ndc"] == "8a01_ff"


async def test_nobody_is_answered_who_has_gone() -> None:
    assert await run(Gone()) is None
