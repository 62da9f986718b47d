"""The command sandbox: saves, loads and forks a test host. What a snapshot has is decided in `flows` and `store`."""

import sys
from pathlib import Path
from typing import Any

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.program import STORE_FLAGS, program, read_settings, with_app, with_settings
from tollgate.config import Settings
from tollgate.flows import snapshots
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor, record
from tollgate.store import opening
from tollgate.vault.keyring import load_keyring, save_keyring


@program.group()
def sandbox() -> None:
    """Snapshots of a test host."""


@sandbox.command("save")
@click.argument("file", type=click.Path(path_type=Path))
@with_settings(*STORE_FLAGS)
def save(file: Path, **flags: Any) -> None:
    """Save the sandbox to a file.

    The file is encrypted and opens with the host's key file only. Users, sessions, access tokens and the audit log are
    not in it.
    """

    async def run(app: App) -> int:
        snapshots.refuse_live(app)
        await _record(app, AuditAction.SANDBOX_SAVED, file.name)
        return await snapshots.save_snapshot(app, file)

    click.echo(f"{with_app(flags, run)} rows saved in {file}")


@sandbox.command("load")
@click.argument("file", type=click.Path(path_type=Path))
@with_settings(*STORE_FLAGS)
def load(file: Path, **flags: Any) -> None:
    """Take the sandbox back to the state of a file; servers may run meanwhile."""

    async def run(app: App) -> int:
        snapshots.refuse_live(app)
        await _record(app, AuditAction.SANDBOX_LOADED, file.name)
        return await snapshots.load_snapshot(app, file)

    click.echo(f"{with_app(flags, run)} rows loaded from {file}")


@sandbox.command("fork")
@click.option("--to-data", help="The folder of the new host; the key file is copied there.")
@click.option("--to-database", help="The PostgreSQL database of the new host, if it is not in that folder.")
@with_settings(*STORE_FLAGS)
def fork(to_data: str | None, to_database: str | None, **flags: Any) -> None:
    """Make a second sandbox with the same content and access tokens at another place.

    It needs the same key file, and has a new administrator of the back office.
    """
    if to_data is None and to_database is None:
        raise click.UsageError("name the new place with --to-data or --to-database")
    here = read_settings(flags)
    place = Settings(data=to_data or here.data, database=to_database or "")
    if place.database_url == here.database_url:
        raise click.UsageError("the new place is the old one")
    if to_data is not None and place.key_path.exists():
        sys.exit(f"tollgate: there is a key file {place.key_path} already: name an empty folder")

    async def run(app: App) -> int:
        snapshots.refuse_live(app)
        target = await opening.open_database(place.database_url, exclusive=True)
        try:
            rows = await snapshots.fork_store(app, target)
        finally:
            await target.close()
        if to_data is not None:
            save_keyring(load_keyring(here.key_path), place.key_path)
        return rows

    rows = with_app(here, run)
    click.echo(f"{rows} rows copied; start it with --data {place.data}" + (" --database ..." if to_database else ""))


async def _record(app: App, action: AuditAction, subject: str) -> None:
    await record(app.database, app.keyring, app.clock, Actor(), action, subject=subject)
