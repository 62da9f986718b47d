"""The demo shop has one webhook, shows its event once it has arrived, and says why it has not."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.flows import webhooks as flows
from tollgate.flows.deliver import pass_on_announcements
from tollgate.operations.app import App
from tollgate.operations.webhooks import make_request, open_webhook
from tollgate.payments.webhooks import DeliveryAttempt, Scheme, Webhook, WebhookState
from tollgate.sandbox.inbox.pages import ROUTES
from tollgate.sandbox.shop.orders import get_channel_of_shop
from tollgate.store.deliveries import record_attempt_writes
from tollgate.store.events import Event, find_announcement, list_events
from tollgate.store.webhooks import list_all_webhooks, update_webhook
from tollgate.web.request import Request
from unit.app_fixture import NOW
from unit.sandbox.shop_visits import ORIGIN, name_result, open_shop_app, order, pay, says, visit

pytestmark = pytest.mark.anyio

URL = f"{ORIGIN}/sandbox/inbox/shop"
RECEIVE = next(row.handler for row in ROUTES if row.method == "POST" and row.path.endswith("{name}"))
WAITING = "Waiting for the event"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with open_shop_app(tmp_path) as app:
        yield app


async def get_webhook(app: App) -> Webhook:
    [webhook] = await list_all_webhooks(app.database)
    return webhook


async def find_event(app: App) -> Event:
    """Finds the event of the only payment."""
    await pass_on_announcements(app)
    channel = await get_channel_of_shop(app)
    [event] = await list_events(app.database, channel.merchant_id, "", "g", 10)
    return event


async def deliver(app: App) -> None:
    webhook, event = await get_webhook(app), await find_event(app)
    announcement = await find_announcement(app.database, event.merchant_id, event.id)
    assert announcement is not None
    outgoing = make_request(app, webhook, open_webhook(app, webhook), event, announcement.payload or b"")
    request = Request(
        method="POST",
        path="/sandbox/inbox/shop",
        names=("shop",),
        headers={name.lower().encode(): value.encode() for name, value in outgoing.headers.items()},
        pairs=[],
        trace="1" * 32,
        body=outgoing.body,
        target=b"/sandbox/inbox/shop",
    )
    assert (await RECEIVE(request, app)).status == 204  # type: ignore[call-arg, arg-type]


async def fail(app: App, failure: str) -> None:
    webhook, event = await get_webhook(app), await find_event(app)
    attempt = DeliveryAttempt(
        id="01",
        merchant_id=event.merchant_id,
        webhook_id=webhook.id,
        event_id=event.id,
        attempted_at=NOW,
        status=None,
        latency_ms=1,
        request_headers="{}",
        answer=b"",
        failure=failure,
    )
    await app.database.write(record_attempt_writes(attempt), label="test")


async def test_an_order_makes_one_active_webhook_for_payments_of_the_channel(app: App) -> None:
    await order(app)
    await order(app)

    webhook = await get_webhook(app)
    channel = await get_channel_of_shop(app)
    assert (webhook.url, webhook.state, webhook.scheme) == (URL, WebhookState.ACTIVE, Scheme.BOTH)
    assert (webhook.channel_id, webhook.types) == (channel.id, ("PAYMENT",))
    assert app.merchants.list_webhooks(channel.merchant_id) == (webhook,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WebhookState.INACTIVE, WebhookState.ACTIVE),
        (WebhookState.DISABLED, WebhookState.ACTIVE),
        (WebhookState.PAUSED, WebhookState.PAUSED),
    ],
)
async def test_its_address_and_state_are_corrected_and_a_pause_is_kept(
    app: App, before: WebhookState, after: WebhookState
) -> None:
    await order(app)
    made = await get_webhook(app)
    moved = msgspec.structs.replace(made, url="http://127.0.0.1:1/sandbox/inbox/shop", state=before)
    assert await update_webhook(app.database, moved)
    await app.merchants.refresh(app.database)

    await order(app)

    webhook = await get_webhook(app)
    assert (webhook.id, webhook.url, webhook.state) == (made.id, URL, after)


async def test_the_result_page_waits_until_the_event_has_arrived(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id)
    before = await visit(app, "GET", name_result(checkout_id))
    [url] = re.findall('data-follows="([^"]+)"', before.body.decode())
    waiting = await visit(app, "GET", url)

    await deliver(app)

    arrived, whole = await visit(app, "GET", url), await visit(app, "GET", name_result(checkout_id))
    assert says(before, WAITING)
    assert says(waiting, WAITING)
    assert all(says(page, '"type": "PAYMENT"') and says(page, "The signature is right") for page in (arrived, whole))
    assert b"data-follows" not in arrived.body + whole.body


async def test_an_order_without_payment_waits_for_nothing(app: App) -> None:
    page = await visit(app, "GET", name_result(await order(app)))

    assert not says(page, WAITING)


@pytest.mark.parametrize(
    ("failure", "is_certificate"),
    [("connection refused", False), ("TLS certificate not accepted: self-signed certificate", True)],
)
async def test_a_failed_delivery_says_why(app: App, failure: str, is_certificate: bool) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id)
    await fail(app, failure)

    page = await visit(app, "GET", name_result(checkout_id))

    assert says(page, f"The last attempt failed: {failure}.")
    assert says(page, "does not trust its own certificate") is is_certificate


async def test_what_is_no_id_is_not_looked_for(app: App) -> None:
    assert (await visit(app, "GET", "/sandbox/shop/arrival?id=%00")).status == 404


async def test_a_shop_of_a_merchant_with_too_many_webhooks_still_sells(app: App) -> None:
    channel = await get_channel_of_shop(app)
    for _ in range(LIMITS.webhooks_per_merchant_max):
        await flows.add_webhook(app, channel.merchant_id, f"{ORIGIN}/other")

    assert await order(app)
    assert {webhook.url for webhook in await list_all_webhooks(app.database)} == {f"{ORIGIN}/other"}
