"""Direct debits and credits in the words of a merchant. No test lives here."""

from __future__ import annotations

from gateway import Answer, Client

IBAN = "DE89370400440532013000"
DEBIT: dict[str, str | None] = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": IBAN,
    "bankAccount.bic": "COBADEFFXXX",
    "bankAccount.mandate.id": "M-ONE",
    "bankAccount.mandate.dateOfSignature": "2026-01-15",
}


def debit(client: Client, **changes: str | None) -> Answer:
    """`bankAccount__iban` stands for `bankAccount.iban`."""
    renamed = {name.replace("__", "."): value for name, value in changes.items()}
    return client.post("/v1/payments", {**DEBIT, **renamed})


def begin_debit(client: Client, payment_type: str = "DB", amount: str = "92.00", **changes: str | None) -> str:
    answer = debit(client, paymentType=payment_type, amount=amount, **changes)
    assert answer.code == "000.100.110", answer.body
    payment_id: str = answer.json["id"]
    return payment_id
