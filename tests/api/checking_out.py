"""Checkouts in the words of a merchant and of a shopper's form; each function sends one request. No test lives here."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from gateway import CARD, Answer, Client

PREPARED = {"amount": "92.00", "currency": "EUR", "paymentType": "DB"}
STORING = {"createRegistration": "true"}


def prepare(client: Client, fields: Mapping[str, str | None] = PREPARED) -> str:
    """Prepares a checkout and returns its id."""
    answer = client.post("/v1/checkouts", fields)
    assert answer.status == 200, answer.body
    checkout_id: str = answer.json["id"]
    return checkout_id


def submit(
    client: Client, checkout_id: str, result_url: str, fields: Mapping[str, str] = CARD, *, kind: str = "payment"
) -> Answer:
    """Submits as the script in a shop's page does: the id of the checkout is the only permission."""
    body = urlencode({**fields, "shopperResultUrl": result_url})
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    return client.send("POST", f"/v1/checkouts/{checkout_id}/{kind}", body, form)


def ask(client: Client, checkout_id: str, *, kind: str = "payment") -> Answer:
    return client.get(f"/v1/checkouts/{checkout_id}/{kind}")
