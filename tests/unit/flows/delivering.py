"""Endpoints, events on their way to them, and a notifier that follows a script. No test lives here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from msgspec.structs import replace

from tollgate.flows.deliver import Attempted, deliver, pass_on_announcements
from tollgate.flows.webhooks import NewWebhook, add_webhook
from tollgate.operations.app import App
from tollgate.payments.webhooks import Delivery, DeliveryAttempt, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.webhooks import find_webhook, set_webhook_state
from tollgate.values import MINUTE, FixedClock, Instant, Secret
from tollgate.vault.webhooks import EncryptedBody, decrypt_body
from tollgate.wire import Outgoing, Received
from unit.app_fixture import MERCHANT

URL = "https://shop.example/hook"
OWNER = "worker"


@dataclass
class RecordingNotifier:
    """The notifier plays its script from the front: an answer or a fault. At the end all is well."""

    script: list[Received | Exception] = field(default_factory=list)
    sent: list[Outgoing] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)
    meanwhile: Callable[[Outgoing], Awaitable[object]] | None = None
    """This runs while a request is on its way."""

    def check_address(self, _url: str) -> str | None:
        """Accepts every address."""
        return None

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        self.sent.append(outgoing)
        self.timeouts_s.append(timeout_s)
        if self.meanwhile is not None:
            await self.meanwhile(outgoing)
        next_line = self.script.pop(0) if self.script else Received(200, b"ok")
        if isinstance(next_line, Exception):
            raise next_line
        return next_line


def equip(app: App) -> tuple[App, RecordingNotifier]:
    notifier = RecordingNotifier()
    return replace(app, notifier=notifier), notifier


async def add_active(app: App, **terms: Any) -> NewWebhook:
    """Adds an endpoint that has been tested."""
    new = await add_webhook(app, MERCHANT.id, terms.pop("url", URL), **terms)
    assert await set_webhook_state(app.database, new.webhook, WebhookState.ACTIVE)
    await app.merchants.refresh(app.database)
    return replace(new, webhook=await look_at(app, new.webhook))


async def look_at(app: App, webhook: Webhook) -> Webhook:
    found = await find_webhook(app.database, webhook.merchant_id, webhook.id)
    assert found is not None
    return found


async def lease(app: App, webhook: Webhook | None, *, is_ordered: bool = False) -> list[Delivery]:
    """Passes on what was announced and leases what is due to an endpoint, or of notifications."""
    await pass_on_announcements(app)
    wall = app.clock.wall()
    await deliveries.keep_alive(app.database, OWNER, wall, wall + MINUTE)
    webhook_id = MERCHANT.id if webhook is None else webhook.id
    return await deliveries.lease_deliveries(
        app.database,
        webhook_id,
        now=app.clock.now(),
        wall_now=wall,
        owner=OWNER,
        limit=100,
        is_ordered=is_ordered,
    )


async def deliver_all(app: App, webhook: Webhook | None) -> list[Attempted]:
    return [await deliver(app, delivery, webhook) for delivery in await lease(app, webhook)]


async def look_at_delivery(app: App, delivery: Delivery) -> Delivery:
    key = (delivery.merchant_id, delivery.webhook_id, delivery.subject_id, delivery.event_id)
    found = await deliveries.find_delivery(app.database, *key)
    assert found is not None
    return found


async def list_attempts(app: App, event_id: str) -> list[DeliveryAttempt]:
    return await deliveries.list_attempts(app.database, MERCHANT.id, event_id, 100)


def move_to(app: App, at: Instant) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at = at


def open_sent(sent: Outgoing, secret: Secret) -> Any:
    """Decrypts a body as the receiver does."""
    body = sent.body.decode()
    if sent.headers["Content-Type"] == "application/json":
        body = orjson.loads(body)["encryptedBody"]
    iv, tag = sent.headers["X-Initialization-Vector"], sent.headers["X-Authentication-Tag"]
    return orjson.loads(decrypt_body(EncryptedBody(iv, tag, body), secret))
