"""Payments under review in the words of a merchant: opened by a forced code, decided, followed up. No test here."""

from __future__ import annotations

from typing import Any

from gateway import Answer, Client

REVIEW, REJECTED, SUCCESS = "000.400.000", "000.400.100", "000.100.110"
FORCE = "customParameters[forceResultCode]"


def pay_reviewed(client: Client, payment_type: str = "DB", **changes: str | None) -> str:
    answer = client.pay(paymentType=payment_type, **{FORCE: REVIEW, **changes})
    assert answer.code == REVIEW, answer.body
    return str(answer.json["id"])


def decide(client: Client, payment_id: str, decision: str | None) -> Answer:
    return client.post(f"/v1/payments/{payment_id}/review", {"decision": decision})


def follow(client: Client, payment_id: str, payment_type: str, amount: str | None = None) -> Answer:
    money = {"amount": amount, "currency": "EUR" if amount else None}
    return client.post(f"/v1/payments/{payment_id}", {"paymentType": payment_type, **money})


def list_later(client: Client, payment_id: str) -> list[Any]:
    """Lists what follows a payment, as a query answers it."""
    found = client.get(f"/v3/query/{payment_id}", {"includeLinkedTransactions": "true"}).json["records"]
    return [each for each in found if each["id"] != payment_id]


def list_chain(client: Client, payment_id: str) -> list[tuple[str, str]]:
    """Lists the types and codes of what follows a payment."""
    return [(each["paymentType"], each["result"]["code"]) for each in list_later(client, payment_id)]
