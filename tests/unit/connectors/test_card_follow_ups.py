"""A follow-up is sent once, judged like a charge, and repeated with the same key after silence."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tollgate.connectors import acquiring, card
from tollgate.connectors.acquiring import RESPONSES
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Verdict
from unit.connectors.samples import CAPTURE, ORIGINAL

APPROVED_CODE = "000.100.110"
SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")

Reply = Mapping[str, object] | bytes | int
"""A message, what is none, or the status of a breakdown."""

UNKNOWN: Reply = {"status": "unknown"}
NO_ANSWERS: list[Reply] = [b"", b"{", b"[]", {"status": "dancing"}, {"status": "reversed"}, 500, 503]


def run(exchange: Exchange, *replies: Reply) -> tuple[list[WireRequest], Verdict]:
    """Runs an exchange, which must ask for exactly as many replies as there are."""
    requests = [next(exchange)]
    for reply in replies[:-1]:
        requests.append(exchange.send(make_reply(reply)))
    with pytest.raises(StopIteration) as end:
        exchange.send(make_reply(replies[-1]))
    return requests, end.value.value


def make_reply(reply: Reply) -> WireReply:
    if isinstance(reply, int):
        return WireReply(reply, b'{"status":"approved"}')
    return WireReply(200, reply if isinstance(reply, bytes) else json.dumps(reply).encode())


def test_a_follow_up_is_one_message_under_the_key_of_its_attempt() -> None:
    requests, _ = run(
        card.follow_up(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL, is_final=True), {"status": "approved"}
    )

    (request,) = requests
    assert (request.path, request.key, request.simulator_overrides) == (acquiring.FOLLOW_UPS, "8a02", {})
    message = json.loads(request.body)
    assert (message["key"], message["type"], message["original"]) == ("8a02", "capture", "8a01")
    assert (message["amount"], message["is_final"]) == (4000, True)


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        ({"status": "approved"}, Outcome.APPROVED, APPROVED_CODE),
        ({"status": "declined", "response_code": "13"}, Outcome.DECLINED, RESPONSES["13"]),
        ({"status": "pending"}, Outcome.WAITING, "000.200.000"),
    ],
)
def test_a_follow_up_is_judged_like_a_charge(reply: Reply, outcome: Outcome, code: str) -> None:
    _, verdict = run(card.follow_up(CAPTURE, "refund", APPROVED_CODE, original=ORIGINAL), reply)

    assert (verdict.outcome, verdict.code) == (outcome, code)


@pytest.mark.parametrize("reply", [*NO_ANSWERS, UNKNOWN])
def test_a_follow_up_that_is_answered_with_nonsense_is_silent(reply: Reply) -> None:
    assert run(card.follow_up(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL), reply)[1] == SILENT


@pytest.mark.parametrize(
    ("code", "outcome"),
    [("800.100.151", Outcome.DECLINED), ("000.400.000", Outcome.APPROVED), ("000.200.000", Outcome.WAITING)],
)
def test_a_forced_code_decides_a_follow_up_too(code: str, outcome: Outcome) -> None:
    simulator_overrides = {acquiring.FORCED_CODE: code}

    requests, verdict = run(
        card.follow_up(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL, simulator_overrides=simulator_overrides),
        {"status": "approved", "result_code": code},
    )

    assert requests[0].simulator_overrides == simulator_overrides
    assert (verdict.outcome, verdict.code) == (outcome, code)


def test_no_acquirer_forces_a_follow_up_by_itself() -> None:
    reply = {"status": "declined", "response_code": "51", "result_code": "000.000.000"}

    assert run(card.follow_up(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL), reply)[1].code == RESPONSES["51"]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ({"status": "approved"}, Outcome.APPROVED),
        ({"status": "declined", "response_code": "13"}, Outcome.DECLINED),
        ({"status": "pending"}, Outcome.WAITING),
    ],
)
def test_what_the_acquirer_knows_is_not_sent_again(reply: Reply, outcome: Outcome) -> None:
    requests, verdict = run(card.repeat(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL), reply)

    assert [(request.path, json.loads(request.body)) for request in requests] == [
        (acquiring.INQUIRIES, {"key": "8a02", "blocks": False})
    ]
    assert verdict.outcome is outcome


@pytest.mark.parametrize("is_final", [False, True])
def test_what_the_acquirer_never_saw_is_sent_again_to_the_byte(is_final: bool) -> None:
    (first,), _ = run(card.follow_up(CAPTURE, "refund", APPROVED_CODE, original=ORIGINAL, is_final=is_final), b"")

    requests, verdict = run(
        card.repeat(CAPTURE, "refund", APPROVED_CODE, original=ORIGINAL, is_final=is_final),
        UNKNOWN,
        {"status": "approved"},
    )

    assert requests[1] == first
    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)


def test_a_repeat_may_be_declined() -> None:
    _, verdict = run(
        card.repeat(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL),
        UNKNOWN,
        {"status": "declined", "response_code": "13"},
    )

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, RESPONSES["13"])


@pytest.mark.parametrize("reply", NO_ANSWERS)
def test_a_repeat_whose_question_is_answered_with_nonsense_sends_nothing(reply: Reply) -> None:
    requests, verdict = run(card.repeat(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL), reply)

    assert (len(requests), verdict) == (1, SILENT)


@pytest.mark.parametrize("reply", [*NO_ANSWERS, UNKNOWN])
def test_a_repeat_that_is_answered_with_nonsense_stays_silent(reply: Reply) -> None:
    requests, verdict = run(card.repeat(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL), UNKNOWN, reply)

    assert (len(requests), verdict) == (2, SILENT)


def test_one_that_was_accepted_is_asked_for_and_never_sent_again() -> None:
    """An acquirer that forgot what it had accepted might do it a second time."""
    requests, verdict = run(
        card.repeat(CAPTURE, "capture", APPROVED_CODE, original=ORIGINAL, was_accepted=True), UNKNOWN
    )

    assert [request.path for request in requests] == [acquiring.INQUIRIES]
    assert verdict == SILENT
