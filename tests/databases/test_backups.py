"""Backups on both databases: a store comes back whole in an empty one of either kind, and bad files are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from databases.sandboxes import ROWS, fill, make_app, put, read_all
from postgres import PostgresCluster
from tollgate.flows import backups, row_files, snapshots
from tollgate.store import migrating
from tollgate.store.audit_log import AUDIT_HEAD
from tollgate.store.copying import TRANSIENT
from tollgate.store.database import Database, WrongSchema
from tollgate.store.merchants import MERCHANTS_VERSION
from tollgate.store.opening import get_setting, open_database, put_setting
from tollgate.values import Refusal
from tollgate.vault.keyring import Keyring, make_keyring

pytestmark = pytest.mark.anyio

NOW = 1_790_000_000_000_000

MakeUrl = Callable[[], str]


@pytest.fixture
def keyring() -> Keyring:
    return make_keyring()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.backup"


async def read_url(url: str) -> dict[str, list[tuple[object, ...]]]:
    target = await open_database(url)
    try:
        return await read_all(target)
    finally:
        await target.close()


async def refused(url: str, keyring: Keyring, path: Path) -> str:
    """Returns why a file is not restored."""
    with pytest.raises(Refusal) as refusal:
        await backups.restore_backup(url, keyring, path)
    return refusal.value.detail


async def test_a_restored_store_has_every_row_but_those_of_running_processes(
    db: Database, make_url: MakeUrl, keyring: Keyring, path: Path
) -> None:
    """The four pairs of databases are all tried."""
    await fill(db, "first", ROWS)
    settings = {AUDIT_HEAD: "7:aa:bb", "users_revision": "3", "clock_offset": "5000", MERCHANTS_VERSION: "7"}
    for name, value in settings.items():
        await put(db, name, value)
    before = await read_all(db)
    rows = await backups.make_backup(db, keyring, path, NOW)
    url = make_url()

    restored = await backups.restore_backup(url, keyring, path)

    after = await read_url(url)
    assert restored == rows
    assert {name for name in after if after[name] != before[name]} == {table.name for table in TRANSIENT}
    assert not any(after[table.name] for table in TRANSIENT)
    target = await open_database(url)
    try:
        assert {name: await get_setting(target, name) for name in settings} == {**settings, MERCHANTS_VERSION: "8"}
        assert await get_setting(target, migrating.NEEDED_REVISION), "it is that of the new tables"
    finally:
        await target.close()


async def test_a_restored_database_has_statistics(
    cluster: PostgresCluster, db: Database, keyring: Keyring, path: Path
) -> None:
    """Without them, what reads it next may choose to read whole tables for each row."""
    await fill(db, "first", 2)
    await backups.make_backup(db, keyring, path, NOW)
    url = cluster.create_database()
    await backups.restore_backup(url, keyring, path)
    lacking = cluster.run_sql(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND reltuples < 0"
        " AND relnamespace = 'public'::regnamespace",
        url.rpartition("/")[2],
    )
    assert set(lacking.split()) == {*(table.name for table in TRANSIENT), "alembic_version"}
    cluster.drop_database(url)


async def test_a_backup_is_the_state_of_one_moment(
    db: Database, keyring: Keyring, path: Path, make_url: MakeUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are written while it is made are not in it."""
    await fill(db, "first", ROWS)
    before = await read_all(db)
    pauses: list[float] = []

    async def write_meanwhile(pause_s: float) -> None:
        if not pauses:
            await fill(db, "second", 3)
        pauses.append(pause_s)

    with monkeypatch.context() as paused:
        paused.setattr("tollgate.flows.backups.asyncio.sleep", write_meanwhile)
        await backups.make_backup(db, keyring, path, NOW, rows_per_s=10)
    url = make_url()
    await backups.restore_backup(url, keyring, path)

    after = await read_url(url)
    assert {name for name in after if after[name] != before[name]} == {table.name for table in TRANSIENT}
    assert pauses[0] > 1, "the first rows take some seconds at that rate"


async def test_only_an_empty_store_is_filled(db: Database, url: str, keyring: Keyring, path: Path) -> None:
    await backups.make_backup(db, keyring, path, NOW)
    await fill(db, "first", 2)
    before = await read_all(db)
    assert "restore into an empty one" in await refused(url, keyring, path)
    assert await read_all(db) == before


async def test_a_store_of_an_older_release_is_not_even_brought_up_to_date(
    db: Database, url: str, keyring: Keyring, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await backups.make_backup(db, keyring, path, NOW)
    with monkeypatch.context() as newer:
        newer.setattr(migrating, "REVISIONS", {**migrating.REVISIONS, "9999": migrating.Kind.WHOLE})
        newer.setattr(migrating, "HEAD", "9999")
        assert "revision" in await refused(url, keyring, path)
        await backups.make_backup(db, keyring, path.with_name("newer.backup"), NOW)
        with pytest.raises(WrongSchema):
            await backups.restore_backup(url, keyring, path.with_name("newer.backup"))


async def test_a_file_of_other_tables_is_refused_and_names_the_release(
    db: Database, keyring: Keyring, path: Path, make_url: MakeUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(migrating, "HEAD", "9999")
        older.setattr(row_files, "__version__", "9.9.9")
        await backups.make_backup(db, keyring, path, NOW)
    told = await refused(make_url(), keyring, path)
    assert "revision 9999" in told
    assert "9.9.9" in told


async def test_tables_that_this_release_does_not_know_are_not_backed_up_in_part(
    db: Database, keyring: Keyring, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "HEAD", "0009")
    with pytest.raises(Refusal) as refusal:
        await backups.make_backup(db, keyring, path, NOW)
    assert "use the newer release" in refusal.value.detail
    assert not path.exists()


async def test_a_damaged_cut_or_foreign_file_is_refused_before_the_database_is_made(
    db: Database, keyring: Keyring, path: Path, tmp_path: Path
) -> None:
    await fill(db, "first", 2)
    await backups.make_backup(db, keyring, path, NOW)
    whole, url = path.read_bytes(), f"sqlite:///{tmp_path}/new/store.db"
    for place in (0, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "no backup of this host" in await refused(url, keyring, path)
    for length in (0, 31, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "cut off" in await refused(url, keyring, path)
    path.write_bytes(whole)
    assert "another key" in await refused(url, make_keyring(), path)
    path.unlink()
    assert "No such file" in await refused(url, keyring, path)
    assert not (tmp_path / "new").exists()


async def test_a_snapshot_of_a_sandbox_is_no_backup(
    db: Database, keyring: Keyring, path: Path, make_url: MakeUrl
) -> None:
    await snapshots.save_snapshot(make_app(db, keyring), path)
    assert "no backup of this host" in await refused(make_url(), keyring, path)


async def test_a_file_from_before_keys_were_retired_needs_them(
    db: Database, keyring: Keyring, path: Path, make_url: MakeUrl
) -> None:
    rotated = keyring.with_new_key()
    await fill(db, "first", 2)
    await backups.make_backup(db, keyring, path, NOW)
    assert "`tollgate key-archive restore`" in await refused(make_url(), rotated.without_retired_keys(), path)
    during = path.with_name("during.backup")
    await backups.make_backup(db, rotated, during, NOW)
    assert "`tollgate key-archive restore`" in await refused(make_url(), rotated.without_retired_keys(), during)
    assert await backups.restore_backup(make_url(), rotated, path) > 0


async def test_a_file_is_the_owners_alone_shows_nothing_and_is_never_overwritten(
    db: Database, keyring: Keyring, path: Path
) -> None:
    await fill(db, "visible", 5)
    await put_setting(db, "clock_offset", "5")
    await backups.make_backup(db, keyring, path, NOW)
    whole = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"visible" not in whole
    with pytest.raises(Refusal) as refusal:
        await backups.make_backup(db, keyring, path, NOW)
    assert "never overwritten" in refusal.value.detail
    assert path.read_bytes() == whole
    assert [each.name for each in path.parent.iterdir() if "backup" in each.name] == [path.name]
