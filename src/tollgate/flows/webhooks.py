"""Endpoints for webhooks: added, changed, tested, rotated, removed. Events are delivered to them in `deliver`."""

from typing import Any

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result, make_invalid
from tollgate.contract.events import render_test_payload
from tollgate.flows.deliver import Attempted, attempt
from tollgate.operations.app import App
from tollgate.operations.webhooks import make_request, open_webhook, seal_webhook
from tollgate.payments.webhooks import Delivery, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store import webhooks as store_webhooks
from tollgate.store.events import Event
from tollgate.store.statements import Write
from tollgate.values import SECOND, Conflict, Fault, Instant, MerchantId, Refusal, Secret, make_id, make_timed_id
from tollgate.vault.webhooks import WebhookSecrets, make_secrets, rotate_secrets

_TEST_EVENT = "webhook.test"


class NewWebhook(msgspec.Struct, frozen=True):
    """An endpoint with its secrets, which are shown once."""

    webhook: Webhook
    secrets: WebhookSecrets


async def add_webhook(
    app: App, merchant_id: MerchantId, url: str, *, secret: Secret | None = None, **terms: Any
) -> NewWebhook:
    """Adds an endpoint, which is inactive until it is tested.

    terms: further members of a `Webhook`. A listener has no address.
    """
    if not terms.get("is_listener"):
        _refuse_address(app, url)
    if len(await store_webhooks.list_webhooks(app.database, merchant_id)) >= LIMITS.webhooks_per_merchant_max:
        detail = f"a merchant has at most {LIMITS.webhooks_per_merchant_max} webhooks"
        raise Refusal(get_result(codes.INVALID_REQUEST), detail)
    bare = Webhook(
        id=make_id(app.random_bytes),
        merchant_id=merchant_id,
        url=url,
        created_at=app.clock.now(),
        sealed_secrets=b"",
        **terms,
    )
    secrets = make_secrets(app.random_bytes, secret)
    webhook = seal_webhook(app, bare, secrets)
    await store_webhooks.insert_webhook(app.database, webhook)
    return NewWebhook(webhook, secrets)


async def change_webhook(app: App, webhook: Webhook, **terms: Any) -> Webhook:
    """Changes members of an endpoint and returns it. With another address it is inactive until it is tested again."""
    if terms.get("url", webhook.url) != webhook.url:
        _refuse_address(app, terms["url"])
        terms |= {"state": WebhookState.INACTIVE, "reason": "the address was changed"}
    changed = msgspec.structs.replace(webhook, **terms)
    if not await store_webhooks.update_webhook(app.database, changed):
        raise _make_conflict()
    return changed


def _refuse_address(app: App, url: str) -> None:
    """Refuses an address that can never be sent to; what its name resolves to is checked for each connection."""
    rule = app.notifier.check_address(url)
    if rule is not None:
        raise make_invalid(Fault("url", rule))


def _make_conflict() -> Conflict:
    return Conflict(get_result(codes.REQUEST_IN_PROGRESS), "somebody else changed the webhook at the same time")


async def test_webhook(app: App, webhook: Webhook) -> Attempted:
    """Sends the test event. An answer of 2xx activates an endpoint that is inactive or disabled; a pause stays."""
    now = app.clock.now()
    event = Event(
        id=make_timed_id(now, make_id(app.random_bytes)),
        merchant_id=webhook.merchant_id,
        subject_id=webhook.id,
        topic=_TEST_EVENT,
        created_at=now,
    )
    delivery = Delivery(
        merchant_id=webhook.merchant_id,
        webhook_id=webhook.id,
        subject_id=webhook.id,
        event_id=event.id,
        sequence=1,
        queued_at=now,
        due_at=now,
    )
    payload = render_test_payload(app.envelope, webhook.id, now)
    request = make_request(app, webhook, open_webhook(app, webhook), event, payload)
    attempted = await attempt(app, delivery, request, LIMITS.webhook_timeout_s)
    await app.database.write(deliveries.record_attempt_writes(attempted.record), label="webhook tested")
    if attempted.is_success and webhook.state in (WebhookState.INACTIVE, WebhookState.DISABLED):
        await store_webhooks.set_webhook_state(app.database, webhook, WebhookState.ACTIVE)
    return attempted


async def rotate_webhook(
    app: App, webhook: Webhook, overlap_s: int, *more: Write, secret: Secret | None = None
) -> NewWebhook:
    """Gives an endpoint new secrets, beside which the present ones stay live for a while.

    more: what is written in the same commit.
    """
    until: Instant = app.clock.now() + overlap_s * SECOND
    secrets = rotate_secrets(open_webhook(app, webhook), app.random_bytes, until, secret)
    changed = seal_webhook(app, webhook, secrets)
    if not await store_webhooks.update_webhook(app.database, changed, *more):
        raise _make_conflict()
    return NewWebhook(changed, secrets)


_MOVES = {
    WebhookState.PAUSED: (WebhookState.ACTIVE,),
    WebhookState.ACTIVE: (WebhookState.PAUSED,),
}
"""The states from which the owner of an endpoint may move it to another; the other moves need a test."""


async def move_webhook(app: App, webhook: Webhook, state: WebhookState) -> bool:
    """Pauses an endpoint, or lets a paused one be active again; False in all other states."""
    if webhook.state not in _MOVES[state]:
        return False
    reason = "paused by its owner" if state is WebhookState.PAUSED else ""
    return await store_webhooks.set_webhook_state(app.database, webhook, state, reason)


async def remove_webhook(app: App, webhook: Webhook) -> bool:
    """Removes an endpoint and what was still to be delivered to it."""
    return await store_webhooks.delete_webhook(app.database, webhook)
