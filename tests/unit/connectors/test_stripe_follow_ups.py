"""Captures, refunds, voids and rebills at a processor with the Stripe API, and what happens after silence."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import Original
from tollgate.payments.following import Action
from tollgate.payments.payment import Outcome, Payment
from unit.connectors.stripe_samples import (
    APPROVED_CODE,
    CONNECTOR,
    DEBIT,
    HOLD,
    LOOK,
    METHOD,
    Reply,
    Talk,
    charge,
    decline,
    failure,
    follow,
    intent,
    original,
    page,
    refund,
    talk,
)

CAPTURE = follow(Action.CAPTURE, "CP")
VOID = follow(Action.VOID, "RV", 9210)
REFUND = follow(Action.REFUND, "RF")
REVERSAL = follow(Action.REVERSAL, "RV", 9210)
REBILL = follow(Action.REBILL, "RB")
WORDS = {"CP": "capture", "RF": "refund", "RV": "reversal", "RB": "rebill"}

HELD = intent("requires_capture", latest_charge=charge())
CAPTURED = intent("succeeded", amount_received=4000, latest_charge=charge(amount_captured=4000, amount_refunded=5210))
REFUSED = failure(400, type="invalid_request_error", code="payment_intent_unexpected_state")
REBILLED = {"amount": 4000, "metadata": {"tollgate": "8a02"}}

LIST_INTENTS = "GET /v1/payment_intents"
LIST_REFUNDS = "GET /v1/refunds"
POST_REFUND = "POST /v1/refunds"
POST_CAPTURE = "POST /v1/payment_intents/pi_1/capture"
POST_CANCEL = "POST /v1/payment_intents/pi_1/cancel"
SALE = ["POST /v1/payment_methods", "POST /v1/payment_intents", "POST /v1/payment_intents/pi_1/confirm"]


def send(attempt: Payment, named: Original, *replies: Reply) -> Talk:
    word = WORDS[attempt.payment_type]
    return talk(CONNECTOR.follow_up(attempt, word, APPROVED_CODE, original=named), *replies)


def repeat(attempt: Payment, named: Original, *replies: Reply, was_accepted: bool = False) -> Talk:
    word = WORDS[attempt.payment_type]
    exchange = CONNECTOR.repeat(attempt, word, APPROVED_CODE, original=named, was_accepted=was_accepted)
    return talk(exchange, *replies)


@pytest.mark.parametrize("word", ["increment", "renewal"])
def test_what_the_protocol_does_not_have_is_declined_and_never_sent(word: str) -> None:
    attempt = follow(Action.INCREMENT, "PA")

    for exchange in (
        CONNECTOR.follow_up(attempt, word, APPROVED_CODE, original=original(HOLD)),
        CONNECTOR.repeat(attempt, word, APPROVED_CODE, original=original(HOLD)),
    ):
        heard = talk(exchange)
        assert (heard.requests, heard.result.outcome, heard.result.code) == ([], Outcome.DECLINED, "600.200.310")


# ---- captures ----


def test_a_capture_names_its_amount() -> None:
    heard = send(CAPTURE, original(HOLD), CAPTURED)

    assert heard.steps == [POST_CAPTURE]
    assert heard.form(0)["amount_to_capture"] == "4000"
    assert (heard.result.outcome, heard.result.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert heard.result.details["ConnectorTxID1"] == "pi_1"


def test_a_processor_without_received_amounts_tells_by_its_charge_what_was_captured() -> None:
    captured = intent("succeeded", latest_charge=charge(amount_refunded=5210))

    assert send(CAPTURE, original(HOLD), captured).result.outcome is Outcome.APPROVED


@pytest.mark.parametrize(
    "reply",
    [
        b"garbage",
        failure(500),
        failure(409),
        intent("succeeded", amount_received=9210, latest_charge=charge()),
        intent("succeeded", id="pi_2", amount_received=4000),
        intent("requires_capture"),
    ],
    ids=str,
)
def test_a_capture_that_is_answered_oddly_is_silent(reply: Reply) -> None:
    assert send(CAPTURE, original(HOLD), reply).result.outcome is Outcome.SILENT


def test_the_processor_captures_once_so_a_second_capture_is_declined_with_its_code() -> None:
    heard = send(CAPTURE, original(HOLD, drawn=4000), REFUSED, CAPTURED)

    assert (heard.result.outcome, heard.result.code) == (Outcome.DECLINED, "800.100.191")


def test_a_capture_that_came_twice_is_no_decline() -> None:
    heard = send(CAPTURE, original(HOLD), REFUSED, CAPTURED)

    assert heard.steps == [POST_CAPTURE, LOOK]
    assert heard.result.outcome is Outcome.APPROVED


def test_a_refused_capture_of_a_held_amount_is_declined() -> None:
    assert send(CAPTURE, original(HOLD), REFUSED, HELD).result.outcome is Outcome.DECLINED
    assert send(CAPTURE, original(HOLD), REFUSED, failure(500)).result.outcome is Outcome.SILENT


@pytest.mark.parametrize(
    ("seen", "drawn", "reserved", "outcome"),
    [
        (CAPTURED, 0, 4000, Outcome.APPROVED),
        (CAPTURED, 4000, 4000, Outcome.DECLINED),
        (CAPTURED, 0, 7000, Outcome.APPROVED),
        (CAPTURED, 0, 8000, Outcome.SILENT),
        (intent("succeeded", amount_received=3000), 0, 7000, Outcome.DECLINED),
        (intent("succeeded", amount_received=9210), 0, 4000, Outcome.SILENT),
        (intent("canceled"), 0, 4000, Outcome.DECLINED),
        (intent("processing"), 0, 4000, Outcome.SILENT),
        (failure(401), 0, 4000, Outcome.SILENT),
        (failure(404), 0, 4000, Outcome.SILENT),
        (b"", 0, 4000, Outcome.SILENT),
    ],
)
def test_a_silent_capture_is_looked_for_before_anything_is_sent(
    seen: Reply, drawn: int, reserved: int, outcome: Outcome
) -> None:
    heard = repeat(CAPTURE, original(HOLD, drawn=drawn, reserved=reserved), seen)

    assert (heard.steps, heard.result.outcome) == ([LOOK], outcome)


def test_a_silent_capture_that_was_never_seen_is_sent_again_under_its_key() -> None:
    heard = repeat(CAPTURE, original(HOLD, reserved=4000), HELD, CAPTURED)

    assert heard.steps == [LOOK, POST_CAPTURE]
    assert heard.requests[1].key == "8a02-capture"
    assert heard.result.outcome is Outcome.APPROVED


def test_a_request_too_many_while_repeating_leaves_the_capture_open() -> None:
    assert repeat(CAPTURE, original(HOLD, reserved=4000), HELD, failure(429)).result.outcome is Outcome.UNSENT


# ---- voids ----


def test_the_reversal_of_an_authorization_cancels_its_intent() -> None:
    heard = send(VOID, original(HOLD), intent("canceled"))

    assert (heard.steps, heard.result.outcome) == ([POST_CANCEL], Outcome.APPROVED)


@pytest.mark.parametrize(
    ("seen", "drawn", "outcome"),
    [
        (intent("canceled"), 0, Outcome.APPROVED),
        (CAPTURED, 4000, Outcome.APPROVED),
        (CAPTURED, 0, Outcome.DECLINED),
        (HELD, 0, Outcome.DECLINED),
        (failure(500), 0, Outcome.SILENT),
    ],
    ids=["cancelled before", "rest released by a capture", "captured by somebody else", "still held", "no answer"],
)
@pytest.mark.parametrize("act", [send, repeat])
def test_a_refused_cancellation_is_judged_by_the_intent(act: object, seen: Reply, drawn: int, outcome: Outcome) -> None:
    assert callable(act)
    heard = act(VOID, original(HOLD, drawn=drawn), REFUSED, seen)

    assert (heard.steps, heard.result.outcome) == ([POST_CANCEL, LOOK], outcome)


# ---- refunds ----


@pytest.mark.parametrize(("attempt", "amount"), [(REFUND, 4000), (REVERSAL, 9210)])
def test_a_refund_and_the_reversal_of_a_debit_name_intent_amount_and_payment(attempt: Payment, amount: int) -> None:
    heard = send(attempt, original(), refund(amount=amount))

    assert heard.steps == [POST_REFUND]
    assert heard.form(0) == {"payment_intent": "pi_1", "amount": str(amount), "metadata[tollgate]": "8a02"}
    assert heard.requests[0].key == "8a02-refund"
    assert (heard.result.outcome, heard.result.details["ConnectorTxID2"]) == (Outcome.APPROVED, "re_1")


def test_the_refund_of_a_rebill_names_the_intent_of_the_rebill() -> None:
    rebill = replace(original().payment, action=Action.REBILL, payment_type="RB", details={"ConnectorTxID1": "pi_9"})

    heard = send(REFUND, Original(payment=rebill, first=original().payment), refund())

    assert heard.form(0)["payment_intent"] == "pi_9"


def test_the_refund_of_a_capture_without_references_names_the_intent_of_the_authorization() -> None:
    capture = replace(CAPTURE, details={})

    heard = send(REFUND, Original(payment=capture, first=original(HOLD).payment), refund())

    assert heard.form(0)["payment_intent"] == "pi_1"


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (refund(status="pending"), Outcome.APPROVED, APPROVED_CODE),
        (refund(status="failed"), Outcome.DECLINED, "800.100.191"),
        (refund(status="requires_action"), Outcome.SILENT, "900.100.300"),
        (refund(amount=4001), Outcome.SILENT, "900.100.300"),
        (refund(currency="usd"), Outcome.SILENT, "900.100.300"),
        (b"garbage", Outcome.SILENT, "900.100.300"),
        (failure(500), Outcome.SILENT, "900.100.300"),
        (failure(429), Outcome.UNSENT, "900.100.600"),
        (failure(401), Outcome.DECLINED, "800.100.190"),
        (decline(code="expired_card"), Outcome.DECLINED, "800.100.157"),
    ],
    ids=str,
)
def test_what_a_refund_is_answered_with(reply: Reply, outcome: Outcome, code: str) -> None:
    verdict = send(REFUND, original(), reply).result

    assert (verdict.outcome, verdict.code) == (outcome, code)


@pytest.mark.parametrize(
    ("listed", "outcome", "code"),
    [
        (page(), Outcome.DECLINED, "800.100.191"),
        (page(refund()), Outcome.APPROVED, APPROVED_CODE),
        (failure(500), Outcome.SILENT, "900.100.300"),
    ],
)
def test_a_refused_refund_is_declined_once_it_is_seen_nowhere(listed: Reply, outcome: Outcome, code: str) -> None:
    refused = failure(400, type="invalid_request_error", code="charge_already_refunded")

    heard = send(REFUND, original(), refused, listed)

    assert heard.steps == [POST_REFUND, LIST_REFUNDS]
    assert (heard.result.outcome, heard.result.code) == (outcome, code)


def test_a_silent_refund_that_was_executed_is_not_sent_again() -> None:
    pages = (page(refund(metadata={}), has_more=True), page(refund(id="re_2")))

    heard = repeat(REFUND, original(), *pages)

    assert heard.steps == [LIST_REFUNDS, LIST_REFUNDS]
    assert heard.form(0)["payment_intent"] == "pi_1"
    assert heard.form(1)["starting_after"] == "re_1"
    assert (heard.result.outcome, heard.result.details["ConnectorTxID2"]) == (Outcome.APPROVED, "re_2")


def test_a_silent_refund_that_was_never_seen_is_sent_again_under_its_key() -> None:
    heard = repeat(REFUND, original(), page(refund(metadata={"tollgate": "another"})), refund())

    assert heard.steps == [LIST_REFUNDS, POST_REFUND]
    assert heard.requests[1].key == "8a02-refund"
    assert heard.result.outcome is Outcome.APPROVED


def test_a_refund_that_was_accepted_and_is_gone_is_not_sent_again() -> None:
    assert repeat(REFUND, original(), page(), was_accepted=True).result.outcome is Outcome.SILENT


def test_without_a_complete_list_nothing_is_sent_again() -> None:
    assert repeat(REFUND, original(), failure(503)).result.outcome is Outcome.SILENT
    assert repeat(REFUND, original(), b"{}").result.outcome is Outcome.SILENT


# ---- rebills ----


def test_a_rebill_is_a_new_intent_without_a_shopper() -> None:
    named = original(DEBIT, ConnectorTxID1="pi_0", CardholderInitiatedTransactionID="MCC123")

    heard = send(REBILL, named, METHOD, intent("requires_confirmation", **REBILLED), intent("succeeded", **REBILLED))

    assert heard.steps == SALE
    assert "card[cvc]" not in heard.form(0)
    assert heard.form(1)["metadata[tollgate]"] == "8a02"
    assert heard.form(1)["payment_method_options[card][mit_exemption][network_transaction_id]"] == "MCC123"
    assert heard.form(2)["off_session"] == "true"
    assert heard.result.outcome is Outcome.APPROVED


def test_a_rebill_of_a_wiped_account_is_declined() -> None:
    wiped = Original(payment=original().payment, first=original().payment)

    heard = send(REBILL, wiped)

    assert (heard.requests, heard.result.code) == ([], "700.500.004")


@pytest.mark.parametrize(
    ("replies", "steps", "outcome"),
    [
        (
            [page(), METHOD, intent("requires_confirmation", **REBILLED), intent("succeeded", **REBILLED)],
            SALE,
            "approved",
        ),
        ([page(intent("x", **REBILLED)), intent("succeeded", **REBILLED)], [LOOK], "approved"),
        ([page(intent("x", **REBILLED)), intent("processing", **REBILLED)], [LOOK], "waiting"),
        ([page(intent("x", **REBILLED)), intent("canceled", **REBILLED)], [LOOK], "declined"),
        (
            [
                page(intent("x", **REBILLED)),
                intent("requires_confirmation", **REBILLED),
                intent("succeeded", **REBILLED),
            ],
            [LOOK, SALE[-1]],
            "approved",
        ),
        (
            [
                page(intent("x", id="pi_0", **REBILLED), intent("x", **REBILLED)),
                intent("requires_confirmation", id="pi_0", **REBILLED),
                intent("succeeded", **REBILLED),
            ],
            ["GET /v1/payment_intents/pi_0", LOOK],
            "approved",
        ),
        ([failure(500)], [], "silent"),
    ],
    ids=["never seen", "paid", "in process", "cancelled", "not confirmed", "created twice", "no list"],
)
def test_a_silent_rebill_is_looked_for_and_confirmed_once(replies: list[Reply], steps: list[str], outcome: str) -> None:
    heard = repeat(REBILL, original(), *replies)

    assert heard.steps == [LIST_INTENTS, *steps]
    assert heard.result.outcome == outcome
