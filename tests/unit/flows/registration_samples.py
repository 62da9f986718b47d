"""Helpers for tests of registrations: make one, pay with it, look at it. No test here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outbox import list_events
from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Answer
from tollgate.contract.fields import read_fields
from tollgate.contract.orders import read_order
from tollgate.contract.registered import find_registration_id
from tollgate.flows.pay import pay
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import App, Call
from tollgate.payments.merchants import Channel, Creditor
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.registration import Registration, RegistrationEvent
from tollgate.store.events import Event
from tollgate.store.registrations import find_registration, find_sealed_registration
from tollgate.values import to_datetime
from unit.app_fixture import CHANNEL, MERCHANT
from unit.flows.shopping import BILLING_FIELDS, tick

SENT = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "merchantTransactionId": "order-0001",
    **BILLING_FIELDS,
}
CARD = {
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.holder": "Jane Jones",
    "card.cvv": "731",
}
KEEP = {"createRegistration": "true"}
BANK = {
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": "DE89370400440532013000",
    "bankAccount.bic": "COBADEFFXXX",
}
CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")

MODE, SOURCE, TYPE = (f"standingInstruction.{word}" for word in ("mode", "source", "type"))
REFERENCE = "standingInstruction.initialTransactionId"
INITIAL = {MODE: "INITIAL", SOURCE: "CIT", TYPE: "RECURRING"}
ALONE = {MODE: "REPEATED", SOURCE: "MIT", TYPE: "RECURRING"}
PRESENT = {MODE: "REPEATED", SOURCE: "CIT", TYPE: "UNSCHEDULED"}


def approve(reference: str) -> bytes:
    """Returns an acquirer's approval with the scheme's reference."""
    words = {"status": "approved", "response_code": "00", "message": "Fine", "scheme_transaction_id": reference}
    return json.dumps(words).encode()


@dataclass(frozen=True)
class Answered:
    """An answer, as a merchant reads it."""

    answer: Answer

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.answer.body)
        return body

    @property
    def code(self) -> str:
        code: str = self.body["result"]["code"]
        return code

    @property
    def registration_id(self) -> str:
        registration_id: str = self.body["registrationId"]
        return registration_id


async def send(
    app: App,
    *parts: Mapping[str, str],
    stored: str | None = None,
    channel: Channel = CHANNEL,
    idempotency_key: IdempotencyKey | None = None,
) -> Answered:
    """Makes a payment of these fields, from a registration where one is named, a moment after the last one."""
    tick(app)
    fields = read_fields(list(merge(*parts).items()), Situation(_choose(stored), None, channel.is_lenient, False))
    named = stored or find_registration_id(fields)
    order = read_order(
        fields,
        channel,
        today=to_datetime(app.clock.now()).date(),
        short_id="1234.5678.9012",
        is_live=app.is_live,
        on_file=await open_registration(app, MERCHANT.id, named) if named else None,
    )
    return Answered(await pay(app, order, Call(channel, "ndc", idempotency_key)))


def merge(*parts: Mapping[str, str]) -> dict[str, str]:
    merged = dict(SENT)
    for part in parts:
        merged |= part
    return merged


def _choose(stored: str | None) -> str:
    return "pay_registration" if stored else "create_payment"


async def register_card(app: App, *parts: Mapping[str, str]) -> str:
    """Returns the id of a card's registration, made with a payment."""
    return (await send(app, CARD, KEEP, *parts)).registration_id


async def look_at(app: App, registration_id: str | None) -> Registration:
    assert registration_id is not None
    registration = await find_registration(app.database, MERCHANT.id, registration_id)
    assert registration is not None
    return registration


async def get_reference(app: App, registration_id: str) -> str | None:
    """Returns the reference that later payments of the series send."""
    initial = (await look_at(app, registration_id)).initial
    return None if initial is None else initial.reference


async def is_sealed(app: App, registration_id: str | None) -> bool:
    assert registration_id is not None
    found = await find_sealed_registration(app.database, MERCHANT.id, registration_id)
    assert found is not None
    return found[1] is not None


async def list_announced(app: App) -> list[Event]:
    """Lists the events about registrations."""
    events = await list_events(app.database, MERCHANT.id)
    return [event for event in events if event.topic in set(RegistrationEvent)]
