"""Endpoints of merchants on the store of a running server, and what the store says of deliveries. No test here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from api.merchants import find_merchant_id, wait_until
from gateway import Client, GatewayProcess
from tollgate.config import Settings
from tollgate.flows import webhooks
from tollgate.operations.app import App
from tollgate.payments.webhooks import Delivery, DeliveryAttempt, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.audit import EVENTS
from tollgate.store.events import Event, list_pending
from tollgate.store.webhooks import find_webhook, set_webhook_state
from tollgate.values import MerchantId
from tollgate.vault.webhooks import WebhookSecrets
from tollgate.wiring import open_app

_T = TypeVar("_T")
_ROWS_MAX = 1000


def use_store(gateway: GatewayProcess, use: Callable[[App], Awaitable[_T]]) -> _T:
    """Does something on the server's store, beside it, as a command does."""
    settings = Settings(data=str(gateway.data), database=gateway.database)

    async def run() -> _T:
        app, wires = await open_app(settings, exclusive=False)
        try:
            await app.merchants.refresh(app.database)
            return await use(app)
        finally:
            await wires.close()
            await app.database.close()

    return asyncio.run(run())


@dataclass(frozen=True)
class Endpoint:
    gateway: GatewayProcess
    merchant_id: MerchantId
    id: str
    secrets: WebhookSecrets

    def look(self) -> Webhook:
        async def find(app: App) -> Webhook:
            found = await find_webhook(app.database, self.merchant_id, self.id)
            assert found is not None
            return found

        return use_store(self.gateway, find)

    def set_state(self, state: WebhookState) -> None:
        seen = self.look()
        assert use_store(self.gateway, lambda app: set_webhook_state(app.database, seen, state))

    def test(self) -> bool:
        """Sends the test event; returns whether it was answered."""
        seen = self.look()
        return use_store(self.gateway, lambda app: webhooks.test_webhook(app, seen)).is_success

    def list_events(self) -> list[Event]:
        """Lists all events of the merchant, oldest first."""

        async def walk(app: App) -> list[Event]:
            pages = [page async for page in EVENTS.walk(app.database)]
            return [event for page in pages for event in page if event.merchant_id == self.merchant_id]

        return use_store(self.gateway, walk)

    def list_attempts(self, event_id: str) -> list[DeliveryAttempt]:
        async def find(app: App) -> list[DeliveryAttempt]:
            found = await deliveries.list_attempts(app.database, self.merchant_id, event_id, 100)
            return [each for each in found if each.webhook_id == self.id]

        return use_store(self.gateway, find)

    def find_delivery(self, event: Event) -> Delivery:
        async def find(app: App) -> Delivery:
            key = (self.merchant_id, self.id, event.subject_id, event.id)
            found = await deliveries.find_delivery(app.database, *key)
            assert found is not None
            return found

        return use_store(self.gateway, find)

    def is_quiet(self) -> bool:
        """Tells whether all that was announced is passed on and delivered."""
        pending = use_store(self.gateway, lambda app: list_pending(app.database, _ROWS_MAX))
        if any(each.event.merchant_id == self.merchant_id for each in pending):
            return False
        return self.count_states(self.list_events()).keys() == {"delivered"}

    def is_queued(self, event: Event) -> bool:
        return bool(self.count_states([event]))

    def count_states(self, events: list[Event]) -> dict[str, int]:
        """Counts the deliveries of events by their state."""
        seen, ids = self.look(), [event.id for event in events]
        states = use_store(self.gateway, lambda app: deliveries.list_states(app.database, seen, ids))
        return {state: list(states.values()).count(state) for state in set(states.values())}


def add_endpoint(gateway: GatewayProcess, client: Client, url: str, **terms: Any) -> Endpoint:
    """Adds an active endpoint; whether the server knows of it already is for the caller to wait for."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))

    async def add(app: App) -> webhooks.NewWebhook:
        new = await webhooks.add_webhook(app, merchant_id, url, **terms)
        assert await set_webhook_state(app.database, new.webhook, WebhookState.ACTIVE)
        return new

    new = use_store(gateway, add)
    return Endpoint(gateway, merchant_id, new.webhook.id, new.secrets)


def wait_until_known(client: Client, *endpoints: Endpoint) -> None:
    """Pays until all endpoints are told of it, so that the next payment is announced to all of them."""

    def is_known() -> bool:
        assert client.pay().status == 200
        events = endpoints[0].list_events()
        return all(endpoint.count_states(events) for endpoint in endpoints)

    wait_until(is_known)


def advance(client: Client, seconds: int) -> datetime:
    """Moves the clock of the server, and returns its time."""
    answer = client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None})
    assert answer.status == 200, answer.body
    return datetime.fromisoformat(answer.json["now"])
