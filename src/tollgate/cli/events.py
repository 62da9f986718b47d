"""The command events: lists events, shows what became of one, and delivers events again.

What is delivered again, and how that is recorded, is decided in `flows`.
"""

import getpass
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import click
import orjson

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.events import SUBSCRIPTIONS
from tollgate.catalog.limits import LIMITS
from tollgate.cli.endpoints import as_json_option, choose_merchant, get_webhook, merchant_option
from tollgate.cli.program import STORE_FLAGS, program, record, with_app, with_settings
from tollgate.flows import replays
from tollgate.flows.deliver import get_payload
from tollgate.operations.app import App
from tollgate.payments.webhooks import DeliveryAttempt, DeliveryState, Webhook, WebhookState
from tollgate.store import deliveries, merchants
from tollgate.store.events import Event, find_event
from tollgate.values import Instant, render_timestamp, to_instant

_PENDING = DeliveryState.PENDING.name.lower()
_SHOWN_BYTES = 400
"""So much of a receiver's answer is shown."""


@program.group()
def events() -> None:
    """Events, what became of their deliveries, and deliveries made again."""


def read_time(_context: click.Context, _option: click.Parameter, value: str | None) -> Instant | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter("write a time such as 2026-05-01 or 2026-05-01T12:30:00+02:00") from None
    return to_instant(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _read_types(_context: click.Context, _option: click.Parameter, values: Iterable[str]) -> tuple[str, ...]:
    words = tuple(word for value in values for word in value.split(",") if word)
    unknown = [word for word in words if word not in SUBSCRIPTIONS]
    if unknown:
        raise click.BadParameter(f"{', '.join(unknown)} is unknown: use {', '.join(sorted(SUBSCRIPTIONS))}")
    return words


def _with_filter(command: Any) -> Any:
    for option in (
        click.option("--status", type=click.Choice(replays.STATUSES), help="The status of the delivery."),
        click.option("--until", callback=read_time, metavar="TIME", help="Only events before this time."),
        click.option("--since", callback=read_time, metavar="TIME", help="Only events from this time on."),
        click.option(
            "--types", "--type", multiple=True, callback=_read_types, metavar="WORDS", help="Types or names of events."
        ),
    ):
        command = option(command)
    return command


def _make_filter(flags: dict[str, Any]) -> replays.EventFilter:
    types, since, until, status = (flags.pop(name) for name in ("types", "since", "until", "status"))
    return replays.EventFilter(since=since or 0, until=until, types=types, status=status)


@events.command("list")
@_with_filter
@merchant_option
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Print so many at most.")
@as_json_option
@with_settings(*STORE_FLAGS)
def show_events(merchant_id: str | None, limit: int, as_json: bool, **flags: Any) -> None:
    """Print the newest events of a merchant, newest first, each with the statuses of its deliveries."""
    wanted = _make_filter(flags)

    async def collect(app: App) -> list[replays.SentEvent]:
        return await replays.list_sent(app, await choose_merchant(app, merchant_id), wanted, limit)

    found = with_app(flags, collect)
    if as_json:
        click.echo(orjson.dumps([_render(each) for each in found]).decode())
        return
    for each in found:
        click.echo(_describe(each))


def _describe(sent: replays.SentEvent) -> str:
    event = sent.event
    statuses = ",".join(sent.statuses)
    return f"{event.id}  {render_timestamp(event.created_at)}  {event.topic}  {event.subject_id}  {statuses}"


def _render(sent: replays.SentEvent) -> dict[str, Any]:
    event = sent.event
    return {
        "id": event.id,
        "name": event.topic,
        "at": render_timestamp(event.created_at),
        "object": event.subject_id,
        "sequence": event.sequence,
        "code": event.result_code,
        "deliveries": [
            {
                "webhook": each.webhook_id,
                "state": each.state.name.lower(),
                "tries": each.tries,
                "status": each.status,
                "due": render_timestamp(each.due_at),
                "replay": each.is_replay,
            }
            for each in sent.deliveries
        ],
    }


def _render_attempt(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {
        "webhook": attempt.webhook_id or None,
        "at": render_timestamp(attempt.attempted_at),
        "status": attempt.status,
        "failure": attempt.failure or None,
        "latency_ms": attempt.latency_ms,
        "headers": orjson.loads(attempt.request_headers),
        "answer": attempt.answer.decode("utf-8", "backslashreplace"),
        "replay": attempt.is_replay,
    }


@events.command("show")
@click.argument("event_id")
@as_json_option
@with_settings(*STORE_FLAGS)
def show_event(event_id: str, as_json: bool, **flags: Any) -> None:
    """Print an event: its payload, its deliveries, and every attempt with its answer."""

    async def collect(app: App) -> dict[str, Any]:
        event = await _get_event(app, event_id)
        attempts = await deliveries.list_attempts(app.database, event.merchant_id, event.id, LIMITS.attempts_shown_max)
        return {
            **_render(await replays.get_sent(app, event)),
            "payload": orjson.loads(await get_payload(app, event)),
            "attempts": [_render_attempt(each) for each in attempts],
        }

    shown = with_app(flags, collect)
    click.echo(orjson.dumps(shown).decode() if as_json else _describe_history(shown))


def _describe_history(shown: dict[str, Any]) -> str:
    lines = [f"{shown['name']}  {shown['id']}", f"at        {shown['at']}"]
    lines += [f"object    {shown['object']}, event {shown['sequence']} of it", f"code      {shown['code'] or '-'}", ""]
    lines.append(orjson.dumps(shown["payload"], option=orjson.OPT_INDENT_2).decode())
    for each in shown["deliveries"]:
        due = f", due {each['due']}" if each["state"] == _PENDING else ""
        lines += ["", f"delivery to {each['webhook']}: {each['state']} after {each['tries']} attempts{due}"]
    for each in shown["attempts"]:
        lines += ["", f"attempt {each['at']} to {each['webhook'] or 'the notification address'}"]
        lines[-1] += " (replay)" if each["replay"] else ""
        lines.append(f"  {each['failure'] or 'delivered'}; status {each['status'] or '-'}, {each['latency_ms']} ms")
        lines += [f"  > {name}: {value}" for name, value in each["headers"].items()]
        lines += [f"  < {line}" for line in each["answer"][:_SHOWN_BYTES].splitlines()]
    return "\n".join(lines)


async def _get_event(app: App, event_id: str) -> Event:
    for merchant in await merchants.list_merchants(app.database):
        found = await find_event(app.database, merchant.id, event_id)
        if found is not None:
            return found
    sys.exit(f"tollgate: no event {event_id}; see `tollgate events list`")


def _get_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a number that has no name.
        return f"user {os.getuid()}"


_by_option = click.option("--by", "requested_by", default=_get_user, help="Who asks for it, for the record.")


@events.command("resend")
@click.argument("event_id")
@click.option("--webhook", "webhook_id", help="Deliver to this endpoint only, whether it chose such events or not.")
@_by_option
@with_settings(*STORE_FLAGS)
def resend_event(event_id: str, webhook_id: str | None, requested_by: str, **flags: Any) -> None:
    """Deliver one event again, to one endpoint or to all that want it, marked as a replay."""

    async def queue(app: App) -> list[Webhook]:
        event = await _get_event(app, event_id)
        receivers = [await get_webhook(app, webhook_id)] if webhook_id else await replays.list_receivers(app, event)
        for each in receivers:
            if each.merchant_id != event.merchant_id:
                sys.exit(f"tollgate: webhook {each.id} belongs to another merchant than the event")
            wanted = replays.EventFilter(subject_id=event.subject_id, types=(event.topic,))
            await _record(app, each, 1, requested_by)
            await replays.replay(app, each, [event.id], requested_by=requested_by, wanted=wanted)
        return receivers

    receivers = with_app(flags, queue)
    if not receivers:
        sys.exit("tollgate: no webhook wants this event; name one with --webhook")
    for each in receivers:
        click.echo(f"queued for {each.id}  {each.url}")
        _warn_of_state(each)


@events.command("replay")
@click.option("--webhook", "webhook_id", required=True, help="The endpoint to deliver to.")
@_with_filter
@_by_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_settings(*STORE_FLAGS)
def replay_events(webhook_id: str, requested_by: str, yes: bool, **flags: Any) -> None:
    """Deliver all events again that an endpoint wants and that match; they are counted first."""
    wanted = _make_filter(flags)

    async def queue(app: App) -> int:
        receiver = await get_webhook(app, webhook_id)
        found = await replays.list_replayed(app, receiver, wanted)
        if found and not yes:
            click.confirm(f"replay {len(found)} events to {receiver.url}?", abort=True, err=True)
        _warn_of_state(receiver)
        if not found:
            return 0
        await _record(app, receiver, len(found), requested_by)
        return await replays.replay(app, receiver, found, requested_by=requested_by, wanted=wanted)

    click.echo(with_app(flags, queue))


async def _record(app: App, receiver: Webhook, count: int, requested_by: str) -> None:
    details = {"events": str(count), "by": requested_by}
    await record(app.database, app.keyring, AuditAction.EVENTS_REPLAYED, receiver.id, receiver.merchant_id, **details)


def _warn_of_state(receiver: Webhook) -> None:
    if receiver.state is not WebhookState.ACTIVE:
        state = receiver.state.name.lower()
        click.echo(f"note: the webhook is {state}, and gets events when it is active again", err=True)
