"""The timeline of a payment: what was asked, sent, decided, announced, booked and done by people, in order of time.

Everything is read from the store; messages and log lines are shown to those who may see them.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
import orjson

from tollgate.catalog import brands, limits, payment_types, permissions, results
from tollgate.connectors.masking import mask_text
from tollgate.contract.payment_text import list_proof
from tollgate.office import chains, visits
from tollgate.operations.journal import MESSAGE
from tollgate.operations.routes import find_address, find_view
from tollgate.payments import completion, webhooks
from tollgate.payments.ledger import Entry
from tollgate.payments.payment import Payment
from tollgate.payments.risk import Hit, RiskFinding
from tollgate.payments.routing import render_considered
from tollgate.store import audit_log, deliveries, events, journal, payments
from tollgate.store.journal import JournalRow
from tollgate.values import Instant
from tollgate.web.pages import showing


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the timeline."""

    at: Instant
    kind: str
    title: str
    facts: Mapping[str, str] = {}
    text: str = ""
    """The messages, for people to read."""


async def list_items(visit: visits.Visit, found: chains.Found) -> list[Item]:
    """Lists what happened to a payment, the earliest first."""
    items = [*_list_own(visit, found), *_list_archived(found)]
    sources = [_list_entries, _list_events, _list_audit]
    if visit.may(permissions.Permission.VIEW_MESSAGES, found.channel.id):
        sources.append(_list_journal)
    for source in sources:
        items += [item async for item in source(visit, found.payment)]
    return sorted(items, key=lambda item: item.at)


def _list_own(visit: visits.Visit, found: chains.Found) -> list[Item]:
    """Lists what the row of the payment itself says."""
    payment = found.payment
    request = {"ndc": payment.ndc, **({"refers to": payment.referenced_id} if payment.referenced_id else {})}
    title = (
        f"Request: {payment.payment_type} of {showing.show_amount(payment.money.hundredths, payment.money.currency)}"
    )
    items = [Item(at=payment.created_at, kind="request", title=title, facts=request)]
    if payment_types.PAYMENT_TYPES[payment.payment_type].role is not payment_types.Role.SYSTEM:
        sees_routing = visit.may(permissions.Permission.VIEW_ROUTING, found.channel.id)
        considered = {each.account_id: render_considered(each) for each in payment.routing if sees_routing}
        title = f"Route: {_describe_route(visit, found)}"
        items.append(Item(at=payment.created_at, kind="route", title=title, facts=considered))
    if payment.risk is not None and visit.may(permissions.Permission.VIEW_RISK, found.channel.id):
        items.append(_describe_risk(payment.created_at, payment.risk))
    if payment.completed_at is None:
        return items
    proof = list_proof(payment.details)
    if proof:
        items.append(Item(at=payment.completed_at, kind="3-D Secure", title="3-D Secure", facts=proof))
    result = results.RESULTS.get(payment.result_code)
    facts = {name: text for name, text in payment.details.items() if "." not in name and text}
    title = f"Result: {payment.result_code} {'' if result is None else result.description}"
    return [*items, Item(at=payment.completed_at, kind="result", title=title, facts=facts)]


def _list_archived(found: chains.Found) -> list[Item]:
    """Lists what was archived with the payment: its ledger entries, events and delivery attempts."""
    if found.archived is None:
        return []
    items = [_describe_entry(each) for each in found.archived.read_entries() if each.payment_id == found.payment.id]
    told = {each.id: each for each in found.archived.read_events() if each.subject_id == found.payment.id}
    items += [_describe_event(event) for event in told.values()]
    return items + [_describe_attempt(each) for each in found.archived.read_attempts() if each.event_id in told]


def _describe_risk(at: Instant, finding: RiskFinding) -> Item:
    outcome = finding.outcome.value.replace("_", " ")
    facts = dict(map(_describe_hit, finding.hits))
    return Item(at=at, kind="risk", title=f"Risk: score {finding.score}, {outcome}", facts=facts)


def _describe_hit(hit: Hit) -> tuple[str, str]:
    if hit.is_entry:
        return f"entry {hit.rule_id}", f"{hit.listed_on} list"
    outcome = hit.outcome.value.replace("_", " ")
    return f"rule {hit.rule_id}", f"version {hit.version}, {outcome}{', shadow' if hit.is_shadow else ''}"


def _describe_route(visit: visits.Visit, found: chains.Found) -> str:
    payment, channel = found.payment, found.channel
    protocol = brands.BRANDS[payment.brand].protocol if payment.brand in brands.BRANDS else None
    if protocol is not None and protocol.value == "sepa":
        return "files for the bank, written by this host"
    view = find_view(visit.app, channel, payment.account_id)
    if view is None:
        return "an acquirer account that the channel no longer has"
    address = find_address(payment.test_mode, view.test_url, view.live_url)
    where = address.rpartition("@")[2] if address else "the simulator" if not visit.app.is_live else "no acquirer"
    mode = payment.test_mode or "live"
    name = payment.connector or (protocol.value if protocol else payment.brand)
    account = f", account {view.first_account_id}" if payment.routing or payment.account_id else ""
    return f"{name} connector to {where} ({mode}){account}"


async def _list_entries(visit: visits.Visit, payment: Payment) -> AsyncIterator[Item]:
    for expected in completion.list_entries(payment):
        entry = await payments.ENTRIES.find(visit.app.database, payment.merchant_id, expected.id)
        if entry is not None:
            yield _describe_entry(entry)


def _describe_entry(entry: Entry) -> Item:
    amount = showing.show_amount(entry.amount, entry.currency)
    title = f"Ledger: {amount} from {entry.source} to {entry.target}"
    facts = {"seller": entry.seller_id} if entry.seller_id else {}
    return Item(at=entry.posted_at, kind="ledger", title=title, facts=facts)


async def _list_events(visit: visits.Visit, payment: Payment) -> AsyncIterator[Item]:
    app, merchant_id = visit.app, payment.merchant_id
    sent = await deliveries.list_deliveries_about(
        app.database, merchant_id, payment.id, limits.LIMITS.attempts_shown_max
    )
    ids = {delivery.event_id for delivery in sent}
    if payment.completed_at is not None:
        ids |= {payments.make_event(each).id for each in (payment, payments.recall_before_review(payment))}
    for event_id, found in (await events.list_payloads(app.database, merchant_id, sorted(ids))).items():
        yield _describe_event(found.event)
        for delivery in sent:
            if delivery.event_id == event_id:
                yield _describe_delivery(visit, delivery)
        for attempt in await deliveries.list_attempts(
            app.database, merchant_id, event_id, limits.LIMITS.attempts_shown_max
        ):
            yield _describe_attempt(attempt)


def _describe_event(event: events.Event) -> Item:
    return Item(at=event.created_at, kind="event", title=f"Event: {event.topic}", facts={"id": event.id})


def _describe_attempt(attempt: webhooks.DeliveryAttempt) -> Item:
    answer = f"HTTP {attempt.status}" if attempt.status is not None else attempt.failure
    facts = {"endpoint": attempt.webhook_id, "time": f"{attempt.latency_ms} ms"}
    facts |= {"failure": attempt.failure} if attempt.failure else {}
    facts |= {"replay": "yes"} if attempt.is_replay else {}
    return Item(at=attempt.attempted_at, kind="delivery", title=f"Delivery attempt: {answer}", facts=facts)


def _describe_delivery(visit: visits.Visit, delivery: webhooks.Delivery) -> Item:
    webhook = visit.app.merchants.find_webhook(delivery.merchant_id, delivery.webhook_id)
    # Only the host: the rest of an address may hold a key of the receiver.
    target = urlsplit(delivery.url or (webhook.url if webhook else "")).hostname or delivery.webhook_id
    tries = "1 try" if delivery.tries == 1 else f"{delivery.tries} tries"
    title = f"Delivery queued: {delivery.state.name.lower()} after {tries}"
    return Item(at=delivery.queued_at, kind="delivery", title=title, facts={"endpoint": target})


async def _list_audit(visit: visits.Visit, payment: Payment) -> AsyncIterator[Item]:
    # The audit log has the time of the wall clock, and a test host may have moved the time of payments.
    moved = visit.app.clock.now() - visit.app.clock.wall()
    found = await audit_log.list_entries_about(
        visit.app.database, payment.merchant_id, payment.id, limits.LIMITS.journal_shown
    )
    for entry in found:
        yield Item(at=entry.at + moved, kind="person", title=f"{entry.user_name}: {entry.action}", facts=entry.details)


async def _list_journal(visit: visits.Visit, payment: Payment) -> AsyncIterator[Item]:
    db, merchant_id, limit = visit.app.database, payment.merchant_id, limits.LIMITS.journal_shown
    rows = {row.id: row for row in await journal.list_messages(db, merchant_id, payment.id, limit)}
    rows |= {row.id: row for row in await journal.list_by_ndc(db, merchant_id, payment.ndc, limit)}
    if payment.registration_id:
        found = await journal.list_messages(db, merchant_id, payment.registration_id, limit)
        rows |= {row.id: row for row in found}
    for row in rows.values():
        # Follow-ups of a request share its ndc, and have their own pages.
        if row.payment_id in ("", payment.id, payment.registration_id):
            yield _describe_row(row)


def _describe_row(row: JournalRow) -> Item:
    facts: dict[str, Any] = orjson.loads(row.text)
    if row.kind != MESSAGE:
        shown = {name: str(value) for name, value in facts.items() if name != "event"}
        return Item(at=row.at, kind="log", title=f"Log: {facts.get('event', '')}", facts=shown)
    answer = f"HTTP {facts['status']}" if "status" in facts else facts.get("fault", "answered")
    text = f"{facts['path']}\n{_render(facts['request'])}\n\n{answer}"
    if facts.get("reply") is not None:
        text += f"\n{_render(facts['reply'])}"
    return Item(at=row.at, kind="message", title=f"{facts['label'].capitalize()}: {answer}", text=mask_text(text))


def _render(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
