"""The journal of a process: what it keeps, what it drops, and that nothing secret is in what it hands over."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import Conversation, WireReply, WireRequest
from tollgate.connectors.iso8583 import codec, transcript
from tollgate.connectors.iso8583.fields import Tag
from tollgate.operations.app import App
from tollgate.operations.journal import About, Journal, JournalLines
from tollgate.values import system_random_bytes
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

ABOUT = About(MERCHANT.id, "8a" + "4" * 30, NOW, "an ndc")
REQUEST = WireRequest(path="/v1/charges", body=b'{"card":{"number":"4200000000000000","cvv":"731"}}', key="key")


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


def make_open_journal() -> Journal:
    journal = Journal()
    journal.is_open = True
    return journal


async def test_a_message_is_kept_with_its_reply_and_without_its_secrets(app: App) -> None:
    journal = make_open_journal()
    journal.note_message(NOW, ABOUT, "charge request", REQUEST, WireReply(200, b'{"status":"approved"}'))

    assert journal.mask(app.merchants, 10) == 1
    [row] = journal.take(10, system_random_bytes)

    assert (row.merchant_id, row.payment_id, row.ndc, row.at, row.kind) == (
        MERCHANT.id,
        ABOUT.id,
        ABOUT.ndc,
        NOW,
        "message",
    )
    assert json.loads(row.text) == {
        "label": "charge request",
        "path": "/v1/charges",
        "request": {"card": {"number": "***", "cvv": "***"}},
        "status": 200,
        "reply": {"status": "approved"},
    }
    assert journal.take(10, system_random_bytes) == []


async def test_a_message_of_iso_8583_is_kept_readable_and_without_its_account(app: App) -> None:
    journal = make_open_journal()
    fields = {2: "4200000000000000", 48: codec.render_tags({Tag.CVV2: "731"})}
    body = codec.encode(codec.Message("0100", fields))
    request = WireRequest(path="0100", body=body, key="key", content_type=transcript.CONTENT_TYPE)
    reply = WireReply(200, codec.encode(codec.Message("0110", {39: "05"})), transcript.CONTENT_TYPE)
    journal.note_message(NOW, ABOUT, "charge request", request, reply)
    journal.mask(app.merchants, 10)
    [row] = journal.take(10, system_random_bytes)

    kept = json.loads(row.text)
    assert kept["request"]["2 primary account number"] == "420000******0000"
    assert kept["request"]["48.74 CVV2"] == "***"
    assert kept["reply"]["39 response code"] == "05 (do not honour)"
    assert "status" not in kept
    assert "4200000000000000" not in row.text
    assert "731" not in row.text


async def test_a_journal_without_a_worker_keeps_nothing(app: App) -> None:
    journal = Journal()
    journal.note_message(NOW, ABOUT, "charge request", REQUEST, "no answer")
    assert journal.mask(app.merchants, 10) == 0


async def test_the_oldest_are_dropped_and_counted_when_a_queue_is_full(app: App) -> None:
    journal = make_open_journal()
    for at in range(LIMITS.journal_new_max + 3):
        journal.note_message(at, ABOUT, "charge request", REQUEST, "no answer")
    journal.mask(app.merchants, LIMITS.journal_new_max)

    assert journal.dropped == 3
    assert journal.take(1, system_random_bytes)[0].at == 3


@pytest.mark.parametrize("depth", [260, 1020])
async def test_a_message_with_too_many_lists_in_lists_is_dropped_and_counted_alone(app: App, depth: int) -> None:
    journal = make_open_journal()
    journal.note_message(NOW, ABOUT, "charge request", REQUEST, WireReply(200, b"[" * depth + b"]" * depth))
    journal.note_message(NOW + 1, ABOUT, "charge request", REQUEST, WireReply(200, b"[[]]"))
    journal.mask(app.merchants, 10)

    assert journal.dropped == 1
    assert [row.at for row in journal.take(10, system_random_bytes)] == [NOW + 1]


async def test_a_line_that_cannot_be_encoded_is_dropped_and_counted_alone(app: App) -> None:
    journal = make_open_journal()
    ndc = f"{CHANNEL.id}_{'a' * 32}"
    for path in ("/\ud800", "/v1/payments"):
        journal.note_line(NOW, ndc, {"event": "request", "path": path})
    journal.mask(app.merchants, 10)

    assert journal.dropped == 1
    [row] = journal.take(10, system_random_bytes)
    assert json.loads(row.text)["path"] == "/v1/payments"


async def test_of_requests_that_are_repeated_only_the_last_is_kept(app: App) -> None:
    journal = make_open_journal()
    for status in (200, 201, 202):
        journal.note_message(NOW + status, ABOUT, "recovery request", REQUEST, WireReply(status, b"{}"))
    journal.mask(app.merchants, 10)
    [row] = journal.take(10, system_random_bytes)
    assert json.loads(row.text)["status"] == 202
    journal.note_message(NOW + 999, ABOUT, "recovery request", REQUEST, WireReply(203, b"{}"))
    journal.mask(app.merchants, 10)
    assert journal.take(10, system_random_bytes)[0].id == row.id


async def test_a_log_line_belongs_to_the_merchant_of_the_channel_in_its_ndc(app: App) -> None:
    journal = make_open_journal()
    log = logging.getLogger("tollgate.journal_test")
    lines = JournalLines(journal, lambda: NOW)
    log.addHandler(lines)
    ndc = f"{CHANNEL.id}_{'a' * 32}"
    try:
        log.warning("card 4200000000000000 refused", extra={"ndc": ndc, "why": "4200 0000 0000 0000"})
        log.warning("a line without a request")
        log.info("a line of no importance", extra={"ndc": ndc})
        log.warning("a line of an unknown channel", extra={"ndc": "8a_1"})
    finally:
        log.removeHandler(lines)
    journal.mask(app.merchants, 10)

    [row] = journal.take(10, system_random_bytes)
    assert (row.merchant_id, row.kind, row.ndc) == (MERCHANT.id, "line", ndc)
    assert "4200" not in row.text
    assert json.loads(row.text)["event"] == "card **************** refused"


async def test_a_message_without_an_answer_is_noted_with_the_reason(app: App) -> None:
    app.journal.is_open = True

    def ask() -> Conversation[bool]:
        yield REQUEST
        return True

    wire = ScriptedWire([Silent("gone")])
    assert await app.converse(ask(), wire, about=ABOUT, label="token request") is None
    app.journal.mask(app.merchants, 10)
    assert json.loads(app.journal.take(1, system_random_bytes)[0].text)["fault"] == "no answer"
