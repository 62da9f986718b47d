"""Events on their way to endpoints: announcements are passed on as deliveries, and a delivery is attempted.

How many are under way at once is decided by the workers.
"""

import logging
import time
from email.utils import parsedate_to_datetime

import msgspec
import orjson

from tollgate.catalog.events import EVENT_ROWS, EventType
from tollgate.catalog.limits import LIMITS
from tollgate.contract import events as contract_events
from tollgate.contract.answers import render_answered
from tollgate.contract.registrations import answer_registration
from tollgate.contract.schedules import SCHEDULED_BY, SCHEDULER, answer_schedule
from tollgate.operations.app import SUCCESS_CODES, App
from tollgate.operations.webhooks import make_request, open_webhook
from tollgate.payments.webhooks import Delivery, DeliveryAttempt, DeliveryState, Webhook, WebhookState, find_retry
from tollgate.store import deliveries, events
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Unreadable
from tollgate.store.payments import find_payment
from tollgate.store.registrations import find_registration
from tollgate.store.schedules import find_schedule
from tollgate.store.statements import Write
from tollgate.store.webhooks import set_webhook_state
from tollgate.values import SECOND, Instant, MerchantId, make_id, make_timed_id, to_instant
from tollgate.wire import Outgoing, Silent, Unsent

_log = logging.getLogger("tollgate.webhooks")

_GONE = 410
_UNREADABLE = (*UNREADABLE, Unreadable, LookupError)
"""The exceptions by which an object that somebody changed in the store cannot be rendered."""


class Attempted(msgspec.Struct, frozen=True):
    """One request, and what came of it."""

    record: DeliveryAttempt
    retry_after_s: int | None

    @property
    def status(self) -> int | None:
        return self.record.status

    @property
    def failure(self) -> str:
        return self.record.failure

    @property
    def is_success(self) -> bool:
        return not self.record.failure


# ---- announcements ----


async def pass_on_announcements(app: App, limit: int = LIMITS.announcements_batch) -> int:
    """Queues a delivery of each announced event for each endpoint that wants it; returns how many events there were.

    Several processes may do so at once: what is queued already stays as it is.
    """
    pending = await events.list_pending(app.database, limit)
    by_merchant: dict[MerchantId, list[events.Announced]] = {}
    for announced in pending:
        by_merchant.setdefault(announced.event.merchant_id, []).append(announced)
    for merchant_id, some in by_merchant.items():
        writes = [write for announced in some for write in await _list_own_writes(app, announced)]
        for webhook in app.merchants.list_webhooks(merchant_id):
            event_ids = [each.event.id for each in some if _is_for(webhook, each)]
            if event_ids:
                writes += deliveries.queue_writes(webhook, event_ids, app.clock.now())
        writes += events.pass_on_writes(merchant_id, [announced.event.id for announced in some])
        await app.database.write(writes, label="events passed on")
    return len(pending)


def _is_for(webhook: Webhook, announced: events.Announced) -> bool:
    event, announcement = announced.event, announced.announcement
    return webhook.wants(event.topic, announcement.channel_id, announcement.payment_type, event.result_code)


async def _list_own_writes(app: App, announced: events.Announced) -> list[Write]:
    """Returns the writes that concern an announcement alone: its payload, and a notification that was asked for."""
    event, announcement = announced.event, announced.announcement
    writes: list[Write] = []
    url = announcement.notification_url
    if announcement.payload is None:
        try:
            payload, url = await render_payload(app, event)
        except _UNREADABLE:
            # The merchant is told which object it is about, and the event holds up no other.
            payload = orjson.dumps({"id": event.subject_id})
            _log.exception("object of an event cannot be read: run `tollgate verify`", extra={"event_id": event.id})
        writes += events.fill_payload_writes(announcement, payload)
    if url is not None:
        notification = Delivery(
            merchant_id=event.merchant_id,
            webhook_id=event.merchant_id,
            subject_id=event.subject_id,
            event_id=event.id,
            sequence=event.sequence,
            queued_at=event.created_at,
            due_at=app.clock.now(),
            url=url,
        )
        writes += deliveries.insert_delivery_writes(notification, rows=None)
    return writes


async def render_payload(app: App, event: events.Event) -> tuple[bytes, str | None]:
    """Renders the object of an event as it is now, and finds the notification that its request asked for.

    Only payments are announced with their payload, because their state at the event matters.
    """
    database, merchant_id, subject_id = app.database, event.merchant_id, event.subject_id
    match EVENT_ROWS[event.topic].type:
        case EventType.REGISTRATION:
            registration = await find_registration(database, merchant_id, subject_id)
            if registration is None:
                return orjson.dumps({"id": subject_id}), None
            channel = app.merchants.find_channel(registration.channel_id)
            answer = answer_registration(registration, app.envelope)
            url = contract_events.find_registration_notification(registration, event.topic, event.sequence)
            return contract_events.render_object_payload(answer, channel), url
        case EventType.SCHEDULE:
            schedule = await find_schedule(database, merchant_id, subject_id)
            if schedule is None:
                return orjson.dumps({"id": subject_id}), None
            channel = app.merchants.find_channel(schedule.channel_id)
            code = SUCCESS_CODES[schedule.test_mode]
            answer = answer_schedule(schedule, code, app.envelope, payment_type=SCHEDULED_BY[event.topic])
            return contract_events.render_object_payload(answer, channel, source=SCHEDULER), None
        case _:
            payment = await find_payment(database, merchant_id, subject_id)
            if payment is None:
                return orjson.dumps({"id": subject_id}), None
            channel = app.merchants.find_channel(payment.channel_id)
            body = render_answered(payment, app.envelope)
            return contract_events.render_payment_payload(body, payment, channel), None


async def get_payload(app: App, event: events.Event) -> bytes:
    """Returns the object of an event as it was then; one that nobody was told of then is rendered as it is now."""
    announcement = await events.find_announcement(app.database, event.merchant_id, event.id)
    if announcement is None or announcement.payload is None:
        return (await render_payload(app, event))[0]
    return announcement.payload


# ---- deliveries ----


async def deliver(
    app: App, delivery: Delivery, webhook: Webhook | None, found: events.EventPayload | None = None
) -> Attempted:
    """Attempts a delivery and writes down what came of it.

    webhook: the endpoint; None for a notification.
    found: the event, if it was read before.
    """
    if webhook is None:
        last = await attempt(app, delivery, Outgoing(delivery.url or ""), LIMITS.notification_timeout_s)
    else:
        last = await _send_event(app, delivery, webhook, found)
    ended = msgspec.structs.replace(delivery, tries=delivery.tries + 1, status=last.status)
    if last.is_success:
        ended = msgspec.structs.replace(ended, state=DeliveryState.DELIVERED)
    else:
        ended = _choose_retry(ended, webhook, app.clock.now(), last.retry_after_s)
        facts = {"webhook": webhook.id if webhook else "notification", "event_id": delivery.event_id}
        _log.warning("webhook delivery failed", extra={**facts, "try": ended.tries, "failure": last.failure})
    await deliveries.end_attempt(app.database, ended, last.record)
    if last.status == _GONE and webhook is not None:
        await set_webhook_state(app.database, webhook, WebhookState.DISABLED, "the receiver answered 410")
        await app.merchants.refresh(app.database)
        _log.warning("webhook disabled", extra={"webhook": webhook.id, "status": _GONE})
    return last


def _choose_retry(
    failed: Delivery, webhook: Webhook | None, now: Instant, retry_after_s: int | None = None
) -> Delivery:
    due_at = find_retry(failed, webhook.retries_s if webhook else (), now, retry_after_s)
    state = DeliveryState.FAILED if due_at is None else DeliveryState.PENDING
    return msgspec.structs.replace(failed, state=state, due_at=due_at or failed.due_at)


async def postpone(app: App, delivery: Delivery, webhook: Webhook | None) -> None:
    """Gives back a delivery of which nobody knows what came of it, because the attempt ended by an exception."""
    failed = msgspec.structs.replace(delivery, tries=delivery.tries + 1)
    ended = _choose_retry(failed, webhook, app.clock.now())
    await app.database.write(deliveries.end_delivery_writes(delivery, ended), label="delivery postponed")


async def _send_event(app: App, delivery: Delivery, webhook: Webhook, found: events.EventPayload | None) -> Attempted:
    """Sends an event to an endpoint, and once more where a receiver may not know its new secret yet.

    A signed body carries a signature for each live secret, but a body is encrypted with one.
    """
    event_id = delivery.event_id
    found = found or (await events.list_payloads(app.database, delivery.merchant_id, [event_id])).get(event_id)
    if found is None:
        raise LookupError(f"a delivery names event {event_id}, which does not exist")
    payload = found.payload or (await render_payload(app, found.event))[0]
    secrets = open_webhook(app, webhook)
    request = make_request(app, webhook, secrets, found.event, payload, is_replay=delivery.is_replay)
    first = await attempt(app, delivery, request, LIMITS.webhook_timeout_s)
    previous = secrets.previous_secret
    if previous is None or not webhook.scheme.encrypts or first.is_success or first.status in (None, _GONE):
        return first
    await app.database.write(deliveries.record_attempt_writes(first.record), label="delivery attempt recorded")
    secrets = msgspec.structs.replace(secrets, secret=previous)
    request = make_request(app, webhook, secrets, found.event, payload, is_replay=delivery.is_replay)
    return await attempt(app, delivery, request, LIMITS.webhook_timeout_s)


async def attempt(app: App, delivery: Delivery, request: Outgoing, timeout_s: float) -> Attempted:
    """Sends one request. Only a status from 200 to 299 within the time is a success."""
    attempted_at, begun = app.clock.now(), time.monotonic()
    status, body, failure, retry_after_s = None, b"", "", None
    app.database.probe("delivery request", "before")
    try:
        received = await app.notifier.send(request, timeout_s)
        status, body = received.status, received.body
        if not 200 <= status <= 299:
            failure, retry_after_s = f"answered {status}", read_retry_after(received.retry_after, app.clock.wall())
    except (Unsent, Silent) as fault:
        failure = fault.reason or type(fault).__name__.lower()
    app.database.probe("delivery request", "after")
    record = DeliveryAttempt(
        id=make_timed_id(attempted_at, make_id(app.random_bytes)),
        merchant_id=delivery.merchant_id,
        webhook_id=delivery.webhook_id,
        event_id=delivery.event_id,
        attempted_at=attempted_at,
        status=status,
        latency_ms=round((time.monotonic() - begun) * 1000),
        request_headers=orjson.dumps(dict(request.headers)).decode(),
        answer=body,
        failure=failure,
        is_replay=delivery.is_replay,
    )
    return Attempted(record, retry_after_s)


def read_retry_after(text: str | None, wall_now: Instant) -> int | None:
    """Reads the header in both of its forms; one that is neither is ignored.

    A receiver writes a date by its own clock, not by the movable one of a test host.
    """
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return max(0, (to_instant(parsedate_to_datetime(text)) - wall_now) // SECOND)
    except (TypeError, ValueError):
        return None
