"""Endpoints, events and deliveries to store. Every test names only what matters to it."""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec

from databases.samples import CHANNEL, MERCHANT, NOON
from tollgate.payments.webhooks import Delivery, DeliveryAttempt, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.database import Database
from tollgate.store.events import Event, append_event_writes
from tollgate.store.webhooks import find_webhook, insert_webhook
from tollgate.values import MINUTE, SECOND, make_id, make_timed_id

ENDPOINT = Webhook(
    id="8a" + "7" * 30,
    merchant_id=MERCHANT,
    url="https://shop.example/hook",
    state=WebhookState.ACTIVE,
    created_at=NOON,
    sealed_secrets=b"sealed",
)
ALIVE = MINUTE

_ticks = count(1)


def make_event(subject_id: str | None = None, **changes: Any) -> Event:
    at = changes.get("created_at", NOON + next(_ticks) * SECOND)
    subject_id = subject_id or make_id()
    event = Event(
        id=make_timed_id(at, subject_id),
        merchant_id=MERCHANT,
        subject_id=subject_id,
        topic="registration.created",
        created_at=at,
    )
    return msgspec.structs.replace(event, **changes)


async def announce(db: Database, *events: Event) -> list[str]:
    """Writes events that were not passed on yet; returns their ids."""
    for event in events:
        assert await db.write(append_event_writes(event, CHANNEL), label="test")
    return [event.id for event in events]


async def add_endpoint(db: Database, **changes: Any) -> Webhook:
    webhook = msgspec.structs.replace(ENDPOINT, **changes)
    await insert_webhook(db, webhook)
    return webhook


async def queue(db: Database, webhook: Webhook, event_ids: list[str], due_at: int = NOON) -> None:
    """Queues events for an endpoint, which is added if it is not there."""
    if await find_webhook(db, webhook.merchant_id, webhook.id) is None:
        await insert_webhook(db, webhook)
    await db.write(deliveries.queue_writes(webhook, event_ids, due_at), label="test")


async def lease(db: Database, owner: str = "me", *, limit: int = 100, **changes: Any) -> list[Delivery]:
    """Leases as a living worker, at a time when all is due."""
    asked: dict[str, Any] = {
        "now": NOON + 1000 * MINUTE,
        "wall_now": NOON,
        "is_ordered": False,
        "webhook_id": ENDPOINT.id,
    } | changes
    await deliveries.keep_alive(db, owner, asked["wall_now"], asked["wall_now"] + ALIVE)
    webhook_id = asked.pop("webhook_id")
    return await deliveries.lease_deliveries(db, webhook_id, owner=owner, limit=limit, **asked)


def make_attempt(delivery: Delivery, **changes: Any) -> DeliveryAttempt:
    attempt = DeliveryAttempt(
        id=make_timed_id(changes.get("attempted_at", NOON), make_id()),
        merchant_id=delivery.merchant_id,
        webhook_id=delivery.webhook_id,
        event_id=delivery.event_id,
        attempted_at=NOON,
        status=200,
        latency_ms=12,
        request_headers="{}",
        answer=b"\x00ok",
        failure="",
    )
    return msgspec.structs.replace(attempt, **changes)


async def end(db: Database, delivery: Delivery, attempt: DeliveryAttempt | None = None, **changes: Any) -> Delivery:
    """Ends a delivery as changed, and returns what is stored then."""
    ended = msgspec.structs.replace(delivery, **{"status": attempt and attempt.status, **changes})
    if attempt is None:
        await db.write(deliveries.end_delivery_writes(delivery, ended), label="test")
    else:
        await deliveries.end_attempt(db, ended, attempt)
    key = (delivery.merchant_id, delivery.webhook_id, delivery.subject_id, delivery.event_id)
    stored = await deliveries.find_delivery(db, *key)
    assert stored is not None
    return stored
