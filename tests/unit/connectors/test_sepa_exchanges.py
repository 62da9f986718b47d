"""The connector for bank accounts: what each payment sends to the SEPA queue, and the verdict of every answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tollgate.catalog.results import RESULTS
from tollgate.connectors import sepa
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.connectors.sepa import RESPONSES
from tollgate.connectors.table import get_connector
from tollgate.payments.accounts import BankAccount
from tollgate.payments.order import Sequence
from tollgate.payments.payment import Outcome, Verdict
from tollgate.values import Money, PaymentId, Secret
from unit.connectors.samples import ATTEMPT, CAPTURE, ORDER, ORIGINAL

APPROVED_CODE = "000.100.110"
IBAN = "DE89370400440532013000"
ACCOUNT = BankAccount(holder="Jane Jones", iban=Secret(IBAN), mandate_id="M-ONE", signed_on=date(2026, 11, 1))
DEBIT = replace(
    ORDER,
    brand="DIRECTDEBIT_SEPA",
    method="DD",
    account=ACCOUNT,
    card_summary=None,
    simulator_overrides={},
    due_on=date(2026, 12, 1),
    sequence=Sequence.FIRST,
)
LATER = replace(CAPTURE, brand="DIRECTDEBIT_SEPA", method="DD", chain_id=PaymentId("8a00"))


def run(
    exchange: Exchange, *replies: Mapping[str, object] | bytes, status: int = 200
) -> tuple[list[WireRequest], Verdict]:
    requests = [next(exchange)]
    for reply in replies:
        body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        try:
            requests.append(exchange.send(WireReply(status, body)))
        except StopIteration as end:
            return requests, end.value
    raise AssertionError("the connector asks on")


def read(request: WireRequest) -> dict[str, object]:
    message: dict[str, object] = json.loads(request.body)
    return message


def test_the_brands_of_direct_debits_are_spoken_for() -> None:
    assert get_connector("DIRECTDEBIT_SEPA") is get_connector("SEPA") is sepa


@pytest.mark.parametrize(("payment_type", "direction"), [("DB", "debit"), ("CD", "credit"), ("PA", "check")])
def test_a_payment_answers_direction_day_and_mandate_and_no_account(payment_type: str, direction: str) -> None:
    (request,), verdict = run(
        sepa.charge(replace(DEBIT, payment_type=payment_type), ATTEMPT, APPROVED_CODE),
        {"status": "approved", "due_on": "2026-12-01", "mandate_id": "M-ONE"},
    )

    assert (request.path, request.key) == ("/sepa-queue/instructions", "8a01")
    assert read(request) == {
        "key": "8a01",
        "direction": direction,
        "amount": 9210,
        "currency": "EUR",
        "account_of": "8a01",
        "purpose": "Jones",
        "due_on": "2026-12-01",
        "sequence": "FRST",
        "mandate_id": "M-ONE",
        "signed_on": "2026-11-01",
    }
    assert IBAN.encode() not in request.body
    assert (verdict.outcome, verdict.code) == (Outcome.APPROVED, APPROVED_CODE)
    assert verdict.details == {"ExtendedDescription": "", "DueDate": "2026-12-01", "MandateId": "M-ONE"}


def test_what_goes_to_a_statement_is_cut() -> None:
    (request,), _ = run(
        sepa.charge(replace(DEBIT, statement="x" * 200), ATTEMPT, APPROVED_CODE), {"status": "approved"}
    )

    assert read(request)["purpose"] == "x" * 140


@pytest.mark.parametrize(
    ("action", "direction", "sequence"),
    [
        ("capture", "debit", None),
        ("rebill", "debit", "RCUR"),
        ("refund", "credit", None),
        ("increment", "check", None),
        ("renewal", "check", None),
    ],
)
def test_a_follow_up_names_the_account_of_the_first_payment(action: str, direction: str, sequence: str | None) -> None:
    (request,), _ = run(sepa.follow_up(LATER, action, APPROVED_CODE, original=ORIGINAL), {"status": "approved"})

    message = read(request)
    assert (message["direction"], message["account_of"], message["amount"]) == (direction, "8a00", 4000)
    assert message.get("sequence") == sequence


def test_a_reversal_is_a_cancellation_of_what_it_names() -> None:
    (request,), verdict = run(
        sepa.follow_up(LATER, "reversal", APPROVED_CODE, original=ORIGINAL),
        {"status": "declined", "response_code": "late"},
    )

    assert (request.path, read(request)["original"]) == ("/sepa-queue/cancellations", "8a01")
    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "700.300.700")


@pytest.mark.parametrize(("response", "code"), [*RESPONSES.items(), ("other", "800.100.100")])
def test_a_refusal_of_the_sepa_queue_is_translated_by_table(response: str, code: str) -> None:
    _, verdict = run(sepa.charge(DEBIT, ATTEMPT, APPROVED_CODE), {"status": "declined", "response_code": response})

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, code)
    assert RESULTS[code].http_status == 400


def test_a_repeat_asks_first_and_sends_the_same_again_where_it_was_never_seen() -> None:
    requests, verdict = run(
        sepa.repeat(LATER, "capture", APPROVED_CODE, original=ORIGINAL), {"status": "unknown"}, {"status": "approved"}
    )

    assert [request.path for request in requests] == ["/sepa-queue/inquiries", "/sepa-queue/instructions"]
    assert read(requests[0]) == {"key": "8a02", "blocks": False}
    assert requests[1].key == "8a02"
    assert verdict.outcome is Outcome.APPROVED


def test_a_repeat_of_what_was_accepted_is_only_asked_for() -> None:
    requests, verdict = run(
        sepa.repeat(LATER, "capture", APPROVED_CODE, original=ORIGINAL, was_accepted=True), {"status": "unknown"}
    )

    assert len(requests) == 1
    assert verdict.outcome is Outcome.SILENT


@pytest.mark.parametrize("status", ["reversed", "unknown"])
def test_a_doubtful_debit_is_undone_or_blocked(status: str) -> None:
    (request,), verdict = run(sepa.reverse(ORIGINAL), {"status": status})

    assert (request.path, read(request)) == ("/sepa-queue/reversals", {"key": "8a01"})
    assert verdict.outcome is Outcome.APPROVED


def test_a_credit_that_the_sepa_queue_never_saw_will_never_be() -> None:
    (request,), verdict = run(sepa.inquire(ORIGINAL, APPROVED_CODE), {"status": "unknown"})

    assert (request.path, read(request)) == ("/sepa-queue/inquiries", {"key": "8a01"})
    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "900.100.310")


def test_only_bank_accounts_are_debited() -> None:
    with pytest.raises(ValueError, match="not paid from a bank account"):
        sepa.charge(replace(ORDER, money=Money(1, "EUR")), ATTEMPT, APPROVED_CODE)


@given(
    st.binary(max_size=200)
    | st.dictionaries(
        st.sampled_from(["status", "response_code", "message", "due_on", "result_code"]),
        st.sampled_from(["approved", "declined", "pending", "reversed", "unknown", "", "late"])
        | st.integers()
        | st.none(),
    ).map(lambda answer: json.dumps(answer).encode()),
    st.sampled_from([200, 204, 400, 404, 500, 503]),
    st.sampled_from(["charge", "follow_up", "repeat", "reverse", "inquire"]),
)
def test_whatever_is_answered_there_is_one_verdict(body: bytes, status: int, word: str) -> None:
    exchange = {
        "charge": lambda: sepa.charge(DEBIT, ATTEMPT, APPROVED_CODE),
        "follow_up": lambda: sepa.follow_up(LATER, "refund", APPROVED_CODE, original=ORIGINAL),
        "repeat": lambda: sepa.repeat(LATER, "refund", APPROVED_CODE, original=ORIGINAL),
        "reverse": lambda: sepa.reverse(ORIGINAL),
        "inquire": lambda: sepa.inquire(ORIGINAL, APPROVED_CODE),
    }[word]()

    _, verdict = run(exchange, body, body, status=status)

    assert isinstance(verdict, Verdict)
