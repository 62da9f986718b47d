"""A payment link as a merchant makes it, for those who open it in a browser."""

from __future__ import annotations

from gateway import Client

ORDER = {
    "amount": "38.50",
    "currency": "EUR",
    "paymentType": "DB",
    "merchant.name": "Gatehouse Goods",
    "merchantTransactionId": "INV-2026-0042",
    "cart.items[0].name": "Enamel mug",
    "cart.items[0].quantity": "2",
    "cart.items[0].price": "12.00",
    "cart.items[1].name": "Notebook",
    "cart.items[1].price": "14.50",
    "termsAndConditionsUrl": "https://shop.example/terms",
    "privacyPolicyUrl": "https://shop.example/privacy",
}


def read_own_context(client: Client, **more: str) -> str:
    answer = client.post("/paybylink/v1", {**ORDER, **more})
    assert answer.status == 200, answer.body
    link: str = answer.json["link"]
    return link
