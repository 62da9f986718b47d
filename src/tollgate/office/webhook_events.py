"""The events of an endpoint: what became of their deliveries, every attempt, and deliveries made again.

How events are delivered is decided in `flows`.
"""

from tollgate.catalog import audit_actions, events, limits
from tollgate.flows import replays
from tollgate.office import visits, webhooks
from tollgate.payments.webhooks import DeliveryState
from tollgate.store import deliveries
from tollgate.store.events import find_event
from tollgate.values import DAY
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_STATUSES = tuple(state.name.lower() for state in DeliveryState)
_TONES = {"delivered": "good", "pending": "open", "failed": "bad"}
_FILTERS = ("types", "status", "since", "until")
_ANSWER_SHOWN = 2000


def _read_filter(visit: visits.Visit) -> replays.EventFilter:
    status, word = visit.find("status"), visit.find("types")
    if status and status not in (*_STATUSES, replays.NEVER):
        raise visits.refuse_field("status", f"must be one of [{', '.join((*_STATUSES, replays.NEVER))}]")
    if word and word not in events.SUBSCRIPTIONS:
        raise visits.refuse_field("types", f"must be one of [{', '.join(sorted(events.SUBSCRIPTIONS))}]")
    until = visits.read_day("until", visit.find("until"))
    return replays.EventFilter(
        since=visits.read_day("since", visit.find("since")) or 0,
        until=None if until is None else until + DAY,
        types=(word,) if word else (),
        status=status or None,
    )


@ROUTES.add("GET", f"{webhooks.PATH}/{{id}}/events", webhooks.MAY)
async def show_events(visit: visits.Visit) -> Reply:
    """Lists the events that were queued for an endpoint, newest first."""
    webhook = await webhooks.get_webhook(visit, visit.names[0])
    rows, after = await replays.list_delivered(
        visit.app, webhook, _read_filter(visit), visit.find("before"), limits.LIMITS.office_page
    )
    return visit.render(
        "webhook_events.html",
        title="Events",
        webhook=webhook,
        rows=rows,
        after=after,
        filters={name: visit.find(name) for name in _FILTERS},
        statuses=_STATUSES,
        types=sorted(events.SUBSCRIPTIONS),
        tones=_TONES,
    )


@ROUTES.add("POST", f"{webhooks.PATH}/{{id}}/replay", webhooks.MAY)
async def submit_replay(visit: visits.Visit) -> Reply:
    """Counts the events of a filter that the endpoint wants, and delivers them again after the user confirmed."""
    webhook, wanted = await webhooks.get_webhook(visit, visit.names[0]), _read_filter(visit)
    found = await replays.list_replayed(visit.app, webhook, wanted)
    back = f"{visit.base}/webhooks/{webhook.id}/events"
    if not found:
        return visit.go(back, "No event matches.")
    if visit.find("count") != str(len(found)):
        return visit.render(
            "webhook_replay.html",
            title="Replay events",
            webhook=webhook,
            count=len(found),
            filters={name: visit.find(name) for name in _FILTERS},
        )
    shown = {name: visit.find(name) for name in _FILTERS if visit.find(name)}
    await visit.record(audit_actions.AuditAction.EVENTS_REPLAYED, webhook.id, events=str(len(found)), **shown)
    await replays.replay(visit.app, webhook, found, requested_by=visit.user.name, wanted=wanted)
    return visit.go(back, f"{len(found)} events are delivered again.")


@ROUTES.add("GET", f"{webhooks.PATH}/{{id}}/events/{{event}}", webhooks.MAY)
async def show_event(visit: visits.Visit) -> Reply:
    """Shows the delivery of an event to an endpoint, with every attempt and its answer."""
    webhook = await webhooks.get_webhook(visit, visit.names[0])
    db, merchant_id = visit.app.database, webhook.merchant_id
    event = await find_event(db, merchant_id, visit.names[1])
    if event is None:
        raise visits.make_not_found("event")
    delivery = await deliveries.find_delivery(db, merchant_id, webhook.id, event.subject_id, event.id)
    if delivery is None:
        raise visits.make_not_found("delivery")
    found = await deliveries.list_attempts(db, merchant_id, event.id, limits.LIMITS.attempts_shown_max)
    attempts = [
        (each, each.answer[:_ANSWER_SHOWN].decode("utf-8", "backslashreplace"))
        for each in reversed(found)
        if each.webhook_id == webhook.id
    ]
    return visit.render(
        "webhook_event.html",
        title=event.topic,
        webhook=webhook,
        event=event,
        delivery=delivery,
        state=delivery.state.name.lower(),
        attempts=attempts,
        tones=_TONES,
    )


@ROUTES.add("POST", f"{webhooks.PATH}/{{id}}/events/{{event}}/replay", webhooks.MAY)
async def submit_event_replay(visit: visits.Visit) -> Reply:
    """Delivers one event again."""
    webhook = await webhooks.get_webhook(visit, visit.names[0])
    event = await find_event(visit.app.database, webhook.merchant_id, visit.names[1])
    sent = None if event is None else await replays.get_sent(visit.app, event)
    if event is None or sent is None or webhook.id not in {each.webhook_id for each in sent.deliveries}:
        raise visits.make_not_found("delivery")
    wanted = replays.EventFilter(subject_id=event.subject_id, types=(event.topic,))
    await visit.record(audit_actions.AuditAction.EVENTS_REPLAYED, webhook.id, event=event.id)
    await replays.replay(visit.app, webhook, [event.id], requested_by=visit.user.name, wanted=wanted)
    return visit.go(f"{visit.base}/webhooks/{webhook.id}/events/{event.id}", "The event is delivered again.")
