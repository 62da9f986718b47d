"""Payments to store, made in one line. Every test names only what matters to it."""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec

from tollgate.payments.accounts import CardSummary
from tollgate.payments.completion import Completion
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.payment import IdempotencyKey, Outcome, Payment, RecoveryTask, State
from tollgate.payments.reporting import Search
from tollgate.store.database import Database
from tollgate.store.reports import search_payments
from tollgate.values import HOUR, ChannelId, Instant, MerchantId, Money, PaymentId, make_id

MERCHANT = MerchantId("8a" + "1" * 30)
CHANNEL = ChannelId("8a" + "2" * 30)
NOON: Instant = 1_790_000_000_000_000
SHOP = Channel(id=CHANNEL, merchant_id=MERCHANT, name="Shop", created_at=NOON)

_ticks = count()


class StoredAnswer(msgspec.Struct, frozen=True):
    status: int
    body: bytes


def make_payment(**changes: Any) -> Payment:
    created_at = NOON + next(_ticks)
    payment = Payment(
        id=PaymentId(make_id()),
        merchant_id=MERCHANT,
        channel_id=CHANNEL,
        payment_type="DB",
        state=State.STARTED,
        money=Money(9200, "EUR"),
        brand="VISA",
        method="card",
        descriptor="1234.5678.9012 shop",
        short_id="1234.5678.9012",
        ndc="8a" + "3" * 30,
        created_at=created_at,
        deadline_at=created_at + HOUR,
        test_mode=TestMode.INTERNAL,
        merchant_transaction_id="order-1234",
        card=CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034", holder="Jane Jönés"),
        echo={"customer.givenName": "Jané", "customParameters[SHOPPER_x]": '"quoted"\n'},
    )
    return msgspec.structs.replace(payment, **changes)


def make_completion(payment: Payment, recovery_task: RecoveryTask | None = None, **changes: Any) -> Completion:
    members = {
        "state": State.APPROVED,
        "outcome": Outcome.APPROVED,
        "result_code": "000.100.110",
        "details": {"ConnectorTxID1": "abc"},
        "completed_at": payment.created_at + 5,
        "events": payment.events + 1,
    }
    return Completion(payment=msgspec.structs.replace(payment, **members | changes), recovery_task=recovery_task)


def make_idempotency_key(key: str, **changes: Any) -> IdempotencyKey:
    idempotency_key = IdempotencyKey(
        merchant_id=MERCHANT, channel_id=CHANNEL, key=key, fingerprint=b"\x00\x01print", created_at=NOON
    )
    return msgspec.structs.replace(idempotency_key, **changes)


async def list_written(db: Database, limit: int = 100) -> list[Payment]:
    """Lists the payments with the reference that they have here, oldest first."""
    listed = await search_payments(db, SHOP, Search(reference="order-1234"), None, limit=limit, skipped=0)
    return [each.row for each in listed if each.row is not None]
