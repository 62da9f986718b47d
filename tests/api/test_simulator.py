"""The simulated acquirer: forced results, delays and broken lines, through the real connector."""

from __future__ import annotations

import time
from typing import Any

import pytest

from api.merchants import wait_until
from gateway import Answer, Client

FORCE = "customParameters[forceResultCode]"
FAULT = "customParameters[simulatorFault]"
DELAY = "customParameters[simulatorDelay]"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("800.100.151", 400),
        ("800.100.155", 400),
        ("600.200.100", 400),
        ("100.380.401", 400),
        ("300.100.100", 400),
        ("900.100.300", 400),
        ("000.400.000", 200),
        ("000.400.020", 200),
        ("000.200.000", 200),
        ("100.400.500", 200),
        ("000.000.000", 200),
    ],
)
def test_a_forced_code_is_the_answer_and_stays_it(client: Client, code: str, status: int) -> None:
    answer = client.pay(None, **{FORCE: code})

    assert (answer.status, answer.code) == (status, code)
    assert answer.json["customParameters"] == {"forceResultCode": code}
    again = client.get(f"/v1/payments/{answer.json['id']}")
    assert (again.status, again.code) == (status, code)


def test_a_forced_decline_has_the_words_clients_compare(client: Client) -> None:
    described = client.pay(None, **{FORCE: "800.100.151"}).json["result"]["description"]

    assert described == "transaction declined (invalid card)"


@pytest.mark.parametrize(
    ("override", "value"),
    [
        (FORCE, "999.123.456"),
        (FORCE, "800.100"),
        (FORCE, "paid"),
        (FAULT, "explode"),
        (DELAY, "-1"),
        (DELAY, "30001"),
        ("customParameters[3DS2_flow]", "sideways"),
    ],
)
def test_a_simulator_override_that_would_test_nothing_is_a_fault_that_names_it(
    client: Client, override: str, value: str
) -> None:
    answer = client.pay(None, **{override: value})

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert list(answer.faults) == [override]


def test_what_never_left_is_a_failure_without_a_reversal(client: Client) -> None:
    answer = client.pay(None, merchantTransactionId="unsent-0001", **{FAULT: "unsent"})

    assert (answer.status, answer.code) == (400, "900.100.600")
    time.sleep(1)
    assert [row["paymentType"] for row in list_payments(client, "unsent-0001")] == ["DB"]


@pytest.mark.both_databases
@pytest.mark.parametrize("payment_type", ["DB", "PA"])
@pytest.mark.parametrize("fault", ["dropped", "lost", "garbled"])
def test_silence_is_a_failure_and_what_was_taken_is_given_back(client: Client, fault: str, payment_type: str) -> None:
    reference = f"silent-{fault}-{payment_type}"

    answer = client.pay(None, merchantTransactionId=reference, paymentType=payment_type, **{FAULT: fault})

    assert (answer.status, answer.code) == (400, "900.100.300")
    wait_until(lambda: len(list_payments(client, reference)) == 2)
    taken, given_back = list_payments(client, reference)
    assert (taken["paymentType"], taken["result"]["code"]) == (payment_type, "900.100.300")
    assert (given_back["paymentType"], given_back["result"]["code"]) == ("RV", "000.100.110")
    assert (given_back["referencedId"], given_back["amount"]) == (taken["id"], taken["amount"])


@pytest.mark.both_databases
def test_a_credit_in_doubt_stays_pending_until_the_acquirer_is_asked(client: Client) -> None:
    answer = client.pay(None, paymentType="CD", **{FAULT: "lost"})

    assert (answer.status, answer.code) == (200, "000.200.000")
    wait_until(lambda: read(client, answer).code == "000.100.110")


@pytest.mark.both_databases
def test_a_credit_that_never_arrived_is_found_not_to_have_happened(client: Client) -> None:
    answer = client.pay(None, paymentType="CD", **{FAULT: "dropped"})

    assert (answer.status, answer.code) == (200, "000.200.000")
    wait_until(lambda: read(client, answer).code != "000.200.000")
    assert read(client, answer).status == 400


def test_a_late_answer_is_waited_for(client: Client) -> None:
    began = time.monotonic()

    answer = client.pay(None, **{DELAY: "700"})

    assert answer.code == "000.100.110"
    assert time.monotonic() - began >= 0.7


def test_simulator_overrides_on_a_real_test_system_are_ordinary_data(external: Client) -> None:
    answer = external.pay(None, testMode="EXTERNAL", **{FORCE: "800.100.151"})

    assert answer.code == "000.100.112"


def read(client: Client, answer: Answer) -> Answer:
    return client.get(f"/v1/payments/{answer.json['id']}")


def list_payments(client: Client, reference: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/query", {"merchantTransactionId": reference}).json["payments"]
    return found
