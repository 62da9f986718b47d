"""The command webhook, which manages the endpoints that events are delivered to.

Changes reach running servers within a second. What a term may be is decided in `contract`.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click
import orjson

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.program import SENDING_FLAGS, STORE_FLAGS, program, record, spell_option, with_app, with_settings
from tollgate.contract import webhooks as contract
from tollgate.contract.fields import Pairs
from tollgate.flows import webhooks
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel
from tollgate.payments.webhooks import Webhook, WebhookState
from tollgate.store import merchants
from tollgate.store import webhooks as store_webhooks
from tollgate.store.deliveries import list_backlogs
from tollgate.values import HOUR, SECOND, Instant, MerchantId, render_timestamp
from tollgate.vault.webhooks import show_secrets

_Command = Callable[..., Any]


@program.group()
def webhook() -> None:
    """Endpoints that events are delivered to."""


as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
merchant_option = click.option(
    "--merchant", "merchant_id", help="The merchant; may be left out on a test host, or if there is only one."
)


def with_terms(rows: Iterable[contract.Term]) -> Callable[[_Command], _Command]:
    """Adds an option for each term; the values arrive by its name, as texts, and are checked as those of requests."""

    def add_options(command: _Command) -> _Command:
        for row in reversed([*rows]):
            option = spell_option(row.name)
            is_boolean = row.notation == "BOOLEAN"
            command = click.option(
                f"{option}/--un{row.name}" if is_boolean else option,
                row.name,
                default=None,
                multiple=row.is_list,
                metavar=None if is_boolean else row.notation,
                help=row.text,
            )(command)
        return command

    return add_options


def take_pairs(flags: dict[str, Any], rows: Iterable[contract.Term]) -> Pairs:
    """Takes the terms out of the flags, in the form of a request."""
    pairs: Pairs = []
    for row in rows:
        given = flags.pop(row.name)
        for value in given if row.is_list else [given] * (given is not None):
            pairs.append((row.name, str(value).lower() if isinstance(value, bool) else value))
    return pairs


async def choose_merchant(app: App, merchant_id: str | None, channel: Channel | None = None) -> MerchantId:
    """Returns the merchant that was named, or the only one. On a test host that is the sandbox merchant, the oldest."""
    if merchant_id is None and channel is not None:
        return channel.merchant_id
    known = [row.id for row in await merchants.list_merchants(app.database)]
    if merchant_id is None and known and (len(known) == 1 or not app.is_live):
        return known[0]
    if merchant_id is None:
        sys.exit(
            f"tollgate: --merchant is needed, because there are {len(known)} merchants; see `tollgate merchant list`"
        )
    if merchant_id not in known:
        sys.exit(f"tollgate: no merchant {merchant_id}")
    if channel is not None and channel.merchant_id != merchant_id:
        sys.exit(f"tollgate: entity {channel.id} is not one of merchant {merchant_id}")
    return MerchantId(merchant_id)


def _choose_channel(app: App, entity_id: str | None) -> Channel | None:
    if entity_id is None:
        return None
    channel = app.merchants.find_channel(entity_id)
    if channel is None:
        sys.exit(f"tollgate: no channel {entity_id}")
    return channel


async def get_webhook(app: App, webhook_id: str) -> Webhook:
    found = next((each for each in await store_webhooks.list_all_webhooks(app.database) if each.id == webhook_id), None)
    if found is None:
        sys.exit(f"tollgate: no webhook {webhook_id}; see `tollgate webhook list`")
    return found


async def _record(app: App, webhook_id: str, merchant_id: MerchantId, **details: str) -> None:
    await record(app.database, app.keyring, AuditAction.WEBHOOK_CHANGED, webhook_id, merchant_id, **details)


def _show_new(new: webhooks.NewWebhook, *, as_json: bool) -> None:
    shown = contract.render_secrets(new.webhook, *show_secrets(new.secrets))
    if as_json:
        click.echo(orjson.dumps(shown).decode())
        return
    for name, value in shown.items():
        click.echo(f"{name:<14}{value}")
    click.echo("\nThe secrets are not shown again.", err=True)


_NEW_TERMS = (*contract.TERMS.values(), contract.SECRET_TERM)


@webhook.command("add")
@with_terms(_NEW_TERMS)
@merchant_option
@click.option("--entity", "entity_id", help="Deliver the events of this channel only.")
@as_json_option
@with_settings(*SENDING_FLAGS)
def add_webhook(merchant_id: str | None, entity_id: str | None, as_json: bool, **flags: Any) -> None:
    """Add an endpoint, and print its secrets this once. It is inactive until `tollgate webhook test` succeeds."""
    pairs = take_pairs(flags, _NEW_TERMS)

    async def add(app: App) -> webhooks.NewWebhook:
        terms = contract.read_terms(pairs, is_new=True)
        channel = _choose_channel(app, entity_id)
        owner = await choose_merchant(app, merchant_id, channel)
        await _record(app, "", owner, change="added", url=terms["url"])
        return await webhooks.add_webhook(app, owner, **terms, channel_id=channel.id if channel else None)

    _show_new(with_app(flags, add), as_json=as_json)


@webhook.command("list")
@click.option("--merchant", "merchant_id", help="List those of this merchant only.")
@as_json_option
@with_settings(*STORE_FLAGS)
def show_webhooks(merchant_id: str | None, as_json: bool, **flags: Any) -> None:
    """Print each endpoint with its state and its pending deliveries, without secrets."""

    async def collect(app: App) -> list[_Row]:
        found = await store_webhooks.list_all_webhooks(app.database)
        chosen = [each for each in found if merchant_id in (None, each.merchant_id)]
        backlogs: dict[str, tuple[int, Instant]] = {}
        for owner in {each.merchant_id for each in chosen}:
            backlogs |= await list_backlogs(app.database, owner)
        return [_Row(each, *backlogs.get(each.id, (0, None))) for each in chosen]

    rows = with_app(flags, collect)
    if as_json:
        click.echo(orjson.dumps([row.render() for row in rows]).decode())
        return
    for row in rows:
        click.echo(row.describe())


class _Row(NamedTuple):
    webhook: Webhook
    pending: int
    oldest: Instant | None

    def render(self) -> dict[str, Any]:
        backlog = contract.render_backlog(self.pending, self.oldest)
        return contract.render_webhook(self.webhook, merchant=self.webhook.merchant_id, **backlog)

    def describe(self) -> str:
        shown = self.webhook
        is_plain = shown.state is WebhookState.ACTIVE or not shown.reason
        state = shown.state.name.lower() + ("" if is_plain else f" ({shown.reason})")
        since = "" if self.oldest is None else f" since {render_timestamp(self.oldest)}"
        types = ",".join(shown.types) or "all types"
        return f"{shown.id}  {state}  {shown.url}  {types}  {shown.scheme}  {self.pending} pending{since}"


@webhook.command("set")
@click.argument("webhook_id")
@with_terms(contract.TERMS.values())
@with_settings(*SENDING_FLAGS)
def set_webhook(webhook_id: str, **flags: Any) -> None:
    """Change an endpoint. An empty list, as in `--types ""`, stands for everything.

    With another URL it is inactive until `tollgate webhook test` succeeds.
    """
    pairs = take_pairs(flags, contract.TERMS.values())
    if not pairs:
        raise click.UsageError("name at least one option to change")

    async def change(app: App) -> Webhook:
        terms = contract.read_terms(pairs, is_new=False)
        found = await get_webhook(app, webhook_id)
        if found.is_listener and "url" in terms:
            sys.exit(f"tollgate: webhook {webhook_id} is the listener of a command, which has no address")
        await _record(app, found.id, found.merchant_id, change="changed", terms=", ".join(terms))
        return await webhooks.change_webhook(app, found, **terms)

    changed = with_app(flags, change)
    click.echo(f"{changed.id}  {changed.state.name.lower()}")


@webhook.command("test")
@click.argument("webhook_id")
@with_settings(*SENDING_FLAGS)
def send_test(webhook_id: str, **flags: Any) -> None:
    """Send the test event. Ends with 0 if it was answered with 2xx, and with 1 and the reason otherwise."""

    async def send(app: App) -> tuple[str, Webhook]:
        found = await get_webhook(app, webhook_id)
        if found.is_listener:
            sys.exit(f"tollgate: webhook {webhook_id} is the listener of a command, which needs no test")
        await _record(app, found.id, found.merchant_id, change="tested")
        attempted = await webhooks.test_webhook(app, found)
        if attempted.failure:
            sys.exit(f"tollgate: the test event was not accepted: {attempted.failure}")
        return f"answered {attempted.status}", await get_webhook(app, webhook_id)

    answered, found = with_app(flags, send)
    click.echo(f"{answered}; the webhook is {found.state.name.lower()}")


@webhook.command("rotate")
@click.argument("webhook_id")
@with_terms(contract.ROTATION_TERMS)
@as_json_option
@with_settings(*STORE_FLAGS)
def rotate_webhook(webhook_id: str, as_json: bool, **flags: Any) -> None:
    """Make new secrets and print them this once. The present ones stay live for --overlap hours."""
    pairs = take_pairs(flags, contract.ROTATION_TERMS)

    async def rotate(app: App) -> webhooks.NewWebhook:
        overlap_hours, secret = contract.read_rotation(pairs)
        found = await get_webhook(app, webhook_id)
        await _record(app, found.id, found.merchant_id, change="secrets rotated", hours=str(overlap_hours))
        return await webhooks.rotate_webhook(app, found, overlap_hours * HOUR // SECOND, secret=secret)

    _show_new(with_app(flags, rotate), as_json=as_json)


def _move(webhook_id: str, flags: dict[str, Any], state: WebhookState, hint: str) -> None:
    async def move(app: App) -> None:
        found = await get_webhook(app, webhook_id)
        await _record(app, found.id, found.merchant_id, change=state.name.lower())
        if not await webhooks.move_webhook(app, found, state):
            sys.exit(f"tollgate: the webhook is {found.state.name.lower()}{hint}")

    with_app(flags, move)
    click.echo(f"{webhook_id}  {state.name.lower()}")


@webhook.command("pause")
@click.argument("webhook_id")
@with_settings(*STORE_FLAGS)
def pause_webhook(webhook_id: str, **flags: Any) -> None:
    """Stop deliveries to an endpoint; its events are kept for 30 days."""
    _move(webhook_id, flags, WebhookState.PAUSED, ", and only an active one can be paused")


@webhook.command("resume")
@click.argument("webhook_id")
@with_settings(*STORE_FLAGS)
def resume_webhook(webhook_id: str, **flags: Any) -> None:
    """Deliver to a paused endpoint again, beginning with what was kept."""
    hint = ": only a paused one can be resumed, and `tollgate webhook test` activates the others"
    _move(webhook_id, flags, WebhookState.ACTIVE, hint)


@webhook.command("remove")
@click.argument("webhook_id")
@with_settings(*STORE_FLAGS)
def remove_webhook(webhook_id: str, **flags: Any) -> None:
    """Remove an endpoint, and what was still to be delivered to it."""

    async def remove(app: App) -> None:
        found = await get_webhook(app, webhook_id)
        await _record(app, found.id, found.merchant_id, change="removed")
        await webhooks.remove_webhook(app, found)

    with_app(flags, remove)
    click.echo(f"{webhook_id}  removed")
