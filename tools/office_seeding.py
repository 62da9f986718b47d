"""A shop with two weeks of sales, for pictures of the back office. What is shown of it is decided elsewhere."""

from __future__ import annotations

from api.endpoints import add_endpoint, advance, wait_until_known
from gateway import PAYMENT, Client, GatewayProcess

DAYS = 14
_DAY_S = 24 * 3600
_GOODS = ("Desk lamp", "Oak shelf", "Wool blanket", "Tea set", "Garden chair", "Wall clock")
_PEOPLE = ("Amina Diallo", "Jonas Berg", "Mei Tanaka", "Sofia Rossi", "Liam Murphy", "Anna Nowak")
_NUMBERS = {"VISA": "4200000000000000", "MASTER": "5454545454545454", "AMEX": "377777777777770"}
_DECLINES = ("800.100.153", "800.100.155", "800.100.151")
"""The codes of cards that are refused for their security code, their limit or their number."""


def sell(gateway: GatewayProcess) -> str:
    """Sells something on each day, with some declines, and returns a payment that was captured and partly refunded."""
    client = gateway.client()
    endpoint = add_endpoint(gateway, client, f"{gateway.base_url}/sandbox/inbox/shop")
    wait_until_known(client, endpoint)
    for day in range(DAYS):
        for number in range(4 + day % 3):
            _pay(client, day * 7 + number)
        if day < DAYS - 1:
            advance(client, _DAY_S)
    held: str = client.pay(paymentType="PA", amount="120.00", merchantTransactionId="order-20417").json["id"]
    captured = _follow(client, held, "CP", "80.00")
    _follow(client, held, "CP", "40.00")
    _follow(client, captured, "RF", "15.00")
    return held


def _pay(client: Client, seed: int) -> None:
    """Every seed gives another order, and the same one in each run."""
    brand = (*_NUMBERS, "VISA", "VISA")[seed % 5]
    given, _, surname = _PEOPLE[seed % len(_PEOPLE)].partition(" ")
    fields = {
        "amount": f"{9 + seed * 37 % 240}.{seed * 13 % 100:02}",
        "merchantTransactionId": f"order-{20100 + seed}",
        "card.number": _NUMBERS[brand],
        "paymentBrand": brand,
        "card.cvv": "1234" if brand == "AMEX" else "123",
        "card.holder": f"{given} {surname}",
        "customer.givenName": given,
        "customer.surname": surname,
        "customer.email": f"{given}.{surname}@example.com".lower(),
        "cart.items[0].name": _GOODS[seed % len(_GOODS)],
    }
    if seed % 6 == 5:
        fields["customParameters[forceResultCode]"] = _DECLINES[seed % 3]
    answer = client.post("/v1/payments", {**PAYMENT, **fields})
    assert "id" in answer.json, answer.body


def _follow(client: Client, named_id: str, payment_type: str, amount: str) -> str:
    fields = {"amount": amount, "currency": "EUR", "paymentType": payment_type}
    answer = client.post(f"/v1/payments/{named_id}", fields)
    assert answer.status == 200, answer.body
    return str(answer.json["id"])
