"""Listeners: endpoints of a test host whose deliveries a command fetches, shows and may forward.

What a delivery looks like is decided in `deliver`, and how it is shown in the command.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec

from tollgate.contract.events import render_body
from tollgate.flows.deliver import Attempted, deliver, get_payload
from tollgate.flows.webhooks import add_webhook, change_webhook
from tollgate.operations.app import App
from tollgate.payments.webhooks import Delivery, DeliveryState, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.events import Event, find_event
from tollgate.store.webhooks import list_webhooks
from tollgate.values import SECOND, MerchantId, make_id

_LOOK_EVERY_S = 0.3
_BEAT_EVERY_S = 1.0
_ALIVE = 5 * SECOND
"""A listener that was killed holds its deliveries for so long."""
_AT_ONCE = 10
_NOTICED_S = 1.2
"""After so long all servers know of a new listener."""


class Screen(Protocol):
    def show_event(self, event: Event, delivery: Delivery, body: bytes) -> None:
        """Shows an event with its plain body."""
        ...

    def show_answer(self, attempted: Attempted) -> None:
        """Shows what came of forwarding the event that was shown last."""
        ...


async def open_listener(app: App, merchant_id: MerchantId, name: str, **terms: Any) -> Webhook:
    """Finds the listener of a name, or adds it; either way it is active and has these terms."""
    url = f"listen:{name}"
    known = [each for each in await list_webhooks(app.database, merchant_id) if each.is_listener and each.url == url]
    if known:
        return await change_webhook(app, known[0], **terms, state=WebhookState.ACTIVE, reason="")
    new = await add_webhook(app, merchant_id, url, **terms, is_listener=True, state=WebhookState.ACTIVE)
    await asyncio.sleep(_NOTICED_S)
    return new.webhook


async def listen(
    app: App,
    listener: Webhook,
    screen: Screen,
    follow: Callable[[App], Awaitable[object]],
    *,
    forward_to: str | None = None,
    limit: int | None = None,
) -> None:
    """Shows deliveries as they come due, and forwards them where an address is given, until `limit` were shown.

    follow: keeps the clock in step with that of the test host.

    A delivery that is shown or accepted is delivered. One that was not accepted is tried again like any other.
    """
    owner, count = make_id(app.random_bytes), 0
    beating = asyncio.create_task(_beat(app, owner))
    try:
        while True:
            await follow(app)
            leased = await deliveries.lease_deliveries(
                app.database,
                listener.id,
                now=app.clock.now(),
                wall_now=app.clock.wall(),
                owner=owner,
                limit=_AT_ONCE,
                is_ordered=listener.is_ordered,
            )
            for delivery in leased:
                await _take(app, delivery, listener, screen, forward_to)
                count += 1
                if count == limit:
                    return
            if beating.done():
                # It ends only by a fault of the store, which is raised here.
                beating.result()
            if not leased:
                await asyncio.sleep(_LOOK_EVERY_S)
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await deliveries.stop_worker(app.database, owner)


async def _beat(app: App, owner: str) -> None:
    while True:
        wall_now = app.clock.wall()
        await deliveries.keep_alive(app.database, owner, wall_now, wall_now + _ALIVE)
        await asyncio.sleep(_BEAT_EVERY_S)


async def _take(app: App, delivery: Delivery, listener: Webhook, screen: Screen, forward_to: str | None) -> None:
    event = await find_event(app.database, delivery.merchant_id, delivery.event_id)
    if event is None:
        raise LookupError(f"a delivery names event {delivery.event_id}, which does not exist")
    screen.show_event(event, delivery, render_body(event.topic, await get_payload(app, event), listener.fields))
    if forward_to is not None:
        screen.show_answer(await deliver(app, delivery, msgspec.structs.replace(listener, url=forward_to)))
        return
    ended = msgspec.structs.replace(delivery, state=DeliveryState.DELIVERED, tries=delivery.tries + 1)
    await app.database.write(deliveries.end_delivery_writes(delivery, ended), label="delivery ended")
