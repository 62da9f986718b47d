"""Lists events with their deliveries, and queues them to be delivered again, which is recorded.

How they are sent is decided in `deliver`.
"""

from collections.abc import AsyncIterator

import msgspec

from tollgate.catalog.events import EVENT_ROWS
from tollgate.operations.app import App
from tollgate.payments.webhooks import Delivery, DeliveryState, Webhook
from tollgate.store import deliveries, events
from tollgate.store import replays as store_replays
from tollgate.values import Instant, MerchantId, make_id, make_timed_id

_PAGE = 200
_PAGES_SCANNED_MAX = 10
"""A list that finds little in so many pages is continued on request."""
NEVER = "never"
"""The status of an event for an endpoint to which it was never sent."""
STATUSES = (*(state.name.lower() for state in DeliveryState), NEVER)


class EventFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The events of a merchant that somebody asks for."""

    since: Instant = 0
    until: Instant | None = None
    types: tuple[str, ...] = ()
    """Types and names of events; empty for all."""
    status: str | None = None
    """The status of the delivery to the endpoint."""
    subject_id: str | None = None

    def has(self, event: events.Event) -> bool:
        is_typed = not self.types or event.topic in self.types or EVENT_ROWS[event.topic].type in self.types
        return is_typed and self.subject_id in (None, event.subject_id)


async def walk_events(
    app: App, merchant_id: MerchantId, wanted: EventFilter, *, is_newest_first: bool = False
) -> AsyncIterator[list[events.Event]]:
    """Yields pages of the events that are wanted; the status is not looked at."""
    last = make_timed_id(wanted.since, "")
    end = make_timed_id(wanted.until, "") if wanted.until is not None else events.AFTER_ALL
    while page := await events.list_events(
        app.database, merchant_id, last, end, _PAGE, is_newest_first=is_newest_first
    ):
        last, end = (last, page[-1].id) if is_newest_first else (page[-1].id, end)
        yield [event for event in page if wanted.has(event)]


class SentEvent(msgspec.Struct, frozen=True):
    """An event and its deliveries to the endpoints of its merchant."""

    event: events.Event
    deliveries: tuple[Delivery, ...]

    @property
    def statuses(self) -> tuple[str, ...]:
        return tuple(sorted({each.state.name.lower() for each in self.deliveries})) or (NEVER,)


async def list_sent(app: App, merchant_id: MerchantId, wanted: EventFilter, limit: int) -> list[SentEvent]:
    """Lists the newest events that are wanted, newest first; one delivery with the status is enough."""
    found: list[SentEvent] = []
    async for page in walk_events(app, merchant_id, wanted, is_newest_first=True):
        for event in page:
            sent = await get_sent(app, event)
            if wanted.status is None or wanted.status in sent.statuses:
                found.append(sent)
            if len(found) == limit:
                return found
    return found


async def list_delivered(
    app: App, webhook: Webhook, wanted: EventFilter, before: str, limit: int
) -> tuple[list[tuple[events.Event, str]], str]:
    """Lists the newest events that were queued for an endpoint, with the states of their deliveries.

    before: the id of an event, to go on from; empty for the newest. Returns the id to go on from, empty at the end.
    """
    found: list[tuple[events.Event, str]] = []
    until = make_timed_id(wanted.until, "") if wanted.until is not None else events.AFTER_ALL
    end = min(before or until, until)
    first = make_timed_id(wanted.since, "")
    for _ in range(_PAGES_SCANNED_MAX):
        page = await events.list_events(app.database, webhook.merchant_id, first, end, _PAGE, is_newest_first=True)
        states = await deliveries.list_states(app.database, webhook, [each.id for each in page if wanted.has(each)])
        for event in page:
            end = event.id
            if event.id in states and wanted.status in (None, states[event.id]):
                found.append((event, states[event.id]))
            if len(found) == limit:
                return found, end
        if len(page) < _PAGE:
            return found, ""
    return found, end


async def get_sent(app: App, event: events.Event) -> SentEvent:
    found = await deliveries.list_deliveries(app.database, event.merchant_id, event.subject_id, event.id)
    return SentEvent(event, tuple(found))


async def list_receivers(app: App, event: events.Event) -> list[Webhook]:
    """Lists the endpoints for which events are kept and that want this one."""
    return [each for each in app.merchants.list_webhooks(event.merchant_id) if await _is_for(app, each, event)]


async def list_replayed(app: App, webhook: Webhook, wanted: EventFilter) -> list[str]:
    """Lists the ids of the events that a replay to an endpoint would deliver, so that they can be counted before."""
    found: list[str] = []
    async for page in walk_events(app, webhook.merchant_id, wanted):
        ids = [event.id for event in page if await _is_for(app, webhook, event)]
        states = await deliveries.list_states(app.database, webhook, ids)
        found += [each for each in ids if wanted.status in (None, states.get(each, NEVER))]
    return found


async def _is_for(app: App, webhook: Webhook, event: events.Event) -> bool:
    announcement = await events.find_announcement(app.database, event.merchant_id, event.id)
    if announcement is None:
        # Nobody was told of it then, so its channel is not known here; an endpoint of the merchant gets it.
        return webhook.channel_id is None and webhook.wants(event.topic, "", "", event.result_code)
    return webhook.wants(event.topic, announcement.channel_id, announcement.payment_type, event.result_code)


async def replay(app: App, webhook: Webhook, event_ids: list[str], *, requested_by: str, wanted: EventFilter) -> int:
    """Queues events for an endpoint again, marked as replays, and records who asked for it."""
    now = app.clock.now()
    record = store_replays.Replay(
        id=make_timed_id(now, make_id(app.random_bytes)),
        merchant_id=webhook.merchant_id,
        webhook_id=webhook.id,
        requested_at=now,
        requested_by=requested_by,
        filter=msgspec.json.encode(wanted).decode(),
        deliveries=len(event_ids),
    )
    writes = [*store_replays.insert_replay_writes(record), *deliveries.replay_writes(webhook, event_ids, now)]
    await app.database.write(writes, label="events replayed")
    return len(event_ids)
