"""The commands account, for the acquirer accounts of channels beside their first one, and route, which explains and
tries the choice among them.

What an account may have, and how one is chosen, is decided elsewhere.
"""

import sys
from collections.abc import Callable
from typing import Any, TextIO

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.limits import LIMITS
from tollgate.cli.acquirers import put_secret
from tollgate.cli.program import STORE_FLAGS, program, record, with_app, with_settings, with_store
from tollgate.config import Settings
from tollgate.contract.channels import hide_login
from tollgate.contract.route_proposals import read_proposal
from tollgate.flows import route_trials
from tollgate.operations import acquirer_accounts
from tollgate.operations.app import App
from tollgate.operations.route_trials import Sums, Trial
from tollgate.payments.merchants import ACCOUNT_FLAGS, IDENTITY_FLAGS, AcquirerTerms, Channel, FurtherAccount
from tollgate.payments.routing import PER_WHOLE, render_considered
from tollgate.store import merchants
from tollgate.store.database import Database

_FILE_LENGTH_MAX = 100_000


@program.group()
def account() -> None:
    """Acquirer accounts of channels beside their first one, which `channel set` describes."""


@program.group()
def route() -> None:
    """The choice among the acquirer accounts of a channel."""


def _with_flags(*, is_new: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the flags of an account; one that exists keeps what its payments are known by."""

    def add_flags(command: Callable[..., Any]) -> Callable[..., Any]:
        for flag in reversed(ACCOUNT_FLAGS):
            if is_new or flag.parameter not in IDENTITY_FLAGS:
                command = click.option(flag.names, metavar="TEXT", default=None, help=flag.text)(command)
        return command

    return add_flags


def _split(flags: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Returns the settings that were given, and the flags that name the store."""
    store = {name: flags.pop(name) for name in STORE_FLAGS}
    return {name: value for name, value in flags.items() if value is not None}, store


def _get_account(app: App, account_id: str) -> FurtherAccount:
    found = app.merchants.find_further_account(account_id)
    if found is None:
        sys.exit(f"tollgate: no account {account_id} beside the first one of a channel")
    return found


@account.command("add")
@click.argument("entity_id")
@click.argument("name")
@_with_flags(is_new=True)
@with_settings(*STORE_FLAGS)
def add_account(entity_id: str, name: str, **flags: Any) -> None:
    """Add an acquirer account to a channel and print its id."""
    sent, store = _split(flags)

    async def add(app: App) -> str:
        channel = app.merchants.find_channel(entity_id)
        if channel is None:
            sys.exit(f"tollgate: no channel {entity_id}")
        told = {each: hide_login(text) for each, text in sent.items()}
        action = AuditAction.ACQUIRER_ACCOUNT_ADDED
        await record(app.database, app.keyring, action, channel.id, channel.merchant_id, name=name, **told)
        return (await acquirer_accounts.add_account(app, channel, {"name": name, **sent})).id

    click.echo(with_app(store, add))


@account.command("set")
@click.argument("account_id")
@click.option("--name", help="Its name, for people.")
@click.option("--reopen", is_flag=True, help="Take new payments again.")
@_with_flags(is_new=False)
@with_settings(*STORE_FLAGS)
def set_account(account_id: str, *, reopen: bool, **flags: Any) -> None:
    """Change the name, the terms and the costs of an acquirer account."""
    sent, store = _split(flags)

    async def change(app: App) -> None:
        found = _get_account(app, account_id)
        told = {**sent, **({"reopen": "true"} if reopen else {})}
        await record(
            app.database, app.keyring, AuditAction.ACQUIRER_ACCOUNT_CHANGED, found.id, found.merchant_id, **told
        )
        changed = await acquirer_accounts.change_account(app, found, sent)
        if reopen:
            await acquirer_accounts.reopen_account(app, changed)

    with_app(store, change)


@account.command("close")
@click.argument("account_id")
@with_settings(*STORE_FLAGS)
def close_account(account_id: str, **flags: Any) -> None:
    """Close an acquirer account for new payments; follow-ups of those that it has still reach it."""

    async def close(app: App) -> None:
        found = _get_account(app, account_id)
        await record(
            app.database, app.keyring, AuditAction.ACQUIRER_ACCOUNT_CHANGED, found.id, found.merchant_id, close="true"
        )
        await acquirer_accounts.close_account(app, found)

    with_app(flags, close)


@account.command("list")
@click.option("--channel", "entity_id", default="", help="Only those of this channel.")
@with_settings(*STORE_FLAGS)
def show_accounts(entity_id: str, **flags: Any) -> None:
    """Print one line for each acquirer account of each channel, the first one too."""

    async def read(database: Database, _settings: Settings) -> list[str]:
        further = await merchants.list_accounts(database)
        lines = []
        for channel in await merchants.list_channels(database):
            if entity_id in ("", channel.id):
                lines.append(_describe(channel, channel.name, is_closed=channel.is_closed))
                own = [each for each in further if each.channel_id == channel.id]
                lines += [_describe(each.apply_to(channel), each.name, is_closed=each.is_closed) for each in own]
        return lines

    for line in with_store(flags, read):
        click.echo(line)


def _describe(view: Channel, name: str, *, is_closed: bool) -> str:
    terms = view.acquirer or AcquirerTerms()
    traits = [
        terms.connector.value,
        f"priority {terms.priority}",
        f"weight {terms.weight}",
        f"cost {terms.cost_fixed} + {terms.cost_rate / 100:g} %",
        *([f"test {view.test_url}"] if view.test_url else []),
        *([f"live {view.live_url}"] if view.live_url else []),
        *(["closed"] if is_closed else []),
    ]
    return f"{view.first_account_id}  channel {view.id}  {name}  ({', '.join(traits)})"


@account.command("secret")
@click.argument("account_id")
@click.argument("name")
@click.option("--remove", is_flag=True, help="Forget the secret.")
@with_settings(*STORE_FLAGS)
def set_account_secret(account_id: str, name: str, *, remove: bool, **flags: Any) -> None:
    """Read a secret of an acquirer account from standard input and store it encrypted."""

    async def put(database: Database, process: Settings) -> None:
        channels = {each.id: each for each in await merchants.list_channels(database)}
        views = [each.apply_to(channels[each.channel_id]) for each in await merchants.list_accounts(database)]
        found = next((each for each in (*views, *channels.values()) if each.first_account_id == account_id), None)
        if found is None:
            sys.exit(f"tollgate: no account {account_id}")
        await put_secret(database, process, found, name, remove=remove)

    with_store(flags, put)


@route.command("explain")
@click.argument("payment_id")
@with_settings(*STORE_FLAGS)
def explain(payment_id: str, **flags: Any) -> None:
    """Print the acquirer accounts that were considered for a payment, each with its score and why it was not chosen."""

    async def read(app: App) -> list[str]:
        payment = await route_trials.get_payment(app, payment_id)
        channel = app.merchants.get_channel(payment.channel_id)
        names, used = route_trials.list_names(app, channel), payment.account_id or payment.channel_id
        if not payment.routing:
            return [f"{used}  {names.get(used, 'an earlier account')}  had no alternative"]
        return [
            f"{'*' if each.account_id == used else ' '} {each.account_id}  "
            f"{names.get(each.account_id, 'an earlier account')}  {render_considered(each)}"
            for each in payment.routing
        ]

    for line in with_app(flags, read):
        click.echo(line)


@route.command("try")
@click.argument("file", type=click.File())
@click.option(
    "--last",
    type=click.IntRange(1, LIMITS.routing_trial_max),
    default=1000,
    show_default=True,
    help="The number of payments to try it against.",
)
@with_settings(*STORE_FLAGS)
def try_file(file: TextIO, last: int, **flags: Any) -> None:
    """Try a proposed set of accounts and a strategy, from a TOML file, against the last payments of its channel.

    Prints how many would have gone elsewhere, and what that would have cost or won. Nothing is changed.
    """

    async def run(app: App) -> Trial:
        try:
            proposal = read_proposal(file.read(_FILE_LENGTH_MAX))
        except ValueError as fault:
            raise click.UsageError(f"{file.name}: {fault}") from None
        return await route_trials.try_proposal(app, proposal, last)

    trial = with_app(flags, run)
    if not trial.sums:
        click.echo("no payment of this channel went to an acquirer account yet")
    for (used, chosen), count in sorted(trial.moves.items()):
        click.echo(f"{used} -> {chosen}  {count} payments")
    for currency, sums in sorted(trial.sums.items()):
        click.echo(_render_sums(currency, sums))


def _render_sums(currency: str, sums: Sums) -> str:
    approved, proposed = sums.approved / PER_WHOLE, sums.approved_proposed / PER_WHOLE
    more = (sums.cost_proposed - sums.cost) / 100
    guessed = f" ({sums.unknown} to an account without experience)" if sums.unknown else ""
    return (
        f"{currency}: {sums.payments} payments, {sums.elsewhere} elsewhere{guessed}; "
        f"approved {approved:.0f}, expected {proposed:.1f} ({proposed - approved:+.1f}); "
        f"cost {sums.cost / 100:.2f}, expected {sums.cost_proposed / 100:.2f} ({more:+.2f})"
    )
