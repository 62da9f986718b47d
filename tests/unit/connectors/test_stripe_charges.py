"""A charge at a processor with the Stripe API: three messages, of which the last one moves money."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog.results import RESULTS
from tollgate.connectors.stripe import verdicts
from tollgate.payments.payment import Outcome, Verdict
from unit.connectors.samples import ORDER
from unit.connectors.stripe_samples import (
    CREATED,
    HOLD,
    LOOK,
    METHOD,
    PAID,
    STEPS,
    Reply,
    charge,
    decline,
    failure,
    intent,
    sell,
)


def judge(*replies: Reply) -> Verdict:
    """Returns the verdict of a debit whose confirmation is answered so."""
    result: Verdict = sell(METHOD, CREATED, *replies).result
    return result


def hold(*replies: Reply) -> Verdict:
    result: Verdict = sell(METHOD, CREATED, *replies, order=replace(ORDER, payment_type="PA"), attempt=HOLD).result
    return result


# ---- what is answered ----


def test_references_and_checks_are_kept_as_details() -> None:
    card = {
        "checks": {"address_line1_check": "fail", "address_postal_code_check": "pass", "cvc_check": "pass"},
        "network_transaction_id": "MCC123",
    }

    verdict = judge(intent("succeeded", latest_charge=charge(payment_method_details={"card": card})))

    assert verdict.details == {
        "ExtendedDescription": "",
        "ConnectorTxID1": "pi_1",
        "ConnectorTxID2": "ch_1",
        "ConnectorTxID3": "MCC123",
        "CardholderInitiatedTransactionID": "MCC123",
        "AcquirerResponse": "succeeded",
        "result.cvvResponse": "M",
        "result.avsResponse": "Z",
    }


@pytest.mark.parametrize(
    ("street", "postcode", "letter"),
    [
        ("pass", "pass", "F"),
        ("pass", "unavailable", "A"),
        ("fail", "pass", "Z"),
        ("fail", "unchecked", "N"),
        ("unchecked", None, "U"),
        (None, None, None),
    ],
)
def test_checks_of_the_address_are_answered_by_one_letter(street: str, postcode: str, letter: str | None) -> None:
    card = {"checks": {"address_line1_check": street, "address_postal_code_check": postcode, "cvc_check": None}}

    verdict = judge(intent("succeeded", latest_charge=charge(payment_method_details={"card": card})))

    assert verdict.details.get("result.avsResponse") == letter


def test_an_intent_that_is_being_processed_waits() -> None:
    verdict = judge(intent("processing"))

    assert (verdict.outcome, verdict.code, verdict.details["ConnectorTxID1"]) == (
        Outcome.WAITING,
        "000.200.000",
        "pi_1",
    )


def test_an_authentication_on_the_processors_page_is_a_soft_decline_and_the_intent_is_cancelled() -> None:
    heard = sell(METHOD, CREATED, intent("requires_action"), intent("canceled"))

    assert heard.steps[-1] == "POST /v1/payment_intents/pi_1/cancel"
    assert (heard.result.outcome, heard.result.code) == (Outcome.DECLINED, "300.100.100")


def test_an_intent_that_cannot_be_cancelled_is_reversed_later() -> None:
    assert judge(intent("requires_action"), failure(500, type="api_error")).outcome is Outcome.SILENT


@pytest.mark.parametrize(("reason", "code"), [*verdicts.DECLINES.items(), ("never heard of", "800.100.100")])
def test_a_decline_is_translated_by_table(reason: str, code: str) -> None:
    verdict = judge(decline(code="card_declined", decline_code=reason, message="No", charge="ch_1"))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, code)
    assert verdict.details == {
        "ExtendedDescription": "No",
        "ConnectorTxID1": "pi_1",
        "ConnectorTxID2": "ch_1",
        "AcquirerResponse": reason,
    }


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"code": "expired_card"}, "800.100.157"),
        ({"code": "card_declined"}, "800.100.100"),
        ({}, "800.100.100"),
        ({"decline_code": "insufficient_funds", "network_advice_code": "03"}, "700.601.003"),
        ({"decline_code": "insufficient_funds", "network_advice_code": "99"}, "800.100.203"),
        ({"decline_code": "insufficient_funds", "advice_code": "try_again_later"}, "800.100.203"),
        ({"decline_code": "generic_decline", "advice_code": "do_not_try_again"}, "700.601.003"),
        ({"decline_code": "generic_decline", "advice_code": "dance"}, "800.100.100"),
    ],
)
def test_the_networks_advice_counts_most_and_the_processors_where_no_reason_is_given(
    members: dict[str, str], code: str
) -> None:
    assert judge(decline(**members)).code == code


def test_every_translation_is_a_failure_of_the_catalogue() -> None:
    codes = [*verdicts.DECLINES.values(), *verdicts.ADVICES.values(), *verdicts.REFUSALS.values()]

    assert [code for code in codes if RESULTS[code].http_status != 400] == []


@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (failure(401, type="invalid_request_error"), Outcome.DECLINED, "800.100.190"),
        (failure(403, type="invalid_request_error"), Outcome.DECLINED, "800.100.190"),
        (failure(429, type="rate_limit_error"), Outcome.UNSENT, "900.100.600"),
        ((429, b""), Outcome.UNSENT, "900.100.600"),
        (failure(409, type="api_error"), Outcome.SILENT, "900.100.300"),
        (failure(500, type="api_error"), Outcome.SILENT, "900.100.300"),
        (failure(400, type="idempotency_error"), Outcome.SILENT, "900.100.300"),
        ((302, b""), Outcome.SILENT, "900.100.300"),
        ((402, b"declined"), Outcome.SILENT, "900.100.300"),
    ],
)
def test_a_refused_confirmation_is_silent_where_it_may_have_been_executed(
    reply: Reply, outcome: Outcome, code: str
) -> None:
    verdict = judge(reply)

    assert (verdict.outcome, verdict.code) == (outcome, code)


@pytest.mark.parametrize(
    ("member", "code"),
    [("parameter_unknown", "900.100.204"), ("amount_too_small", "800.100.174"), (None, "900.100.204")],
)
def test_an_error_of_the_request_is_a_decline_once_the_intent_is_seen_unpaid(member: str, code: str) -> None:
    refused = failure(400, type="invalid_request_error", code=member)

    heard = sell(METHOD, CREATED, refused, CREATED)

    assert heard.steps == [*STEPS, LOOK]
    assert (heard.result.outcome, heard.result.code) == (Outcome.DECLINED, code)


def test_a_confirmation_that_came_twice_is_no_decline() -> None:
    refused = failure(400, type="invalid_request_error", code="payment_intent_unexpected_state")

    assert judge(refused, PAID).outcome is Outcome.APPROVED
    assert judge(refused, failure(500)).outcome is Outcome.SILENT


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        {"status": "succeeded"},
        intent("succeeded", id="pi_2"),
        intent("succeeded", id="../refunds"),
        intent("succeeded", amount=9211),
        intent("succeeded", amount="9210"),
        intent("succeeded", currency="usd"),
        intent("succeeded", amount_received=9209),
        intent("requires_capture"),
        intent("requires_confirmation"),
        intent("dancing"),
        (500, PAID),
    ],
    ids=str,
)
def test_what_does_not_fit_is_silent_and_leaves_a_trace_for_the_reversal(reply: Reply) -> None:
    verdict = judge(reply)

    assert (verdict.outcome, verdict.details["ConnectorTxID1"][:3]) == (Outcome.SILENT, "pi_")


def test_an_authorization_that_was_captured_at_once_is_silent_and_so_reversed() -> None:
    assert hold(PAID).outcome is Outcome.SILENT


# ---- before money moves ----


@pytest.mark.parametrize("sent", [(), (METHOD,)], ids=["method", "intent"])
@pytest.mark.parametrize(
    ("reply", "outcome", "code"),
    [
        (decline(code="incorrect_number"), Outcome.DECLINED, "800.100.151"),
        (failure(401), Outcome.DECLINED, "800.100.190"),
        (failure(400, code="parameter_unknown"), Outcome.DECLINED, "900.100.204"),
        (failure(429), Outcome.UNSENT, "900.100.600"),
        (failure(500), Outcome.UNSENT, "900.100.204"),
        (failure(409), Outcome.UNSENT, "900.100.204"),
        (b"garbage", Outcome.UNSENT, "900.100.204"),
        ({"id": "../x"}, Outcome.UNSENT, "900.100.204"),
    ],
)
def test_nothing_is_taken_before_the_confirmation_whatever_is_answered(
    sent: tuple[Reply, ...], reply: Reply, outcome: Outcome, code: str
) -> None:
    heard = sell(*sent, reply)

    assert (heard.result.outcome, heard.result.code) == (outcome, code)


@pytest.mark.parametrize(
    "created",
    [
        intent("requires_confirmation", amount=1),
        intent("requires_confirmation", currency="usd"),
        intent("succeeded"),
        intent("requires_action"),
    ],
)
def test_an_intent_that_is_not_what_was_asked_for_is_not_confirmed(created: Reply) -> None:
    heard = sell(METHOD, created)

    assert (heard.result.outcome, heard.result.details["ConnectorTxID1"]) == (Outcome.SILENT, "pi_1")


@pytest.mark.parametrize("metadata", [None, {}, {"tollgate": "another"}])
def test_an_intent_of_another_payment_is_neither_confirmed_nor_kept_for_the_reversal(metadata: object) -> None:
    heard = sell(METHOD, intent("requires_confirmation", metadata=metadata))

    assert (heard.result.outcome, heard.result.details) == (Outcome.SILENT, {})
