"""Payments and what follows them, in the words of a merchant; every function sends one request. No test lives here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from api.merchants import wait_until
from gateway import Answer, Client

APPROVED = (200, "000.100.110")
APPROVED_EXTERNAL = (200, "000.100.112")
PENDING = (200, "000.200.000")
FAULTY = (400, "200.300.404")

FORCE = "customParameters[forceResultCode]"
FAULT = "customParameters[simulatorFault]"
PRACTICE = "standingInstruction.industryPractice"
INCREMENT = {PRACTICE: "INCREMENTAL_AUTH"}
RENEWAL = {PRACTICE: "REAUTHORIZATION"}

UNKNOWN_ID = "8a" + "0" * 30
DAY_S = 24 * 3600


def result_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


def begin(client: Client, payment_type: str, amount: str = "100.00", **changes: str | None) -> str:
    """Makes a payment that succeeds and returns its id."""
    answer = client.pay(None, paymentType=payment_type, amount=amount, **changes)
    assert result_of(answer) in (APPROVED, APPROVED_EXTERNAL), answer.body
    payment_id: str = answer.json["id"]
    return payment_id


def authorise(client: Client, amount: str = "100.00", **changes: str | None) -> str:
    return begin(client, "PA", amount, **changes)


def debit(client: Client, amount: str = "100.00", **changes: str | None) -> str:
    return begin(client, "DB", amount, **changes)


def follow(
    client: Client, payment_id: str, payment_type: str, amount: str | None = None, **changes: str | None
) -> Answer:
    currency = None if amount is None else "EUR"
    fields = {"paymentType": payment_type, "amount": amount, "currency": currency, **changes}
    return client.post(f"/v1/payments/{payment_id}", fields)


def capture(client: Client, payment_id: str, amount: str, **changes: str | None) -> Answer:
    return follow(client, payment_id, "CP", amount, **changes)


def refund(client: Client, payment_id: str, amount: str, **changes: str | None) -> Answer:
    return follow(client, payment_id, "RF", amount, **changes)


def rebill(client: Client, payment_id: str, amount: str, **changes: str | None) -> Answer:
    return follow(client, payment_id, "RB", amount, **changes)


def reverse(client: Client, payment_id: str, amount: str | None = None, **changes: str | None) -> Answer:
    return follow(client, payment_id, "RV", amount, **changes)


def raise_by(client: Client, payment_id: str, amount: str, **changes: str | None) -> Answer:
    return follow(client, payment_id, "PA", amount, **INCREMENT, **changes)


def renew(client: Client, payment_id: str, amount: str, **changes: str | None) -> Answer:
    return follow(client, payment_id, "PA", amount, **RENEWAL, **changes)


def happen(
    client: Client, payment_id: str, payment_type: str, amount: str | None = None, **changes: str | None
) -> Answer:
    """Records what a bank reports: a receipt, a chargeback or its reversal."""
    return client.post(f"/sandbox/payments/{payment_id}", {"paymentType": payment_type, "amount": amount, **changes})


def name(answer: Answer) -> str:
    """Returns the id of a follow-up that went well."""
    assert result_of(answer) in (APPROVED, APPROVED_EXTERNAL), answer.body
    payment_id: str = answer.json["id"]
    return payment_id


def read(client: Client, answer: Answer) -> Answer:
    return client.get(f"/v1/payments/{answer.json['id']}")


def wait_until_final(client: Client, answer: Answer) -> Answer:
    wait_until(lambda: read(client, answer).code != PENDING[1])
    return read(client, answer)


def list_payments(client: Client, reference: str) -> list[dict[str, Any]]:
    """Returns the payments with this reference; a search that finds none is answered without a list."""
    found: list[dict[str, Any]] = client.get("/v1/query", {"merchantTransactionId": reference}).json.get("payments", [])
    return found


def advance(client: Client, seconds: int) -> None:
    assert client.post("/sandbox/clock", {"advance": str(seconds)}).status == 200


def count_seconds_to_midnight(client: Client) -> int:
    now = datetime.fromisoformat(client.get("/sandbox/clock").json["now"])
    return DAY_S - (now.hour * 3600 + now.minute * 60 + now.second)


def stay_within_a_day(client: Client) -> None:
    """Moves the clock past midnight if midnight is near, so that a test of one day stays within it."""
    left_s = count_seconds_to_midnight(client)
    if left_s < 120:
        advance(client, left_s + 1)
