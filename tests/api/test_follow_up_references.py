"""A follow-up may refer only to a payment of the same channel and mode that exists and is complete."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.chains import (
    APPROVED,
    APPROVED_EXTERNAL,
    FAULTY,
    FORCE,
    UNKNOWN_ID,
    authorise,
    capture,
    debit,
    follow,
    name,
    refund,
    result_of,
    reverse,
)
from api.recording import RecordingAcquirer
from gateway import Client

FOLLOW_UPS = ["CP", "RV", "RF", "RB"]
OTHER_MODE = (400, "700.100.600")


# ---- whose it is ----


@pytest.mark.parametrize("payment_type", FOLLOW_UPS)
@pytest.mark.parametrize("unknown", [UNKNOWN_ID, "x", UNKNOWN_ID.upper(), "%00", "%F0%9F%98%80", "a" * 500])
def test_nothing_follows_a_payment_that_does_not_exist(client: Client, unknown: str, payment_type: str) -> None:
    assert result_of(follow(client, unknown, payment_type, "10.00")) == (400, "700.400.580")


@pytest.mark.parametrize(
    ("payment_type", "code"),
    [("CP", "700.400.510"), ("RV", "700.400.530"), ("RF", "600.200.500"), ("RB", "700.400.580")],
)
def test_a_lenient_channel_has_a_code_of_its_own_for_each_unknown_reference(
    lenient: Client, payment_type: str, code: str
) -> None:
    assert result_of(follow(lenient, UNKNOWN_ID, payment_type, "10.00")) == (400, code)


@pytest.mark.parametrize("payment_type", FOLLOW_UPS)
def test_a_payment_of_another_channel_of_the_merchant_is_refused(
    client: Client, lenient: Client, payment_type: str
) -> None:
    assert result_of(follow(lenient, authorise(client), payment_type, "10.00")) == (400, "700.400.700")
    assert result_of(follow(client, authorise(lenient), payment_type, "10.00")) == (400, "700.400.700")


@pytest.mark.parametrize("payment_type", FOLLOW_UPS)
def test_another_merchants_payment_is_as_unknown_as_none(client: Client, stranger: Client, payment_type: str) -> None:
    theirs, none = (
        follow(stranger, payment_id, payment_type, "10.00") for payment_id in (authorise(client), UNKNOWN_ID)
    )

    assert result_of(theirs) == result_of(none) == (400, "700.400.580")
    assert theirs.json["result"] == none.json["result"]


def test_another_merchants_entity_is_closed_to_follow_ups_too(client: Client, stranger: Client) -> None:
    impostor = replace(stranger, entity_id=client.entity_id)

    assert result_of(capture(impostor, authorise(client), "10.00")) == (403, "800.900.201")


# ---- how it ended ----


@pytest.mark.parametrize(
    ("payment_type", "follow_up", "code"),
    [
        ("PA", "CP", "700.400.510"),
        ("PA", "RV", "700.400.530"),
        ("DB", "RF", "700.400.520"),
        ("DB", "RB", "700.300.200"),
    ],
)
def test_nothing_follows_a_payment_that_was_declined(
    client: Client, payment_type: str, follow_up: str, code: str
) -> None:
    declined = client.pay(None, paymentType=payment_type, **{FORCE: "800.100.151"})

    assert result_of(follow(client, declined.json["id"], follow_up, "92.00")) == (400, code)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("payment_type", "follow_up"), [("PA", "CP"), ("PA", "RV"), ("DB", "RF"), ("DB", "RB"), ("DB", "RV")]
)
def test_nothing_follows_a_payment_whose_fate_is_open(client: Client, payment_type: str, follow_up: str) -> None:
    pending = client.pay(None, paymentType=payment_type, **{FORCE: "000.200.000"})

    assert result_of(follow(client, pending.json["id"], follow_up, "92.00")) == (400, "700.400.570")


@pytest.mark.both_databases
@pytest.mark.parametrize("follow_up", ["RF", "RV", "RB"])
def test_nothing_follows_a_capture_whose_fate_is_open(client: Client, follow_up: str) -> None:
    pending = capture(client, authorise(client), "10.00", **{FORCE: "000.200.000"})

    assert result_of(follow(client, pending.json["id"], follow_up, "10.00")) == (400, "700.400.570")


@pytest.mark.parametrize(
    ("follow_up", "code"), [("CP", "700.400.510"), ("RV", "700.400.530"), ("RF", "700.400.520"), ("RB", "700.100.700")]
)
def test_nothing_follows_a_reversal(client: Client, follow_up: str, code: str) -> None:
    reversal_id = name(reverse(client, authorise(client)))

    assert result_of(follow(client, reversal_id, follow_up, "100.00")) == (400, code)


def test_a_capture_that_was_refused_is_no_money_to_give_back(client: Client) -> None:
    refused = capture(client, authorise(client), "100.01")

    assert result_of(refund(client, refused.json["id"], "10.00")) == (400, "700.400.520")


# ---- its mode ----


def test_a_follow_up_may_repeat_the_mode_of_its_payment(client: Client) -> None:
    assert result_of(capture(client, authorise(client), "10.00", testMode="INTERNAL")) == APPROVED


def test_a_payment_of_the_simulator_is_not_followed_at_the_acquirers_test_system(external: Client) -> None:
    payment_id = authorise(external)

    assert result_of(capture(external, payment_id, "10.00", testMode="EXTERNAL")) == OTHER_MODE
    assert result_of(capture(external, payment_id, "100.00")) == APPROVED


def test_a_payment_of_the_acquirers_test_system_is_not_followed_at_the_simulator(external: Client) -> None:
    payment_id = authorise(external, testMode="EXTERNAL")

    assert result_of(capture(external, payment_id, "10.00", testMode="INTERNAL")) == OTHER_MODE
    assert result_of(capture(external, payment_id, "100.00", testMode="EXTERNAL")) == APPROVED_EXTERNAL


def test_a_follow_up_that_names_no_mode_goes_where_its_payment_went(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    payment_id = authorise(external, testMode="EXTERNAL")

    answer = capture(external, payment_id, "10.00")

    assert result_of(answer) == APPROVED_EXTERNAL
    path, headers, message = acquirer.received[-1]
    assert path == "/v1/follow-ups"
    assert headers["idempotency-key"] == answer.json["id"]
    assert message == {
        "key": answer.json["id"],
        "type": "capture",
        "original": payment_id,
        "amount": 1000,
        "currency": "EUR",
    }


def test_what_is_refused_never_reaches_the_acquirer(external: Client, acquirer: RecordingAcquirer) -> None:
    payment_id = authorise(external, testMode="EXTERNAL")
    before = len(acquirer.received)

    assert result_of(capture(external, payment_id, "100.01")) == (400, "700.400.100")

    assert len(acquirer.received) == before


# ---- what is asked for ----


@pytest.mark.parametrize("payment_type", ["DB", "CD", "PA.CP", "XX"])
def test_what_does_not_follow_anything_is_a_fault_of_its_type(client: Client, payment_type: str) -> None:
    answer = follow(client, debit(client), payment_type, "10.00")

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["paymentType"]


def test_a_follow_up_without_a_type_is_a_fault_that_names_it(client: Client) -> None:
    answer = client.post(f"/v1/payments/{debit(client)}", {"amount": "10.00", "currency": "EUR"})

    assert result_of(answer) == FAULTY
    assert "paymentType" in answer.faults


def test_every_fault_of_a_follow_up_is_named_at_once(client: Client) -> None:
    answer = capture(client, authorise(client), "ten", currency="euro", merchantTransactionId="short")

    assert result_of(answer) == FAULTY
    assert {"amount", "currency", "merchantTransactionId"} <= set(answer.faults)


def test_a_lenient_channel_takes_short_references_on_follow_ups_too(lenient: Client) -> None:
    answer = capture(lenient, authorise(lenient), "10.00", merchantTransactionId="7")

    assert result_of(answer) == APPROVED
    assert answer.json["merchantTransactionId"] == "7"


def test_a_follow_up_needs_a_token(client: Client) -> None:
    payment_id = authorise(client)

    answer = client.send("POST", f"/v1/payments/{payment_id}", f"entityId={client.entity_id}&paymentType=RV")

    assert answer.status == 401
    assert result_of(reverse(client, payment_id)) == APPROVED


@pytest.mark.parametrize("is_lenient", [False, True])
def test_a_reversal_by_reference_needs_no_amount_as_by_path(client: Client, lenient: Client, is_lenient: bool) -> None:
    caller = lenient if is_lenient else client
    payment_id = authorise(caller)

    answer = caller.post("/v1/payments", {"paymentType": "RV", "referenceUuid": payment_id})

    assert result_of(answer) == APPROVED
    assert (answer.json["referencedId"], answer.json["amount"]) == (payment_id, "100.00")


@pytest.mark.parametrize("payment_type", ["CP", "RF", "RB"])
def test_other_follow_ups_by_reference_need_an_amount_as_by_path(client: Client, payment_type: str) -> None:
    payment_id = authorise(client)
    by_reference = client.post("/v1/payments", {"paymentType": payment_type, "referenceUuid": payment_id})
    by_path = client.post(f"/v1/payments/{payment_id}", {"paymentType": payment_type})

    assert result_of(by_reference) == FAULTY
    assert by_reference.faults == by_path.faults == {"amount": "may not be empty", "currency": "may not be empty"}
