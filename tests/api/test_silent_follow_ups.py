"""Silence: a follow-up without an answer stays open, keeps what it reserved, and is finished by a worker, once.

A first payment without an answer has failed, and its reversal is there to be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.chains import (
    APPROVED,
    FAULT,
    FORCE,
    PENDING,
    authorise,
    capture,
    debit,
    list_payments,
    read,
    rebill,
    refund,
    result_of,
    reverse,
    stay_within_a_day,
    wait_until_final,
)
from api.merchants import wait_until
from gateway import Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

DELAY = "customParameters[simulatorDelay]"


def reverse_debit(client: Client, **simulator_overrides: str) -> Answer:
    stay_within_a_day(client)
    return reverse(client, debit(client), **simulator_overrides)


FOLLOW_UPS: dict[str, Callable[..., Answer]] = {
    "capture": lambda client, **simulator_overrides: capture(client, authorise(client), "60.00", **simulator_overrides),
    "refund": lambda client, **simulator_overrides: refund(client, debit(client), "60.00", **simulator_overrides),
    "reversal of an authorisation": lambda client, **simulator_overrides: reverse(
        client, authorise(client), **simulator_overrides
    ),
    "reversal of a debit": reverse_debit,
    "rebill": lambda client, **simulator_overrides: rebill(client, debit(client), "60.00", **simulator_overrides),
}

SILENCES = pytest.mark.parametrize("fault", ["dropped", "lost", "garbled"])


# ---- silent ----


@SILENCES
def test_a_silent_follow_up_is_pending_and_soon_approved(client: Client, fault: str) -> None:
    answers = {what: send(client, **{FAULT: fault}) for what, send in FOLLOW_UPS.items()}
    assert {what: result_of(answer) for what, answer in answers.items()} == dict.fromkeys(FOLLOW_UPS, PENDING)

    finals = {what: result_of(wait_until_final(client, answer)) for what, answer in answers.items()}

    assert finals == dict.fromkeys(FOLLOW_UPS, APPROVED)


def test_the_final_result_is_in_reports_under_the_same_id(client: Client) -> None:
    answer = capture(client, authorise(client), "60.00", merchantTransactionId="silent-capture", **{FAULT: "lost"})
    assert list_payments(client, "silent-capture")[0]["id"] == answer.json["id"]

    wait_until_final(client, answer)

    assert result_of(client.get(f"/v1/query/{answer.json['id']}")) == APPROVED
    (row,) = list_payments(client, "silent-capture")
    assert (row["id"], row["result"]["code"], row["amount"]) == (answer.json["id"], "000.100.110", "60.00")


def test_a_silent_capture_counts_once_before_and_after_it_is_finished(client: Client) -> None:
    payment_id = authorise(client)
    answer = capture(client, payment_id, "60.00", **{FAULT: "dropped"})

    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")
    wait_until_final(client, answer)
    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")

    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


def test_the_money_of_a_silent_refund_is_not_refunded_again(client: Client) -> None:
    payment_id = debit(client)
    answer = refund(client, payment_id, "100.00", **{FAULT: "lost"})

    assert result_of(refund(client, payment_id, "100.00")) == (400, "700.400.200")
    wait_until_final(client, answer)
    assert result_of(refund(client, payment_id, "0.01")) == (400, "700.400.200")


def test_a_payment_whose_reversal_is_silent_is_neither_captured_nor_reversed_again(client: Client) -> None:
    payment_id = authorise(client)
    reverse(client, payment_id, **{FAULT: "lost"})

    assert result_of(capture(client, payment_id, "1.00")) == (400, "700.400.100")
    assert result_of(reverse(client, payment_id)) == (400, "700.400.300")


def test_a_debit_whose_reversal_is_silent_is_not_refunded(client: Client) -> None:
    stay_within_a_day(client)
    payment_id = debit(client)
    reverse(client, payment_id, **{FAULT: "lost"})

    assert result_of(refund(client, payment_id, "1.00")) == (400, "700.400.200")


def test_a_silent_capture_that_turns_out_declined_takes_nothing_and_closes_nothing(client: Client) -> None:
    payment_id = authorise(client)
    answer = capture(client, payment_id, "10.00", sequence="FINAL", **{FAULT: "lost", FORCE: "800.100.151"})
    assert result_of(answer) == PENDING

    assert wait_until_final(client, answer).status == 400

    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_a_silent_reversal_that_turns_out_declined_leaves_the_debit_as_it_was(client: Client) -> None:
    stay_within_a_day(client)
    payment_id = debit(client)
    answer = reverse(client, payment_id, **{FAULT: "lost", FORCE: "800.100.151"})
    wait_until_final(client, answer)

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_a_silent_capture_can_be_refunded_once_it_is_finished(client: Client) -> None:
    answer = capture(client, authorise(client), "60.00", **{FAULT: "lost"})
    wait_until_final(client, answer)

    assert result_of(refund(client, answer.json["id"], "60.00")) == APPROVED


def test_a_chain_with_a_silent_rebill_keeps_its_sums(client: Client) -> None:
    payment_id = debit(client)
    answer = rebill(client, payment_id, "60.00", **{FAULT: "dropped"})
    wait_until_final(client, answer)

    assert result_of(refund(client, answer.json["id"], "60.00")) == APPROVED
    assert result_of(refund(client, payment_id, "100.00")) == APPROVED
    assert result_of(refund(client, payment_id, "0.01")) == (400, "700.400.200")


def test_what_follows_silence_reads_as_what_follows_an_answer(client: Client) -> None:
    """The worker's result is answered like any other, with everything that was sent with it."""
    payment_id = authorise(client, lifecycleId="life-silent")
    answer = capture(client, payment_id, "60.00", descriptor="Part 1", **{FAULT: "lost"})

    body = wait_until_final(client, answer).json

    assert (body["referencedId"], body["lifecycleId"], body["descriptor"]) == (payment_id, "life-silent", "Part 1")
    assert (body["amount"], body["currency"]) == ("60.00", "EUR")


def test_an_acquirer_slower_than_the_gateways_patience_is_silent(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, environment={"TOLLGATE_ACQUIRER_TIMEOUT_S": "0.3"}) as gateway:
        client = gateway.client()

        answers = {what: send(client, **{DELAY: "400"}) for what, send in FOLLOW_UPS.items()}

        assert {what: result_of(answer) for what, answer in answers.items()} == dict.fromkeys(FOLLOW_UPS, PENDING)
        finals = {what: result_of(wait_until_final(client, answer)) for what, answer in answers.items()}
        assert finals == dict.fromkeys(FOLLOW_UPS, APPROVED)


def test_an_acquirer_that_is_only_late_is_waited_for(client: Client) -> None:
    assert result_of(capture(client, authorise(client), "60.00", **{DELAY: "300"})) == APPROVED


# ---- never sent ----


@pytest.mark.parametrize("what", FOLLOW_UPS)
def test_a_follow_up_that_never_left_has_failed(client: Client, what: str) -> None:
    assert result_of(FOLLOW_UPS[what](client, **{FAULT: "unsent"})) == (400, "900.100.600")


def test_a_capture_that_never_left_gives_its_reservation_back(client: Client) -> None:
    payment_id = authorise(client, numberOfCaptures="1")
    capture(client, payment_id, "100.00", sequence="FINAL", **{FAULT: "unsent"})

    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_a_refund_that_never_left_gives_its_reservation_back(client: Client) -> None:
    payment_id = debit(client)
    refund(client, payment_id, "100.00", **{FAULT: "unsent"})

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


# ---- left open ----


def test_a_capture_that_the_acquirer_left_open_keeps_its_reservation(client: Client) -> None:
    payment_id = authorise(client)
    answer = capture(client, payment_id, "60.00", **{FORCE: "000.200.000"})
    assert result_of(answer) == PENDING

    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")
    assert result_of(capture(client, payment_id, "40.00")) == APPROVED
    assert result_of(read(client, answer)) == PENDING


def test_a_debit_with_an_open_refund_is_not_reversed(client: Client) -> None:
    payment_id = debit(client)
    refund(client, payment_id, "10.00", **{FORCE: "000.200.000"})

    assert result_of(reverse(client, payment_id)) == (400, "700.400.300")


# ---- first payments ----


@SILENCES
def test_a_silent_first_payment_has_failed_and_its_reversal_is_in_reports(client: Client, fault: str) -> None:
    kinds = ("PA", "DB", "PA.CP")
    references = {payment_type: f"silent-{payment_type}-{fault}-reported" for payment_type in kinds}

    firsts = [
        client.pay(None, paymentType=payment_type, merchantTransactionId=references[payment_type], **{FAULT: fault})
        for payment_type in kinds
    ]

    assert [result_of(first) for first in firsts] == [(400, "900.100.300")] * 3
    for payment_type, first in zip(kinds, firsts, strict=True):
        reversal = wait_for_reversal(client, references[payment_type])
        assert (reversal["paymentType"], reversal["referencedId"]) == ("RV", first.json["id"])
        assert (reversal["amount"], reversal["result"]["code"]) == ("92.00", "000.100.110")


def wait_for_reversal(client: Client, reference: str) -> dict[str, Any]:
    def is_reversed() -> bool:
        rows = list_payments(client, reference)
        return len(rows) == 2 and rows[1]["result"]["code"] != PENDING[1]

    wait_until(is_reversed)
    return list_payments(client, reference)[1]


def test_a_silent_first_payment_and_its_reversal_are_linked(client: Client) -> None:
    reference = "silent-and-linked"
    first = client.pay(None, merchantTransactionId=reference, **{FAULT: "lost"})
    wait_for_reversal(client, reference)

    linked = client.get(f"/v1/query/{first.json['id']}", {"includeLinkedTransactions": "true"}).json["payments"]

    assert [(row["paymentType"], row["amount"]) for row in linked] == [("DB", "92.00"), ("RV", "92.00")]
    assert linked[1]["referencedId"] == linked[0]["id"] == first.json["id"]


@pytest.mark.parametrize(
    ("payment_type", "follow_up", "code"), [("PA", capture, "700.400.510"), ("DB", refund, "700.400.520")]
)
def test_nothing_follows_a_silent_first_payment(
    client: Client, payment_type: str, follow_up: Callable[[Client, str, str], Answer], code: str
) -> None:
    first = client.pay(None, paymentType=payment_type, **{FAULT: "lost"})

    assert result_of(follow_up(client, first.json["id"], "1.00")) == (400, code)
