"""Payments of a marketplace and the shares of its sellers, in the words of a merchant. No test lives here."""

from __future__ import annotations

from collections.abc import Mapping

from api.chains import APPROVED, result_of
from gateway import Answer, Client

THIRDS = {"ann": "33.34", "bob": "33.33", "cid": "33.33"}


def spell(shares: Mapping[str, str]) -> dict[str, str | None]:
    """Spells the sellers as parameters."""
    fields: dict[str, str | None] = {}
    for index, (seller_id, amount) in enumerate(shares.items()):
        fields[f"marketPlace.sellers[{index}].id"] = seller_id
        fields[f"marketPlace.sellers[{index}].amount"] = amount
    return fields


def sell(client: Client, payment_type: str, shares: Mapping[str, str], amount: str = "100.00") -> str:
    """Makes a payment that is split and returns its id."""
    answer = client.pay(None, paymentType=payment_type, amount=amount, **spell(shares))
    assert result_of(answer) == APPROVED, answer.body
    assert shares_of(answer) == dict(shares)
    payment_id: str = answer.json["id"]
    return payment_id


def shares_of(answer: Answer) -> dict[str, str]:
    assert result_of(answer) == APPROVED, answer.body
    return {seller["id"]: seller["amount"] for seller in answer.json.get("marketPlace", {}).get("sellers", [])}


def name_faults(answer: Answer) -> list[str]:
    assert (answer.status, answer.code) == (400, "200.300.404"), answer.body
    return [fault["name"] for fault in answer.json["result"]["parameterErrors"]]
