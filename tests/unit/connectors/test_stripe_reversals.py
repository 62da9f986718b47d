"""A charge with an unknown outcome at a processor with the Stripe API is found again and undone, or asked for."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.connectors.stripe.api import PAGES_MAX
from tollgate.payments.payment import Outcome
from tollgate.values import DAY
from unit.connectors.stripe_samples import (
    APPROVED_CODE,
    CONNECTOR,
    CREATED_S,
    DEBIT,
    HOLD,
    KNOWN,
    LOOK,
    Reply,
    Talk,
    charge,
    doubtful,
    failure,
    intent,
    page,
    refund,
    talk,
)

LIST = "GET /v1/payment_intents"
CANCEL = "POST /v1/payment_intents/pi_1/cancel"
REFUND = "POST /v1/refunds"

PAID = intent("succeeded", latest_charge=charge())
OURS = {"tollgate": "8a01"}
RETURNED = refund(amount=9210, metadata=OURS)
CANCELLABLE = ["requires_payment_method", "requires_confirmation", "requires_action", "requires_capture"]


def undo(*replies: Reply, **details: str) -> Talk:
    return talk(CONNECTOR.reverse(doubtful(DEBIT, **details)), *replies)


# ---- finding ----


def test_a_charge_without_an_intent_is_undone_because_nobody_can_confirm_one() -> None:
    heard = undo(page(intent("succeeded", metadata={"tollgate": "another"}), intent("succeeded", metadata=None)))

    assert (heard.steps, heard.result.outcome) == ([LIST], Outcome.APPROVED)


def test_intents_are_looked_for_around_the_time_of_the_payment() -> None:
    query = undo(page()).form(0)

    assert CREATED_S - 601 < int(query["created[gte]"]) < CREATED_S
    assert CREATED_S + 60 < int(query["created[lte]"]) < CREATED_S + 661


def test_a_moved_business_clock_hides_no_intent() -> None:
    moved = replace(DEBIT, created_at=DEBIT.created_at + 30 * DAY)

    query = talk(CONNECTOR.reverse(doubtful(moved)), page()).form(0)

    assert int(query["created[gte]"]) < CREATED_S < int(query["created[lte]"])


def test_a_processor_that_cannot_filter_by_time_lists_everything() -> None:
    refused = failure(400, type="invalid_request_error", message="Unexpected created")

    others = page(intent("x", metadata={}, id="pi_0"), has_more=True)

    heard = undo(refused, others, page(intent("x")), PAID, RETURNED)

    assert heard.steps == [LIST, LIST, LIST, LOOK, REFUND]
    assert "created[gte]" not in heard.form(1)
    assert heard.form(2)["starting_after"] == "pi_0"
    assert heard.result.outcome is Outcome.APPROVED


def test_a_known_intent_is_not_looked_for() -> None:
    heard = undo(PAID, RETURNED, **KNOWN)

    assert (heard.steps, heard.result.outcome) == ([LOOK, REFUND], Outcome.APPROVED)


@pytest.mark.parametrize(
    "replies",
    [
        [failure(500)],
        [failure(401)],
        [b"garbage"],
        [{"data": []}],
        [failure(400), failure(400)],
        [page(intent("x"), has_more=True), failure(502)],
        [page(intent("x", metadata={}), has_more=True)] * PAGES_MAX,
    ],
    ids=["failed", "no credential", "garbage", "no end", "refused", "half", "endless"],
)
def test_an_incomplete_list_is_no_proof_that_nothing_happened(replies: list[Reply]) -> None:
    assert undo(*replies).result.outcome is Outcome.SILENT


# ---- undoing ----


@pytest.mark.parametrize("status", CANCELLABLE)
def test_what_took_no_money_is_cancelled(status: str) -> None:
    heard = undo(page(intent(status)), intent(status), intent("canceled"))

    assert (heard.steps, heard.result.outcome) == ([LIST, LOOK, CANCEL], Outcome.APPROVED)


def test_what_took_money_is_refunded_in_full_under_one_key() -> None:
    heard = undo(page(PAID), PAID, RETURNED)

    assert heard.form(2) == {"payment_intent": "pi_1", "metadata[tollgate]": "8a01"}
    assert heard.requests[2].key == "8a01-reversal"
    assert (heard.result.outcome, heard.result.details["ConnectorTxID2"]) == (Outcome.APPROVED, "re_1")


@pytest.mark.parametrize(
    "seen",
    [
        intent("canceled"),
        intent("succeeded", latest_charge=charge(refunded=True)),
        intent("succeeded", latest_charge=charge(amount_refunded=9210)),
    ],
)
def test_what_was_undone_before_is_not_undone_again(seen: Reply) -> None:
    heard = undo(page(intent("x")), seen)

    assert (heard.steps, heard.result.outcome) == ([LIST, LOOK], Outcome.APPROVED)


def test_every_intent_of_a_request_that_came_twice_is_undone() -> None:
    twin = intent("requires_confirmation", id="pi_0")

    heard = undo(page(twin, PAID), twin, intent("canceled", id="pi_0"), PAID, RETURNED)

    assert heard.steps == [LIST, "GET /v1/payment_intents/pi_0", "POST /v1/payment_intents/pi_0/cancel", LOOK, REFUND]
    assert heard.result.outcome is Outcome.APPROVED


def test_another_state_is_cancelled_under_another_key() -> None:
    keys = {undo(intent(status), intent("canceled"), **KNOWN).requests[1].key for status in CANCELLABLE}

    assert len(keys) == len(CANCELLABLE)


@pytest.mark.parametrize(
    "replies",
    [
        [failure(404)],
        [failure(500)],
        [intent("processing")],
        [intent("succeeded")],
        [intent("succeeded", latest_charge="ch_1")],
        [intent("dancing")],
        [intent("canceled", id="pi_2")],
        [intent("requires_capture"), failure(400)],
        [intent("requires_capture"), intent("requires_capture")],
        [intent("requires_capture"), intent("canceled", id="pi_2")],
        [intent("requires_capture"), b""],
        [PAID, failure(400)],
        [PAID, b"{}"],
        [PAID, refund(amount=9209, metadata=OURS)],
        [PAID, refund(amount=9210, metadata=OURS, status="failed")],
        [PAID, refund(amount=9210)],
    ],
    ids=str,
)
def test_a_reversal_is_tried_again_until_the_processor_confirms_it(replies: list[Reply]) -> None:
    assert undo(*replies, **KNOWN).result.outcome is Outcome.SILENT


# ---- asking ----


@pytest.mark.parametrize(
    ("seen", "outcome", "code"),
    [
        (PAID, Outcome.APPROVED, APPROVED_CODE),
        (intent("processing"), Outcome.WAITING, "000.200.000"),
        (intent("canceled"), Outcome.DECLINED, "800.100.191"),
        (
            intent("requires_payment_method", last_payment_error={"decline_code": "lost_card"}),
            Outcome.DECLINED,
            "800.100.165",
        ),
        (intent("succeeded", amount=1), Outcome.SILENT, "900.100.300"),
        (failure(500), Outcome.SILENT, "900.100.300"),
    ],
)
def test_a_waiting_charge_is_asked_for(seen: Reply, outcome: Outcome, code: str) -> None:
    verdict = talk(CONNECTOR.inquire(doubtful(DEBIT, **KNOWN), APPROVED_CODE), seen).result

    assert (verdict.outcome, verdict.code) == (outcome, code)


def test_a_waiting_authorization_is_approved_when_it_can_be_captured() -> None:
    seen = intent("requires_capture")

    assert talk(CONNECTOR.inquire(doubtful(HOLD, **KNOWN), APPROVED_CODE), seen).result.outcome is Outcome.APPROVED


def test_a_charge_that_was_never_seen_is_declined() -> None:
    verdict = talk(CONNECTOR.inquire(doubtful(), APPROVED_CODE), page()).result

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "900.100.310")


def test_a_payout_was_never_sent_so_nobody_is_asked_about_it() -> None:
    heard = talk(CONNECTOR.inquire(doubtful(replace(DEBIT, payment_type="CD")), APPROVED_CODE))

    assert (heard.requests, heard.result.outcome) == ([], Outcome.DECLINED)
