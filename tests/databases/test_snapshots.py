"""Snapshots of a sandbox on both databases: what is saved comes back, what is not stays, and no forged file gets in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from databases.sandboxes import ROWS, fill, make_app, put, read, read_all
from tollgate.flows import row_files, snapshots
from tollgate.flows.pay import pay
from tollgate.operations.app import Call
from tollgate.store import migrating
from tollgate.store.copying import SAVED, UNSAVED, read_tables
from tollgate.store.database import Database
from tollgate.store.merchants import MERCHANTS_VERSION, insert_channel, insert_merchant
from tollgate.store.opening import get_setting, open_database
from tollgate.store.schema import credentials, deliveries, jobs, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import Forbidden, Refusal
from tollgate.vault.keyring import make_keyring
from tollgate.vault.sealed_files import SealedFileError, SealedWriter, read_frames
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire

pytestmark = pytest.mark.anyio

_SAVED = {table.name for table in SAVED}


async def _fetch(db: Database, selected: sa.Select[tuple[object, ...]]) -> set[object]:
    return {row[0] for row in await db.fetch(Statement(selected), {})}


async def test_a_loaded_snapshot_has_every_saved_table_and_touches_no_other(db: Database, tmp_path: Path) -> None:
    app = make_app(db)
    await put(db, MERCHANTS_VERSION, "7")
    await put(db, "clock_offset", "5000")
    await fill(db, "first", ROWS)
    before = await read_all(db)
    rows = await snapshots.save_snapshot(app, tmp_path / "a.snapshot")
    await db.write([Write(Statement(sa.delete(payments)), {})], label="test rows")
    await put(db, "clock_offset", "9000")
    await put(db, "base_url", "http://other")
    await fill(db, "second", 3)
    changed = await read_all(db)

    loaded = await snapshots.load_snapshot(app, tmp_path / "a.snapshot")

    after = await read_all(db)
    assert loaded == rows
    assert {name for name in after if after[name] != before[name]} == {table.name for table in UNSAVED}
    assert {name for name in after if after[name] != changed[name]} == _SAVED
    assert await get_setting(db, "clock_offset") == "5000"
    assert await get_setting(db, "base_url") == "http://other"
    assert await get_setting(db, MERCHANTS_VERSION) == "8", "running processes notice a version that was counted up"


async def test_nothing_is_leased_after_a_load(db: Database, tmp_path: Path) -> None:
    """A living process would otherwise keep what it does not know."""
    app = make_app(db)
    await put(db, MERCHANTS_VERSION, "7")
    await fill(db, "first", 5)
    await snapshots.save_snapshot(app, tmp_path / "a.snapshot")
    await snapshots.load_snapshot(app, tmp_path / "a.snapshot")
    assert await _fetch(db, sa.select(deliveries.c.lease_owner)) == {None}
    assert await _fetch(db, sa.select(jobs.c.lease_owner)) == {None}
    assert await _fetch(db, sa.select(jobs.c.leased_until)) == {0}


async def test_a_file_with_any_byte_flipped_is_refused_before_it_is_parsed(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, path = make_app(db), tmp_path / "a.snapshot"
    await put(db, MERCHANTS_VERSION, "7")
    await fill(db, "first", 2)
    await snapshots.save_snapshot(app, path)
    await fill(db, "second", 2)
    before = await read_all(db)
    whole = path.read_bytes()
    monkeypatch.setattr("tollgate.vault.sealed_files.open_sealed", lambda *_, **__: pytest.fail("the file was parsed"))
    places = [*range(100), *range(100, len(whole), max(1, len(whole) // 200)), *range(len(whole) - 40, len(whole))]
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(Refusal) as refused:
            await snapshots.load_snapshot(app, path)
        assert "no snapshot of this host" in refused.value.detail
    for length in (0, 1, 31, 32, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(Refusal):
            await snapshots.load_snapshot(app, path)
    assert await read_all(db) == before


async def test_a_file_of_another_host_is_refused(db: Database, tmp_path: Path) -> None:
    await snapshots.save_snapshot(make_app(db), tmp_path / "a.snapshot")
    with pytest.raises(Refusal) as refused:
        await snapshots.load_snapshot(make_app(db), tmp_path / "a.snapshot")
    assert "another key" in refused.value.detail


async def test_a_file_of_another_revision_is_refused(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(db)
    with monkeypatch.context() as older:
        older.setattr(migrating, "HEAD", "0011")
        await snapshots.save_snapshot(app, tmp_path / "a.snapshot")
    with pytest.raises(Refusal) as refused:
        await snapshots.load_snapshot(app, tmp_path / "a.snapshot")
    assert "revision 0011" in refused.value.detail


async def test_a_file_from_before_keys_were_retired_is_refused(db: Database, tmp_path: Path) -> None:
    keyring = make_keyring()
    rotated = keyring.with_new_key()
    await snapshots.save_snapshot(make_app(db, rotated), tmp_path / "a.snapshot")
    with pytest.raises(Refusal) as refused:
        await snapshots.load_snapshot(make_app(db, rotated.without_retired_keys()), tmp_path / "a.snapshot")
    assert "if it was retired" in refused.value.detail


async def test_a_load_that_breaks_off_changes_nothing(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(db)
    await put(db, MERCHANTS_VERSION, "7")
    await fill(db, "first", ROWS)
    await snapshots.save_snapshot(app, tmp_path / "a.snapshot")
    await fill(db, "second", 2)
    before = await read_all(db)

    def break_off(*arguments: Any) -> Iterator[bytes]:
        for number, frame in enumerate(read_frames(*arguments)):
            if number == 20:
                raise SealedFileError("the file was changed while it was read")
            yield frame

    monkeypatch.setattr(row_files, "read_frames", break_off)
    with pytest.raises(Refusal):
        await snapshots.load_snapshot(app, tmp_path / "a.snapshot")
    assert await read_all(db) == before


async def test_a_full_disk_leaves_the_old_file_and_no_half_one(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, path = make_app(db), tmp_path / "a.snapshot"
    await snapshots.save_snapshot(app, path)
    whole = path.read_bytes()

    def fill_up(_writer: SealedWriter, _plain: bytes) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(SealedWriter, "add", fill_up)
    with pytest.raises(Refusal) as refused:
        await snapshots.save_snapshot(app, path)
    assert "No space left" in refused.value.detail
    assert path.read_bytes() == whole
    assert [each.name for each in tmp_path.iterdir() if "snapshot" in each.name] == ["a.snapshot"]


async def test_a_file_is_the_owners_alone_and_shows_nothing(db: Database, tmp_path: Path) -> None:
    await fill(db, "visible", 5)
    await snapshots.save_snapshot(make_app(db), tmp_path / "a.snapshot")
    assert (tmp_path / "a.snapshot").stat().st_mode & 0o777 == 0o600
    assert b"visible" not in (tmp_path / "a.snapshot").read_bytes()


async def test_a_live_host_neither_saves_nor_loads_nor_forks(db: Database, tmp_path: Path) -> None:
    live = make_app(db, is_live=True)
    for refused in (
        snapshots.save_snapshot(live, tmp_path / "a.snapshot"),
        snapshots.load_snapshot(live, tmp_path / "a.snapshot"),
        snapshots.fork_store(live, db),
    ):
        with pytest.raises(Forbidden):
            await refused
    assert not (tmp_path / "a.snapshot").exists()


async def test_a_fork_has_the_same_content_and_tokens_but_no_users(db: Database, tmp_path: Path) -> None:
    """A sandbox on either database may go on in a file."""
    await put(db, MERCHANTS_VERSION, "7")
    await fill(db, "first", ROWS)
    app, target = make_app(db), await open_database(f"sqlite:///{tmp_path}/fork.db")
    try:
        await snapshots.fork_store(app, target)
        here, there = await read_all(db), await read_all(target)
        shared = {*_SAVED, credentials.name}
        assert {name for name in here if here[name] == there[name]} == shared
        assert {name for name in there if not there[name]} == set(here) - shared
        with pytest.raises(Refusal) as refused:
            await snapshots.fork_store(app, target)
        assert "empty place" in refused.value.detail
    finally:
        await target.close()


async def test_a_snapshot_is_the_state_of_one_moment(db: Database) -> None:
    """Rows that are written while it is saved are not in it."""
    await fill(db, "first", ROWS)
    before = await read(db, payments)
    reading = read_tables(db)
    batches = [await anext(reading)]
    await fill(db, "second", 3)
    batches += [batch async for batch in reading]
    rows = [row for name, some in batches if name == payments.name for row in some]
    assert sorted(rows, key=repr) == before
    assert max(len(some) for _, some in batches) < ROWS, "rows are read some at a time"


async def test_a_payment_that_is_under_way_ends_in_an_error_and_leaves_no_trace(db: Database, tmp_path: Path) -> None:
    """Its second write finds no row."""
    wire, path = ScriptedWire(), tmp_path / "a.snapshot"
    app = msgspec.structs.replace(make_app(db), simulator=wire)
    await insert_merchant(db, MERCHANT)
    await insert_channel(db, CHANNEL)
    await pay(app, ORDER, Call(CHANNEL, "ndc"))
    await snapshots.save_snapshot(app, path)
    before = await read_all(db)
    wire.meanwhile = partial(snapshots.load_snapshot, app, path)
    with pytest.raises(LookupError, match="was written and is gone"):
        await pay(app, ORDER, Call(CHANNEL, "ndc"))
    assert await read_all(db) == before
    wire.meanwhile = None
    assert (await pay(app, ORDER, Call(CHANNEL, "ndc"))).code == "000.100.110"
