"""The commands backup and restore. What is in a backup is decided in `store`, how it is made in `flows`."""

import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.auditing import FOUND, render_text, show_progress
from tollgate.cli.program import (
    STORE_FLAGS,
    make_data_folder,
    program,
    read_settings,
    record,
    with_settings,
    with_store,
)
from tollgate.config import Settings
from tollgate.flows import backups
from tollgate.flows.auditing import AuditReport
from tollgate.flows.verify import FINDINGS_MAX
from tollgate.flows.verify import verify as verify_store
from tollgate.store.database import Database
from tollgate.values import Refusal, SystemClock
from tollgate.vault.keyring import load_keyring

_Answer = TypeVar("_Answer")


async def _or_exit(work: Awaitable[_Answer]) -> _Answer:
    try:
        return await work
    except Refusal as refusal:
        sys.exit(f"tollgate: {refusal.detail}")


@program.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--rate", type=click.IntRange(min=1), metavar="ROWS", help="Read at most so many rows in a second.")
@with_settings(*STORE_FLAGS)
def backup(file: Path, rate: int | None, **flags: Any) -> None:
    """Write the whole store, as it is at one moment, to a new file; servers may run meanwhile.

    The file is encrypted, and opens with the keys of its day. No key is in it: back up the key file, and the archive of
    retired keys, at another place.
    """

    async def run(database: Database, settings: Settings) -> int:
        keyring, clock = load_keyring(settings.key_path), SystemClock()
        backups.refuse_taken(file)
        await record(database, keyring, AuditAction.BACKUP_MADE, file.name)
        return await backups.make_backup(database, keyring, file, clock.wall(), rows_per_s=rate)

    async def run_or_exit(database: Database, settings: Settings) -> int:
        return await _or_exit(run(database, settings))

    click.echo(f"{with_store(flags, run_or_exit)} rows are in {file}")


@program.command("restore")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@with_settings(*STORE_FLAGS, "archive")
def restore(file: Path, **flags: Any) -> None:
    """Fill a new or empty store from a backup, and verify it.

    It needs the key file of the store that was backed up, with the keys of that day. Start no server before it has
    ended. Archived months are verified in the folder of --archive. Ends with 0 where all is well, with 1 where
    something was found or refused.
    """
    settings = read_settings(flags)
    keyring = load_keyring(settings.key_path)
    if settings.uses_sqlite:
        make_data_folder(settings)
    rows = asyncio.run(_or_exit(backups.restore_backup(settings.database_url, keyring, file)))
    click.echo(f"{rows} rows restored from {file}")

    async def verify(database: Database, _: Settings) -> AuditReport:
        await record(database, keyring, AuditAction.BACKUP_RESTORED, file.name)
        with show_progress(1) as tell:
            return await verify_store(database, keyring, tell, FINDINGS_MAX, archive=settings.archive_folder)

    report = with_store(settings, verify)
    click.echo(render_text(report))
    if report.findings_count:
        sys.exit(FOUND)
