"""Registrations on both databases: made in one line and read straight from the store. No test here."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

from databases.banking import ACCOUNT, CHANNEL, Bank
from databases.banking import ORDER as DEBIT
from tollgate.flows.pay import pay
from tollgate.operations.app import Call
from tollgate.payments.accounts import BankAccount, CardAccount, make_card_summary
from tollgate.payments.order import Order
from tollgate.payments.registration import Registration
from tollgate.store.database import Database
from tollgate.store.payments import find_payment
from tollgate.store.registrations import find_registration
from tollgate.store.schema import registrations
from tollgate.store.statements import Statement
from tollgate.values import PaymentId, Secret
from unit.app_fixture import CARD, ORDER

CARD_NUMBERS = ("4200000000000000", "5454545454545454", "4111111111111111")
CREATE_REGISTRATION = {"createRegistration": "true", "customer.givenName": "Jane"}

_raw = Statement(sa.select(registrations).where(registrations.c.id == sa.bindparam("id")))
_columns = [column.name for column in registrations.columns]


def order_card(number: str = CARD_NUMBERS[0], **changes: Any) -> Order:
    account: CardAccount = msgspec.structs.replace(CARD, number=Secret(number), holder="Jane Jones")
    card_summary = make_card_summary(number, account)
    return msgspec.structs.replace(
        ORDER, account=account, card_summary=card_summary, registers=True, echo=CREATE_REGISTRATION, **changes
    )


def order_debit(**changes: Any) -> Order:
    account: BankAccount = ACCOUNT
    echo = {**CREATE_REGISTRATION, "bankAccount.holder": "Jane Jones"}
    return msgspec.structs.replace(DEBIT, account=account, registers=True, echo=echo, **changes)


async def store(bank: Bank, order: Order) -> str:
    """Pays, and returns the id of the registration that was made with it, which a declined payment does not answer."""
    answer: dict[str, Any] = orjson.loads((await pay(bank.app, order, Call(CHANNEL, "ndc"))).body)
    payment = await find_payment(bank.app.database, CHANNEL.merchant_id, PaymentId(answer["id"]))
    assert payment is not None
    assert payment.registration_id is not None
    return payment.registration_id


async def look(db: Database, registration_id: str) -> Registration:
    found = await find_registration(db, CHANNEL.merchant_id, registration_id)
    assert found is not None
    return found


async def read_row(db: Database, registration_id: str) -> dict[str, Any]:
    """Reads every column of the row."""
    row = await db.fetch_one(_raw, {"id": registration_id})
    assert row is not None
    return dict(zip(_columns, row, strict=True))
