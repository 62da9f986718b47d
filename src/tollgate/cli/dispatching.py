"""The command dispatch, which manages the rows by which requests that name a merchant get their channel.

Changes reach running servers within a second. What a condition may be is decided in `contract`.
"""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import click
import orjson

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.endpoints import as_json_option
from tollgate.cli.program import STORE_FLAGS, program, record, spell_option, with_app, with_settings
from tollgate.contract.dispatching import TERMS, read_conditions, render_conditions, render_row
from tollgate.flows import dispatching
from tollgate.operations.app import App
from tollgate.payments.dispatching import DispatchRow
from tollgate.store import merchants
from tollgate.values import make_id

_Command = Callable[..., Any]


@program.group()
def dispatch() -> None:
    """Rows that choose the channel of requests which name their merchant."""


def _with_conditions(command: _Command) -> _Command:
    for term in reversed(TERMS):
        command = click.option(spell_option(term.member), term.member, help=term.text)(command)
    return command


@dispatch.command("add")
@click.argument("entity_id")
@_with_conditions
@with_settings(*STORE_FLAGS)
def add_row(entity_id: str, **flags: Any) -> None:
    """Add a row to a channel, behind the other rows of its merchant, and print the row's id.

    A row without conditions takes everything.
    """
    given = {term.member: flags.pop(term.member) for term in TERMS}
    sent = {name: text for name, text in given.items() if text is not None}

    async def add(app: App) -> str:
        channel = app.merchants.find_channel(entity_id)
        if channel is None:
            sys.exit(f"tollgate: no channel {entity_id}")
        new_id, shown = make_id(), render_conditions(read_conditions(sent))
        await _record(app, AuditAction.DISPATCH_ROW_ADDED, new_id, channel.merchant_id, channel=channel.id, **shown)
        return (await dispatching.add_row(app.database, channel, sent, new_id=new_id)).id

    click.echo(with_app(flags, add))


@dispatch.command("list")
@click.option("--merchant", "merchant_id", help="List the rows of this merchant only.")
@as_json_option
@with_settings(*STORE_FLAGS)
def show_rows(merchant_id: str | None, as_json: bool, **flags: Any) -> None:
    """Print the rows in the order in which they are tried."""

    async def collect(app: App) -> list[dict[str, Any]]:
        places: Counter[str] = Counter()
        shown = []
        for row in await merchants.list_dispatch_rows(app.database):
            places[row.merchant_id] += 1
            shown.append({"merchant": row.merchant_id, **render_row(row, places[row.merchant_id])})
        return [each for each in shown if merchant_id in (None, each["merchant"])]

    rows = with_app(flags, collect)
    if as_json:
        click.echo(orjson.dumps(rows).decode())
        return
    for row in sorted(rows, key=lambda each: (each["merchant"], each["place"])):
        conditions = " ".join(f"{term.member}={row[term.member]}" for term in TERMS if term.member in row)
        click.echo(
            f"{row['place']:>3}  {row['id']}  merchant {row['merchant']}  channel {row['channel']}"
            f"  {conditions or 'takes everything'}"
        )


@dispatch.command("remove")
@click.argument("row_id")
@with_settings(*STORE_FLAGS)
def remove_row(row_id: str, **flags: Any) -> None:
    """Remove a row; a merchant without rows is not dispatched."""

    async def remove(app: App) -> None:
        row = await _get_row(app, row_id)
        await _record(app, AuditAction.DISPATCH_ROW_REMOVED, row.id, row.merchant_id, channel=row.channel_id)
        await dispatching.remove_row(app.database, row.merchant_id, row.id)

    with_app(flags, remove)


@dispatch.command("move")
@click.argument("row_id")
@click.argument("place", type=click.IntRange(min=1))
@with_settings(*STORE_FLAGS)
def move_row(row_id: str, place: int, **flags: Any) -> None:
    """Move a row to a place among those of its merchant; the first that fits a request counts."""

    async def move(app: App) -> None:
        row = await _get_row(app, row_id)
        await _record(app, AuditAction.DISPATCH_ROW_MOVED, row.id, row.merchant_id, place=str(place))
        await dispatching.move_row(app.database, row.merchant_id, row.id, place)

    with_app(flags, move)


async def _get_row(app: App, row_id: str) -> DispatchRow:
    found = next((row for row in await merchants.list_dispatch_rows(app.database) if row.id == row_id), None)
    if found is None:
        sys.exit(f"tollgate: no dispatch row {row_id}; see `tollgate dispatch list`")
    return found


async def _record(app: App, action: AuditAction, subject: str, merchant_id: str, **details: str) -> None:
    await record(app.database, app.keyring, action, subject, merchant_id, **details)
