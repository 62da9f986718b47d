"""The guard: refusals become answers with their headers, breakage becomes a 500 that says nothing."""

from __future__ import annotations

import json
import logging

import pytest

from tollgate.catalog.results import get_result
from tollgate.contract.answers import Envelope
from tollgate.operations.charging import FateUnknown
from tollgate.store.database import Damaged, Unavailable, Unconfirmed, Unwritable
from tollgate.values import FixedClock, Overloaded, Refusal, TooLarge, TooMany, TooSlow, Unauthenticated, WrongMethod
from tollgate.web.request import Reply, RequestContext
from tollgate.web.server import guard

pytestmark = pytest.mark.anyio

ROW = get_result("200.100.103")


async def run(outcome: Reply | Exception) -> Reply:
    async def work() -> Reply:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return await guard(
        work(), RequestContext("trace", "8a01_ff", "POST", "/v1/payments"), Envelope("build"), FixedClock(1)
    )


async def test_an_answer_passes_unchanged() -> None:
    reply = Reply(200, b"{}")

    assert await run(reply) is reply


@pytest.mark.parametrize(
    ("refusal", "status", "headers", "is_last"),
    [
        (Refusal(ROW), 400, set(), False),
        (Unauthenticated(ROW), 401, {b"www-authenticate"}, False),
        (TooMany(ROW, 7), 429, {b"retry-after"}, False),
        (WrongMethod(ROW, ["GET", "POST"]), 405, {b"allow"}, False),
        (TooLarge(ROW), 413, set(), True),
        (TooSlow(ROW), 400, set(), True),
        (Overloaded(ROW, 1), 503, {b"retry-after"}, True),
    ],
)
async def test_a_refusal_becomes_an_answer(refusal: Refusal, status: int, headers: set[bytes], is_last: bool) -> None:
    reply = await run(refusal)

    assert (reply.status, {name for name, _ in reply.headers}, reply.is_last) == (status, headers, is_last)
    assert json.loads(reply.body)["ndc"] == "8a01_ff"


async def test_breakage_is_logged_with_its_ndc_and_answered_without_a_word_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "tollgate.guard"):
        reply = await run(RuntimeError("the disk is on fire"))

    assert (reply.status, json.loads(reply.body)["result"]["code"]) == (500, "999.999.999")
    assert b"fire" not in reply.body
    assert caplog.records[0].__dict__["ndc"] == "8a01_ff"


@pytest.mark.parametrize("fault", [Unavailable("PostgreSQL is gone"), Damaged("the disk is full")])
async def test_a_database_that_takes_no_writes_is_out_of_service_and_says_when_to_come_back(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    reply = await run(fault)

    assert reply is not None
    assert (reply.status, json.loads(reply.body)["result"]["code"]) == (503, "800.800.800")
    assert dict(reply.headers)[b"retry-after"] == b"5"
    assert str(fault).encode() not in reply.body
    [record] = caplog.records
    assert (record.levelname, record.__dict__["ndc"], record.__dict__["why"]) == ("ERROR", "8a01_ff", str(fault))
    assert record.exc_info is None


@pytest.mark.parametrize("fault", [FateUnknown("8a01"), Unconfirmed("lost"), Unwritable("DataError")])
async def test_nobody_is_invited_to_try_again_what_may_have_been_done(fault: Exception) -> None:
    reply = await run(fault)

    assert reply is not None
    assert (reply.status, json.loads(reply.body)["result"]["code"]) == (500, "999.999.999")
    assert b"retry-after" not in dict(reply.headers)
