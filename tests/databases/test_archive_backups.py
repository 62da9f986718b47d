"""Databases and archives of different days: what a restored backup and the folder of the archive make of each other."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from databases.archiving import Shelf, open_shelf
from databases.lives import open_lives
from databases.test_archive_erasure import JANE, erase, is_named, open_people
from tollgate.flows import backups
from tollgate.flows.archive_lease import Run
from tollgate.flows.pay import look_up
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.statements import Dialect, Write
from tollgate.vault.archive_files import ArchiveError
from unit.app_fixture import MERCHANT

pytestmark = pytest.mark.anyio

STRANGE = "archive: archived_months 2026-11.1: the database does not know it: of its {} payments {} are nowhere else"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.backup"


@pytest.fixture
def restored_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/restored.db"


async def back_up(shelf: Shelf, path: Path) -> None:
    await backups.make_backup(shelf.app.database, shelf.app.keyring, path, shelf.clock.at)


@asynccontextmanager
async def restore(shelf: Shelf, path: Path, url: str) -> AsyncIterator[Shelf]:
    """Opens a restored store beside the folder of today."""
    await backups.restore_backup(url, shelf.app.keyring, path)
    database = await open_database(url)
    try:
        app = msgspec.structs.replace(shelf.app, database=database)
        yield Shelf(shelf.lives, app, shelf.folder, shelf.before)
    finally:
        await database.close()


async def test_months_that_were_archived_after_the_backup_are_found_and_never_written_over(
    db: Database, tmp_path: Path, path: Path, restored_url: str
) -> None:
    shelf = await open_people(db, tmp_path / "archive")
    await back_up(shelf, path)
    await shelf.archive()
    files = sorted(shelf.folder.rglob("*"))

    async with restore(shelf, path, restored_url) as restored:
        assert await restored.list_findings() == [STRANGE.format(len(shelf.before), 0)]
        with pytest.raises(ArchiveError, match=r"the database does not know 2026-11\.1 in "):
            await restored.archive()
        assert sorted(shelf.folder.rglob("*")) == files
        # The folder is not needed: the database has all of its payments.
        shutil.move(shelf.folder / "2026-11.1", tmp_path / "aside")
        await restored.expect_whole()
        await restored.archive()
        await restored.expect_whole()


async def test_payments_that_only_the_archive_still_has_are_counted(
    db: Database, tmp_path: Path, path: Path, restored_url: str
) -> None:
    lives = await open_lives(db)
    await lives.pay("db before")
    await backups.make_backup(db, lives.app.keyring, path, lives.clock.at)
    await lives.pay("db after")
    await lives.follow("rf after", "RF", "db after", 200)
    shelf = await open_shelf(lives, tmp_path / "archive")
    await shelf.archive()

    async with restore(shelf, path, restored_url) as restored:
        assert await restored.list_findings() == [STRANGE.format(3, 2)]


async def test_a_folder_that_is_newer_than_the_backup_has_all_that_the_database_knows(
    db: Database, tmp_path: Path, path: Path, restored_url: str
) -> None:
    """A person was erased from the files after the backup."""
    shelf = await open_people(db, tmp_path / "archive")
    await shelf.archive()
    await back_up(shelf, path)
    await erase(shelf)
    await erase(shelf, value="joe@example.com")

    async with restore(shelf, path, restored_url) as restored:
        assert await restored.list_findings() == []
        found = await look_up(restored.app, MERCHANT.id, shelf.lives.ids["jane 1"])
        assert found is not None
        assert JANE not in found.echo.values()
        await erase(restored)
        assert await restored.list_findings() == []
        assert not is_named(shelf.folder, JANE)


async def test_a_folder_that_is_older_than_the_backup_is_found(
    db: Database, tmp_path: Path, path: Path, restored_url: str
) -> None:
    shelf = await open_people(db, tmp_path / "archive")
    await shelf.archive()
    await back_up(shelf, path)
    shutil.rmtree(shelf.folder)

    async with restore(shelf, path, restored_url) as restored:
        [finding] = await restored.list_findings()
        assert finding.startswith("archive: archived_months 2026-11.1: cannot open ")


@pytest.mark.parametrize(
    "labels", [("archive written", "archive written"), ("archived rows removed", "archived payments placed")]
)
async def test_a_backup_that_was_made_while_a_month_was_archived_goes_on_from_there(
    db: Database,
    tmp_path: Path,
    path: Path,
    restored_url: str,
    monkeypatch: pytest.MonkeyPatch,
    labels: tuple[str, str],
) -> None:
    """The first backup is of closed chains, when no file counts; the second of a finished file, when rows are there."""
    label = labels[db.dialect is Dialect.POSTGRESQL]
    shelf = await open_people(db, tmp_path / "archive")
    write = Run.write

    async def back_up_and_write(self: Run, writes: Sequence[Write], written: str) -> None:
        if written == label and not path.exists():
            await back_up(shelf, path)
        await write(self, writes, written)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "write", back_up_and_write)
        await shelf.archive()

    async with restore(shelf, path, restored_url) as restored:
        await restored.expect_whole()
        await restored.archive()
        await restored.expect_whole()
        assert await restored.list_live() == []
