"""Backups of a whole store: one file of one moment, made beside running servers, and an empty store filled from it.

Keys are in no backup; whoever has both reads every card number.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from tollgate.flows.row_files import read_rows, refuse, write_rows
from tollgate.store import copying, database, migrating, opening
from tollgate.values import Instant
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealed_files import FileKind


async def make_backup(
    db: database.Database, keyring: Keyring, path: Path, now: Instant, *, rows_per_s: int | None = None
) -> int:
    """Writes the file in one step and returns its number of rows; a file that exists is never overwritten."""
    refuse_taken(path)
    revision = await opening.find_revision(db)
    if revision is not None and revision > migrating.HEAD:
        # It may have columns that this release does not know, and they would be missing.
        raise refuse(f"the database is at revision {revision}, which this release does not know: use the newer release")
    batches = _slow_down(copying.read_tables(db, copying.BACKUP), rows_per_s)
    return await write_rows(path, batches, FileKind.BACKUP, keyring, now)


def refuse_taken(path: Path) -> None:
    if path.exists():
        raise refuse(f"{path} exists: a backup is never overwritten")


async def _slow_down(
    batches: AsyncGenerator[copying.Batch, None], rows_per_s: int | None
) -> AsyncGenerator[copying.Batch, None]:
    """Passes rows on no faster than this, so that servers on the same machine or disk have the rest of it."""
    began_at, rows = time.monotonic(), 0
    async with aclosing(batches):
        async for batch in batches:
            yield batch
            rows += len(batch[1])
            if rows_per_s is not None:
                await asyncio.sleep(began_at + rows / rows_per_s - time.monotonic())


async def restore_backup(url: str, keyring: Keyring, path: Path) -> int:
    """Fills an empty or new database in one step and returns its number of rows; any other database is left alone."""
    try:
        file = path.open("rb")
    except OSError as fault:
        raise refuse(f"cannot read {path}: {fault.strerror}") from None
    with file:
        batches = await read_rows(file, FileKind.BACKUP, keyring)
        await _refuse_filled(url)
        target = await opening.open_database(url, exclusive=True)
        try:
            return await copying.replace_tables(target, batches, copying.BACKUP)
        finally:
            await target.close()


async def _refuse_filled(url: str) -> None:
    """Looks without changing anything, because opening it to write would bring the tables of an old one up to date."""
    try:
        target = await opening.open_database(url, read_only=True)
    except (database.NoStore, database.NoTables):
        return
    try:
        filled = await copying.find_filled_table(target)
    finally:
        await target.close()
    if filled is not None:
        raise refuse(f"the database has rows already (in {filled}): restore into an empty one")
