"""The command archive, which moves old months out of the database. How that is done is decided in `flows`."""

import sys
from typing import Any

import click
import msgspec

from tollgate.cli.program import STORE_FLAGS, program, with_app, with_settings
from tollgate.flows.archive import Moved, archive_months
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.vault.archive_files import ArchiveError

ACTOR = Actor(name="tollgate archive")


@program.command()
@click.option("--before", required=True, metavar="YYYY-MM", help="Move the months before this one.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
@with_settings(*STORE_FLAGS, "archive")
def archive(before: str, quiet: bool, as_json: bool, **flags: Any) -> None:
    """Move old months of payments to compressed files, and remove them from the database.

    A payment goes with its whole chain, its ledger entries, events and deliveries, in the month in which the last of
    them happened; what is still open stays. It may run beside servers. If it is interrupted, run it again.
    """

    async def run(app: App) -> list[Moved]:
        if app.archive is None:
            raise click.UsageError("--archive (or TOLLGATE_ARCHIVE) must name the folder for archived months")
        return await archive_months(app, app.archive, before, ACTOR, _ignore if quiet else _show)

    try:
        moved = with_app(flags, run)
    except ArchiveError as fault:
        sys.exit(f"tollgate: {fault}")
    except OSError as fault:
        sys.exit(f"tollgate: cannot write {fault.filename or 'the archive'}: {fault.strerror}; nothing was removed")
    click.echo(msgspec.json.encode(moved).decode() if as_json else render_moved(moved))


def _show(text: str) -> None:
    click.echo(text, err=True)


def _ignore(_text: str) -> None:
    pass


def render_moved(moved: list[Moved]) -> str:
    lines = []
    for each in moved:
        if each.payments:
            lines.append(
                f"{each.month}.{each.part}: {each.payments} payments in {each.chains} chains moved, {each.bytes} bytes"
            )
        lines += [f"{each.month}: {count} chains stay: {reason}" for reason, count in sorted(each.kept.items())]
    return "\n".join(lines) or "there is nothing to move"
