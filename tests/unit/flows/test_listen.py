"""A listener takes its deliveries when they are due, and gives back what it did not end."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from tollgate.flows import listen as flow
from tollgate.flows.deliver import Attempted, pass_on_announcements
from tollgate.flows.pay import pay
from tollgate.flows.webhooks import add_webhook, change_webhook
from tollgate.operations.app import App, Call
from tollgate.payments.webhooks import RETRIES_S, Delivery, DeliveryState, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.events import Event, list_events
from tollgate.store.webhooks import insert_webhook, list_webhooks
from tollgate.values import HOUR, SECOND, Conflict, FixedClock, InvalidParameters
from tollgate.wire import Outgoing, Received
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER

pytestmark = pytest.mark.anyio


@dataclass
class Screen:
    shown: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def show_event(self, event: Event, delivery: Delivery, body: bytes) -> None:
        assert body.startswith(b'{"type":"PAYMENT"')
        assert delivery.event_id == event.id
        self.shown.append(event.id)

    def show_answer(self, attempted: Attempted) -> None:
        self.answers.append(attempted.failure or str(attempted.status))


@dataclass
class OneAnswer:
    status: int
    sent: list[Outgoing] = field(default_factory=list)

    def check_address(self, url: str) -> str | None:
        return None if url.startswith("http") else "only http and https are allowed"

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        assert timeout_s > 0
        self.sent.append(outgoing)
        return Received(self.status)


class Ended(Exception):
    """Ends a listener from within, as an interruption does."""


def end_after(rounds: int) -> Callable[[App], Awaitable[object]]:
    """Lets a listener look so many times, and then ends it."""
    left = [rounds]

    async def follow(_app: App) -> None:
        if not left[0]:
            raise Ended
        left[0] -= 1

    return follow


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("_LOOK_EVERY_S", "_NOTICED_S"):
        monkeypatch.setattr(flow, pause, 0.0)


async def open_listener(app: App, name: str = "listen") -> Webhook:
    listener = await flow.open_listener(app, MERCHANT.id, name)
    await app.merchants.refresh(app.database)
    return listener


async def make_event(app: App, due_at: int = NOW) -> str:
    clock = app.clock
    assert isinstance(clock, FixedClock)
    paid = json.loads((await pay(app, ORDER, Call(CHANNEL, "ndc"))).body)["id"]
    clock.at = due_at
    await pass_on_announcements(app)
    clock.at = NOW
    found = await list_events(app.database, MERCHANT.id, "", "g", 9)
    return next(event.id for event in found if event.subject_id == paid)


async def read_delivery(app: App, listener: Webhook, event_id: str) -> Delivery:
    event = next(each for each in await list_events(app.database, MERCHANT.id, "", "g", 9) if each.id == event_id)
    found = await deliveries.find_delivery(app.database, MERCHANT.id, listener.id, event.subject_id, event_id)
    assert found is not None
    return found


async def test_what_is_shown_is_delivered_and_not_shown_again(app: App) -> None:
    listener, screen = await open_listener(app), Screen()
    event_id = await make_event(app)

    await flow.listen(app, listener, screen, end_after(1), limit=1)

    assert screen.shown == [event_id]
    assert (await read_delivery(app, listener, event_id)).state is DeliveryState.DELIVERED
    with pytest.raises(Ended):
        await flow.listen(app, listener, screen, end_after(2))
    assert screen.shown == [event_id]


async def test_the_clock_is_followed_before_each_look(app: App) -> None:
    listener, screen = await open_listener(app), Screen()
    event_id = await make_event(app, due_at=NOW + HOUR)
    with pytest.raises(Ended):
        await flow.listen(app, listener, screen, end_after(2))
    assert screen.shown == []

    async def follow(app: App) -> None:
        assert isinstance(app.clock, FixedClock)
        app.clock.at = NOW + HOUR

    await flow.listen(app, listener, screen, follow, limit=1)
    assert screen.shown == [event_id]


async def test_what_was_leased_and_not_ended_is_given_back_at_once(app: App) -> None:
    listener, screen = await open_listener(app), Screen()
    event_ids = {await make_event(app), await make_event(app)}

    await flow.listen(app, listener, screen, end_after(1), limit=1)
    await flow.listen(app, listener, screen, end_after(1), limit=1)

    assert set(screen.shown) == event_ids


async def test_a_forwarded_event_that_is_not_accepted_is_tried_again(app: App) -> None:
    notifier, screen = OneAnswer(500), Screen()
    app = replace(app, notifier=notifier)
    listener = await open_listener(app)
    event_id = await make_event(app)

    await flow.listen(app, listener, screen, end_after(1), forward_to="http://127.0.0.1:9/", limit=1)

    pending = await read_delivery(app, listener, event_id)
    assert screen.answers == ["answered 500"]
    assert (pending.state, pending.due_at) == (DeliveryState.PENDING, NOW + RETRIES_S[0] * SECOND)
    assert notifier.sent[0].url == "http://127.0.0.1:9/"
    assert [each.url for each in await list_webhooks(app.database, MERCHANT.id)] == ["listen:listen"]


async def test_a_listener_is_found_by_its_name_and_active_again(app: App) -> None:
    first, other = await open_listener(app), await open_listener(app, "other")
    await change_webhook(app, first, state=WebhookState.DISABLED, reason="the receiver answered 410")

    again = await flow.open_listener(app, MERCHANT.id, "listen", types=("RISK",))

    assert (again.id, again.state, again.reason, again.types) == (first.id, WebhookState.ACTIVE, "", ("RISK",))
    assert again.id != other.id
    assert len(await list_webhooks(app.database, MERCHANT.id)) == 2


async def test_an_endpoint_that_was_changed_meanwhile_is_not_changed_again(app: App) -> None:
    app = replace(app, notifier=OneAnswer(200))
    added = await add_webhook(app, MERCHANT.id, "https://shop.example")
    await change_webhook(app, added.webhook, types=("RISK",))

    with pytest.raises(Conflict):
        await change_webhook(app, added.webhook, types=("PAYMENT",))
    with pytest.raises(InvalidParameters):
        await change_webhook(app, added.webhook, url="listen:x")
    with pytest.raises(InvalidParameters):
        await add_webhook(app, MERCHANT.id, "listen:x")


async def test_a_backlog_counts_what_is_pending(app: App) -> None:
    listener = await open_listener(app)
    await insert_webhook(app.database, replace(listener, id="8a" + "9" * 30, url="listen:none", types=("RISK",)))
    await app.merchants.refresh(app.database)
    await make_event(app)
    await make_event(app)

    assert await deliveries.list_backlogs(app.database, MERCHANT.id) == {listener.id: (2, NOW)}
