"""Snapshots of a whole sandbox: saving one to a file, loading it again, and making a second store with its content.

A live host has none of this: nobody may take back real payments.
"""

from pathlib import Path
from typing import BinaryIO

from tollgate.catalog import codes, results
from tollgate.flows.row_files import read_rows, refuse, write_rows
from tollgate.operations.app import App
from tollgate.store import copying, database, merchants
from tollgate.values import Forbidden
from tollgate.vault.sealed_files import FileKind


def refuse_live(app: App) -> None:
    if app.is_live:
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "only a test host can be saved, loaded or forked")


async def save_snapshot(app: App, path: Path) -> int:
    """Writes the file in one step and returns its number of rows; a fault leaves no half file and the old one whole."""
    refuse_live(app)
    batches = copying.read_tables(app.database)
    return await write_rows(path, batches, FileKind.SNAPSHOT, app.keyring, app.clock.wall(), app.random_bytes)


async def load_snapshot(app: App, path: Path) -> int:
    """Replaces what is saved by the content of a file, in one step; returns the number of rows."""
    refuse_live(app)
    try:
        with path.open("rb") as file:
            return await load_file(app, file)
    except OSError as fault:
        raise refuse(f"cannot read {path}: {fault.strerror}") from None


async def load_file(app: App, file: BinaryIO) -> int:
    """Does the same with a file that is open."""
    refuse_live(app)
    batches = await read_rows(file, FileKind.SNAPSHOT, app.keyring)
    return await copying.replace_tables(app.database, batches)


async def fork_store(app: App, target: database.Database) -> int:
    """Fills an empty store with the same content and access tokens; users and the audit log begin anew there."""
    refuse_live(app)
    if await merchants.list_merchants(target):
        raise refuse("the new store has merchants already: name an empty place")
    batches = copying.read_tables(app.database, copying.FORK)
    return await copying.replace_tables(target, batches, copying.FORK)
