"""Registrations as merchants request them, and a look at what is stored of them. No test lives here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import urlencode

import sqlalchemy as sa

from api.merchants import find_merchant_id
from gateway import CARD, Answer, Client, GatewayProcess
from outbox import list_events
from tollgate.payments.registration import Registration, RegistrationState, wipe
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.registrations import change_registration_writes, find_sealed_registration
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId

PATH = "/v1/registrations"
FORCE = "customParameters[forceResultCode]"
IBAN = "DE89370400440532013000"
BANK = {
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": IBAN,
    "bankAccount.bic": "COBADEFFXXX",
}
VIRTUAL = {"paymentBrand": "PAYPAL", "virtualAccount.accountId": "jane@example.org"}
TOKEN = {
    "paymentBrand": "VISA",
    "tokenAccount.number": "4895370012003478",
    "tokenAccount.type": "NETWORK",
    "tokenAccount.expiryMonth": "07",
    "tokenAccount.expiryYear": "2033",
}
CHARGE = {"amount": "12.00", "currency": "EUR", "paymentType": "DB"}

_T = TypeVar("_T")


def store(
    client: Client, fields: Mapping[str, str | None] = CARD, headers: Mapping[str, str] | None = None, /, **more: str
) -> Answer:
    return client.post(PATH, {**fields, **more}, headers)


def register(client: Client, fields: Mapping[str, str | None] = CARD, /, **more: str) -> str:
    """Registers an account and returns its id."""
    answer = store(client, fields, **more)
    assert answer.status == 200, answer.body
    registration_id: str = answer.json["id"]
    return registration_id


def read(client: Client, registration_id: str) -> Answer:
    return client.get(f"{PATH}/{registration_id}")


def change(
    client: Client, registration_id: str, fields: Mapping[str, str | None], headers: Mapping[str, str] | None = None
) -> Answer:
    return client.post(f"{PATH}/{registration_id}", fields, headers)


def remove(
    client: Client,
    registration_id: str,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Answer:
    sent = urlencode({"entityId": client.entity_id, **(query or {})})
    return client.send("DELETE", f"{PATH}/{registration_id}?{sent}", body, client.authorized(headers))


def extend(client: Client, registration_id: str) -> Answer:
    return client.post(f"{PATH}/{registration_id}/extendlife", {})


def pay_with(client: Client, registration_id: str, fields: Mapping[str, str | None] | None = None) -> Answer:
    return client.post(f"{PATH}/{registration_id}/payments", {**CHARGE, **(fields or {})})


# ---- beside the running server ----


def ask_store(gateway: GatewayProcess, work: Callable[[Database], Awaitable[_T]]) -> _T:
    async def run() -> _T:
        database = await open_database(gateway.database or f"sqlite:///{gateway.data}/tollgate.db")
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())


@contextmanager
def tampered_amount(gateway: GatewayProcess, payment_id: str) -> Iterator[None]:
    """Doubles the amount of a stored payment, and takes it back, because others verify the same store."""
    double, halve = (
        Write(
            Statement(sa.text(f"UPDATE payments SET {change} WHERE id = :id"), is_write=True),
            {"id": payment_id},
            rows=1,
        )
        for change in ("amount = amount * 2", "amount = amount / 2")
    )
    assert ask_store(gateway, lambda database: database.write([double], label="test"))
    try:
        yield
    finally:
        assert ask_store(gateway, lambda database: database.write([halve], label="test"))


def get_registration(
    gateway: GatewayProcess, client: Client, registration_id: str
) -> tuple[Registration, bytes | None, bytes | None]:
    """Returns the registration with its sealed account and token."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    found = ask_store(gateway, lambda database: find_sealed_registration(database, merchant_id, registration_id))
    assert found is not None
    return found


def list_topics(gateway: GatewayProcess, client: Client, registration_id: str) -> list[str]:
    """Lists the topics of the events about a registration, oldest first."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    events = ask_store(gateway, lambda database: list_events(database, merchant_id))
    return [event.topic for event in events if event.subject_id == registration_id]


def erase(gateway: GatewayProcess, client: Client, registration_id: str) -> None:
    """Erases a registration as the worker does; another test waits the years for it."""
    kept, _, _ = get_registration(gateway, client, registration_id)
    gone = wipe(kept, RegistrationState.ERASED)
    steps = change_registration_writes(gone, None, None, event=None, at=kept.created_at)
    assert ask_store(gateway, lambda database: database.write(steps, label="test"))
