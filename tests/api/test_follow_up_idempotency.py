"""Idempotency-Key on follow-ups: the same request twice moves money once."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.chains import (
    APPROVED,
    FAULT,
    FAULTY,
    FORCE,
    INCREMENT,
    PENDING,
    UNKNOWN_ID,
    authorise,
    capture,
    debit,
    read,
    refund,
    result_of,
    stay_within_a_day,
    wait_until_final,
)
from gateway import Answer, Client

pytestmark = pytest.mark.both_databases

REPLAYED = "idempotency-replayed"


def send(
    client: Client, key: str, payment_id: str, payment_type: str, amount: str | None, **changes: str | None
) -> Answer:
    fields = {"paymentType": payment_type, "amount": amount, "currency": None if amount is None else "EUR", **changes}
    return client.post(f"/v1/payments/{payment_id}", fields, {"Idempotency-Key": key})


def test_the_same_capture_gets_the_first_answer_again_and_is_made_once(client: Client) -> None:
    payment_id = authorise(client)

    first, second = (send(client, "same-capture", payment_id, "CP", "60.00") for _ in range(2))

    assert result_of(first) == APPROVED
    assert (second.status, second.body) == (first.status, first.body)
    assert REPLAYED not in first.headers
    assert second.headers[REPLAYED] == "true"
    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")
    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


def test_without_a_key_the_same_capture_is_a_second_one(client: Client) -> None:
    payment_id = authorise(client)

    first, second = (capture(client, payment_id, "10.00") for _ in range(2))

    assert first.json["id"] != second.json["id"]


@pytest.mark.parametrize(
    ("payment_type", "amount"), [("RF", "60.00"), ("RV", None), ("RB", "60.00")], ids=["refund", "reversal", "rebill"]
)
def test_every_follow_up_of_a_debit_keeps_its_answer(client: Client, payment_type: str, amount: str | None) -> None:
    stay_within_a_day(client)
    payment_id = debit(client)

    first, second = (send(client, f"kept-{payment_type}", payment_id, payment_type, amount) for _ in range(2))

    assert result_of(first) == APPROVED
    assert second.body == first.body


def test_an_increment_by_parameter_raises_once(client: Client) -> None:
    payment_id = authorise(client)
    fields = {"paymentType": "PA", "amount": "10.00", "currency": "EUR", "referenceUuid": payment_id, **INCREMENT}

    first, second = (client.post("/v1/payments", fields, {"Idempotency-Key": "raised-once"}) for _ in range(2))

    assert (result_of(first), second.body) == (APPROVED, first.body)
    assert result_of(capture(client, payment_id, "110.01")) == (400, "700.400.100")


@pytest.mark.parametrize(
    ("name", "amount", "changes"),
    [
        ("declined", "10.00", {FORCE: "800.100.151"}),
        ("refused", "100.01", {}),
    ],
)
def test_a_failure_that_was_an_attempt_is_kept_too(
    client: Client, name: str, amount: str, changes: dict[str, str]
) -> None:
    payment_id = authorise(client)

    first, second = (send(client, f"failed-{name}", payment_id, "CP", amount, **changes) for _ in range(2))

    assert first.status == 400
    assert (second.status, second.body) == (first.status, first.body)


def test_a_silent_refund_is_answered_as_at_first_and_made_once(client: Client) -> None:
    payment_id = debit(client)

    first = send(client, "silent-refund", payment_id, "RF", "60.00", **{FAULT: "lost"})
    assert result_of(first) == PENDING
    wait_until_final(client, first)

    assert send(client, "silent-refund", payment_id, "RF", "60.00", **{FAULT: "lost"}).body == first.body
    assert result_of(read(client, first)) == APPROVED
    assert result_of(refund(client, payment_id, "40.01")) == (400, "700.400.200")
    assert result_of(refund(client, payment_id, "40.00")) == APPROVED


@pytest.mark.parametrize(
    "changes", [{"amount": "60.01"}, {"sequence": "FINAL"}, {"merchantTransactionId": "one-more-field"}]
)
def test_a_key_used_for_another_capture_is_a_conflict(client: Client, changes: dict[str, str]) -> None:
    payment_id = authorise(client)
    send(client, f"other-{payment_id}", payment_id, "CP", "60.00")
    other = {"amount": "60.00", **changes}

    answer = send(client, f"other-{payment_id}", payment_id, "CP", **other)

    assert result_of(answer) == (409, "800.110.100")
    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


def test_a_key_used_for_another_payment_is_a_conflict(client: Client) -> None:
    send(client, "other-payment", authorise(client), "CP", "60.00")

    assert result_of(send(client, "other-payment", authorise(client), "CP", "60.00")) == (409, "800.110.100")


def test_a_key_that_made_a_payment_does_not_follow_one_up(client: Client) -> None:
    first = client.pay({"Idempotency-Key": "made-a-payment"}, paymentType="PA")

    assert result_of(send(client, "made-a-payment", first.json["id"], "CP", "10.00")) == (409, "800.110.100")


def test_faults_and_unknown_references_are_not_kept(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(send(client, "mended-capture", payment_id, "CP", "ten")) == FAULTY
    assert result_of(send(client, "mended-capture", UNKNOWN_ID, "CP", "10.00")) == (400, "700.400.580")

    assert result_of(send(client, "mended-capture", payment_id, "CP", "10.00")) == APPROVED


def test_a_key_belongs_to_its_entity(client: Client, lenient: Client) -> None:
    answers = [send(caller, "key-of-two", authorise(caller), "CP", "10.00") for caller in (client, lenient)]

    assert [result_of(answer) for answer in answers] == [APPROVED] * 2


def test_twenty_parallel_captures_with_one_key_are_one_capture(client: Client) -> None:
    payment_id, together = authorise(client), threading.Barrier(20)

    def send_together(_number: int) -> Answer:
        together.wait()
        return send(client, "race-20", payment_id, "CP", "10.00", **{"customParameters[simulatorDelay]": "200"})

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send_together, range(20)))

    codes = Counter(result_of(answer) for answer in answers)
    assert set(codes) <= {APPROVED, (409, "800.600.100")}
    assert len({answer.json["id"] for answer in answers if answer.status == 200}) == 1
    assert result_of(capture(client, payment_id, "90.01")) == (400, "700.400.100")
    assert result_of(capture(client, payment_id, "90.00")) == APPROVED
