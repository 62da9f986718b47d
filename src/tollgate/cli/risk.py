"""The commands risk add, set, list and show for the rules, and block, allow, entries and remove for the lists.

What a rule may be is known in `catalog/risk_rows.py`.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.risk_rows import BLOCK_CODES, RISK_KINDS, TERM_SHAPES
from tollgate.cli.people import get_merchant
from tollgate.cli.program import STORE_FLAGS, program, record, with_app, with_settings
from tollgate.contract.risk_rules import read_rule, render_rule, render_terms
from tollgate.operations import risk_rules
from tollgate.operations.app import App
from tollgate.payments.risk import ListName, RiskOutcome, Rule, RuleMode
from tollgate.store import risk as store
from tollgate.store import risk_lists
from tollgate.values import DAY, MerchantId, make_id, render_timestamp

_Command = TypeVar("_Command", bound=Callable[..., Any])
_BY = "operator"


@program.group()
def risk() -> None:
    """Risk rules, and the block and allow lists."""


def _with_rule_flags(command: _Command) -> _Command:
    """Adds the options of a rule; those that were not given are None."""
    for term, (_, words) in reversed([*TERM_SHAPES.items()]):
        command = click.option(f"--{term}", default=None, help=f"Term: {words}.")(command)
    for name, words in (
        ("points", "Points that a hit adds to the score, 0 to 100."),
        ("code", "The result code, in place of that of the kind."),
        ("outcome", f"One of {', '.join(RiskOutcome)}."),
        ("mode", f"One of {', '.join(RuleMode)}; a new rule is in shadow."),
        ("channel", "Only payments of this entity id; without it, of all channels."),
        ("name", "A name for people."),
    ):
        command = click.option(f"--{name}", default=None, help=words)(command)
    return command


def _split(flags: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Returns what describes the rule, and what names the store."""
    store_flags = {name: flags.pop(name) for name in STORE_FLAGS}
    return {name: value for name, value in flags.items() if value is not None}, store_flags


def _run(store_flags: dict[str, Any], merchant_id: str, work: Callable[[App, MerchantId], Awaitable[None]]) -> None:
    async def run(app: App) -> None:
        await work(app, (await get_merchant(app.database, merchant_id)).id)

    with_app(store_flags, run)


@risk.command("add")
@click.argument("merchant_id")
@click.option("--kind", required=True, help=f"One of {', '.join(RISK_KINDS)}.")
@_with_rule_flags
@with_settings(*STORE_FLAGS)
def add_rule(merchant_id: str, **flags: Any) -> None:
    """Add a rule, in shadow if no mode is given, and print its id."""
    sent, store_flags = _split(flags)

    async def add(app: App, merchant: MerchantId) -> None:
        new_id, now = make_id(), app.clock.now()
        read_rule(sent, merchant_id=merchant, rule_id=new_id, version=1, by=_BY, now=now)
        await record(app.database, app.keyring, AuditAction.RISK_RULE_ADDED, new_id, merchant, **sent)
        await risk_rules.add_rule(app.database, merchant, sent, by=_BY, now=now, new_id=new_id)
        click.echo(new_id)

    _run(store_flags, merchant_id, add)


@risk.command("set")
@click.argument("merchant_id")
@click.argument("rule_id")
@_with_rule_flags
@with_settings(*STORE_FLAGS)
def set_rule(merchant_id: str, rule_id: str, **flags: Any) -> None:
    """Write a new version of a rule, and print its number; earlier versions stay as they are."""
    sent, store_flags = _split(flags)

    async def change(app: App, merchant: MerchantId) -> None:
        newest = await _get_newest(app, merchant, rule_id)
        if not sent:
            raise click.UsageError("say what to change")
        await record(app.database, app.keyring, AuditAction.RISK_RULE_CHANGED, newest.id, merchant, **sent)
        now = app.clock.now()
        changed = await risk_rules.change_rule(app.database, merchant, newest.id, sent, by=_BY, now=now)
        click.echo(changed.version)

    _run(store_flags, merchant_id, change)


async def _get_newest(app: App, merchant_id: MerchantId, rule_id: str) -> Rule:
    versions = await store.list_versions(app.database, merchant_id, rule_id)
    if not versions:
        sys.exit(f"tollgate: no rule {rule_id}")
    return versions[-1]


@risk.command("list")
@click.argument("merchant_id")
@with_settings(*STORE_FLAGS)
def show_rules(merchant_id: str, **flags: Any) -> None:
    """Print one line for each rule, as its newest version is."""

    async def show(app: App, merchant: MerchantId) -> None:
        for rule in await store.list_rules(app.database, merchant):
            terms = " ".join(f"{name}={value}" for name, value in render_terms(rule).items())
            code = f" {rule.code}" if rule.code else ""
            click.echo(
                f"{rule.id}  version {rule.version}  {rule.mode}  {rule.kind}  {terms}  "
                f"{rule.outcome}{code}  {rule.points} points  {rule.channel_id or 'all channels'}  {rule.name}"
            )

    _run(flags, merchant_id, show)


@risk.command("show")
@click.argument("merchant_id")
@click.argument("rule_id")
@with_settings(*STORE_FLAGS)
def show_rule(merchant_id: str, rule_id: str, **flags: Any) -> None:
    """Print all versions of a rule, the newest last."""

    async def show(app: App, merchant: MerchantId) -> None:
        await _get_newest(app, merchant, rule_id)
        for rule in await store.list_versions(app.database, merchant, rule_id):
            click.echo(f"version {rule.version}  {render_timestamp(rule.created_at)}  by {rule.created_by}")
            for name, value in render_rule(rule).items():
                click.echo(f"  {name} {value}")

    _run(flags, merchant_id, show)


def _add_list_command(name: ListName, words: str) -> None:
    @risk.command(name.value, help=words)
    @click.argument("merchant_id")
    @click.argument("attribute", metavar="ATTRIBUTE")
    @click.argument("value", required=False, default="")
    @click.option("--payment", default="", help="Take the value from this payment; a card is named in no other way.")
    @click.option("--days", type=click.IntRange(1, 3650), help="Forget it after so many days.")
    @click.option("--note", default="", help="The reason, for people.")
    @with_settings(*STORE_FLAGS)
    def put(
        merchant_id: str, attribute: str, value: str, payment: str, days: int | None, note: str, **flags: Any
    ) -> None:
        sent = {"list": name.value, "attribute": attribute, "value": value, "payment": payment, "note": note}

        async def add(app: App, merchant: MerchantId) -> None:
            new_id, now = make_id(), app.clock.now()
            # The value itself is in no log.
            details = {"list": name.value, "attribute": attribute, "payment": payment, "note": note}
            await record(app.database, app.keyring, AuditAction.RISK_LIST_CHANGED, new_id, merchant, **details)
            ends_at = None if days is None else now + days * DAY
            entry = await risk_rules.add_entry(
                app.database, app.keyring, merchant, sent, by=_BY, now=now, new_id=new_id, ends_at=ends_at
            )
            click.echo(entry.id)

        _run(flags, merchant_id, add)


_ATTRIBUTES = ", ".join(BLOCK_CODES)
_add_list_command(ListName.BLOCK, f"Refuse payments with a value, and print the id of the entry: {_ATTRIBUTES}.")
_add_list_command(ListName.ALLOW, f"Let no rule decide about payments with a value: {_ATTRIBUTES}.")


@risk.command("entries")
@click.argument("merchant_id")
@with_settings(*STORE_FLAGS)
def show_entries(merchant_id: str, **flags: Any) -> None:
    """Print one line for each entry of the lists, with its value masked."""

    async def show(app: App, merchant: MerchantId) -> None:
        now = app.clock.now()
        for entry in await risk_lists.list_entries(app.database, merchant):
            end = "" if entry.ends_at is None else f"  until {render_timestamp(entry.ends_at)}"
            ended = " (ended)" if entry.ends_at is not None and entry.ends_at <= now else ""
            click.echo(f"{entry.id}  {entry.list}  {entry.attribute}  {entry.shown}{end}{ended}  {entry.note}".rstrip())

    _run(flags, merchant_id, show)


@risk.command("remove")
@click.argument("merchant_id")
@click.argument("entry_id")
@with_settings(*STORE_FLAGS)
def remove_entry(merchant_id: str, entry_id: str, **flags: Any) -> None:
    """Remove an entry from its list."""

    async def remove(app: App, merchant: MerchantId) -> None:
        await record(app.database, app.keyring, AuditAction.RISK_LIST_CHANGED, entry_id, merchant, removed="true")
        await risk_rules.remove_entry(app.database, merchant, entry_id)

    _run(flags, merchant_id, remove)
