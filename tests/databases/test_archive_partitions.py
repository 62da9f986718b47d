"""Archived rows leave PostgreSQL with their partition: what stays gets a new one, beside processes and readers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from databases.archiving import Killed, Killer, open_paid, open_shelf
from databases.auditing import tamper
from databases.lives import live_through_everything, open_lives
from databases.test_archive_kills import expect_moved, kill_and_finish
from postgres import PostgresCluster
from tollgate.store import detaching
from tollgate.store.database import Database, When
from tollgate.store.opening import open_database
from tollgate.store.partitions import COLUMNS
from tollgate.values import DAY

pytestmark = pytest.mark.anyio

FOLLOW_UPS = 20


@pytest.fixture
def url(cluster: PostgresCluster, postgres_template: str) -> str:
    return cluster.create_database(postgres_template)


@pytest.fixture
async def db(cluster: PostgresCluster, url: str) -> AsyncIterator[Database]:
    database = await open_database(url)
    yield database
    await database.close()
    cluster.drop_database(url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


async def list_partitions(db: Any) -> dict[str, int]:
    """Returns the partitions of the tests' month with their identities."""
    rows = await db.pool.fetch(
        "SELECT c.relname, c.oid FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid"
        " JOIN pg_class AS p ON p.oid = inhparent WHERE p.relname = ANY ($1) AND c.relname LIKE '%2026_11'",
        list(COLUMNS),
    )
    return {name: int(oid) for name, oid in rows}


async def count_indexes(db: Any, table: str) -> int:
    return int(await db.pool.fetchval("SELECT count(*) FROM pg_index WHERE indrelid = $1::regclass", table))


async def count_months(db: Any) -> int:
    return int(await db.pool.fetchval("SELECT count(*) FROM payment_months"))


async def test_a_partition_of_which_nothing_stays_is_dropped(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    assert {*await list_partitions(db)} >= {"payments_2026_11", "ledger_entries_2026_11", "outbox_2026_11"}
    await shelf.archive()

    assert await list_partitions(db) == {}
    assert await count_months(db) == 0
    await shelf.expect_whole()
    await expect_moved(shelf)


async def test_what_stays_is_in_a_new_partition_of_the_same_name(db: Database, url: str, folder: Path) -> None:
    shelf = await open_shelf(await live_through_everything(db), folder)
    before = await list_partitions(db)
    neighbour = await open_database(url)
    shelf.lives.app = msgspec.structs.replace(shelf.app, database=neighbour)
    await shelf.lives.follow("rf before", "RF", "db", 100)
    await shelf.archive()
    after = await list_partitions(db)
    # Another process knows the old partition, and writes into the new one.
    await shelf.lives.follow("rf after", "RF", "db", 100)
    await neighbour.close()

    assert after.keys() == before.keys()
    assert await count_indexes(db, "payments_2026_11") == await count_indexes(db, "payments")
    assert all(after[name] != before[name] for name in ("payments_2026_11", "ledger_entries_2026_11", "outbox_2026_11"))
    assert await shelf.list_findings() == []
    live = {payment.id for payment in await shelf.list_live()}
    assert shelf.lives.ids["rf before"] in live
    assert shelf.lives.ids["rf after"] in live
    assert await count_months(db) == len(live)


async def test_rows_are_deleted_where_a_reader_holds_the_table(
    db: Database, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detaching, "_PAUSE_S", 0.0)
    shelf = await open_paid(db, folder)
    reader = await asyncpg.connect(url)
    transaction = reader.transaction()
    await transaction.start()
    await reader.fetch("SELECT FROM payments, ledger_entries, outbox")
    await asyncio.wait_for(shelf.archive(), 300)
    await transaction.rollback()
    await reader.close()

    assert {*await list_partitions(db)} >= {"payments_2026_11", "ledger_entries_2026_11", "outbox_2026_11"}
    await shelf.expect_whole()
    await expect_moved(shelf)


async def test_payments_and_follow_ups_go_on_while_months_are_replaced(db: Database, url: str, folder: Path) -> None:
    shelf = await open_shelf(await live_through_everything(db), folder)
    neighbour = await open_database(url)
    shelf.lives.app = msgspec.structs.replace(shelf.app, database=neighbour)
    await shelf.lives.follow("rf before", "RF", "db", 100)
    before = await list_partitions(db)
    archiving = asyncio.create_task(shelf.archive())
    number = 0
    while not archiving.done() or not number:
        number += 1
        await shelf.lives.pay(f"new {number}")
        if number <= FOLLOW_UPS:
            await shelf.lives.follow(f"rf {number}", "RF", "db", 1)
    await archiving
    await neighbour.close()

    assert (await list_partitions(db))["payments_2026_11"] != before["payments_2026_11"]
    assert await shelf.list_findings() == []
    live = {payment.id for payment in await shelf.list_live()}
    assert {shelf.lives.ids[f"new {each}"] for each in range(1, number + 1)} <= live
    assert {shelf.lives.ids[f"rf {each}"] for each in range(1, min(number, FOLLOW_UPS) + 1)} <= live


@pytest.mark.parametrize("fault", [asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError])
async def test_a_partition_whose_lock_was_given_up_is_replaced_by_a_later_try(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    lives = await open_lives(db)
    await lives.pay("db")
    shelf = await open_shelf(lives, folder)
    drop, faults = detaching._drop_from, [fault("given up")]

    async def drop_later(*args: Any) -> bool:
        if faults:
            raise faults.pop()
        return await drop(*args)

    monkeypatch.setattr(detaching, "_drop_from", drop_later)
    monkeypatch.setattr(detaching, "_PAUSE_S", 0.0)
    before = await list_partitions(db)

    await shelf.archive()

    assert await list_partitions(db) != before
    assert not faults
    assert await shelf.list_findings() == []


@pytest.mark.parametrize("dropped", [1, 2, 3, 4, 5])
async def test_a_chain_of_two_months_is_whole_when_some_of_its_partitions_are_gone(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, dropped: int
) -> None:
    lives = await open_lives(db)
    await lives.pay("db")
    lives.clock.at += 20 * DAY
    await lives.follow("rf", "RF", "db", 200)
    shelf = await open_shelf(lives, folder)
    before = await shelf.verify()
    drop, count = detaching._drop_from, 0

    async def drop_some(*args: Any) -> bool:
        nonlocal count
        count += 1
        if count > dropped:
            raise Killed
        return await drop(*args)

    with monkeypatch.context() as patched:
        patched.setattr(detaching, "_drop_from", drop_some)
        with pytest.raises(Killed):
            await shelf.archive("2027-01")
    await shelf.expect_whole()
    after = await shelf.verify()
    assert (after.accounts, after.chains_count) == (before.accounts, before.chains_count)
    shelf.outlive_lease()
    await shelf.archive("2027-01")

    await shelf.expect_whole()
    assert await shelf.list_live() == []


async def test_where_more_stays_than_may_be_moved_rows_are_deleted(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detaching, "STAYING_MAX", 3)
    shelf = await open_shelf(await live_through_everything(db), folder)
    before = await list_partitions(db)
    await shelf.archive()

    assert await list_partitions(db) == before
    await shelf.expect_whole()


async def test_a_row_that_no_file_has_is_not_dropped_with_its_partition(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    added = (
        "INSERT INTO ledger_entries SELECT merchant_id, id || 'x', payment_id, channel_id, currency, source, target,"
    )
    await tamper(db, f"{added} 1, posted_at FROM ledger_entries WHERE payment_id = :id", id=shelf.lives.ids["db 1"])
    await shelf.archive()

    left = await shelf.app.database.pool.fetch("SELECT id FROM ledger_entries")  # type: ignore[attr-defined]
    assert [row[0][-1] for row in left] == ["x"]
    assert {*await list_partitions(db)} == {"ledger_entries_2026_11"}


@pytest.mark.parametrize(
    ("label", "when"),
    [
        ("archived payments placed", "before"),
        ("archived payments placed", "after"),
        ("partition replaced", "before"),
        ("partition replaced", "after"),
    ],
)
async def test_a_run_that_was_killed_is_finished_by_the_next(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, label: str, when: When
) -> None:
    await kill_and_finish(await open_paid(db, folder), monkeypatch, Killer(label, when))

    assert await list_partitions(db) == {}
