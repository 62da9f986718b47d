"""A database that can be read and not written: nothing is stored, callers learn of it, and it recovers by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from databases.samples import MERCHANT, make_completion, make_payment
from postgres import PostgresCluster
from tollgate.store import database as watching
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, find_payment, start_payment
from tollgate.store.postgres import POOL_MAX
from tollgate.store.sqlite import SqliteDatabase

pytestmark = pytest.mark.anyio

_FULL = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_payments BEFORE INSERT OR UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER full_settings BEFORE INSERT OR UPDATE ON settings EXECUTE FUNCTION refuse();
"""
_ROOM = "DROP FUNCTION refuse CASCADE"


@dataclass(frozen=True)
class Stage:
    """A database, what makes it refuse writes, and what makes it take them again."""

    db: watching.Database
    refuse: Callable[[], None]
    take_again: Callable[[], None]


def stage_sqlite(db: watching.Database) -> Stage:
    """SQLite refuses the writer as it does where the file or its folder is read-only."""
    assert isinstance(db, SqliteDatabase)
    writer = db._writer
    assert writer is not None

    def set_read_only(word: str) -> None:
        writer.execute(f"PRAGMA query_only = {word}")

    return Stage(db, lambda: set_read_only("ON"), lambda: set_read_only("OFF"))


def stage_read_only(db: watching.Database, cluster: PostgresCluster, name: str) -> Stage:
    def set_read_only(word: str) -> None:
        cluster.run_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = {word}")
        cluster.run_sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

    return Stage(db, lambda: set_read_only("on"), lambda: set_read_only("off"))


def stage_full(db: watching.Database, cluster: PostgresCluster, name: str) -> Stage:
    """PostgreSQL answers as it does when a table cannot grow."""

    def run(text: str) -> None:
        cluster.run_sql(text, name)

    return Stage(db, lambda: run(_FULL), lambda: run(_ROOM))


@pytest.fixture(params=["sqlite", "read-only", "full"])
async def stage(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    cluster: PostgresCluster,
    postgres_template: str,
) -> AsyncIterator[Stage]:
    for name in ("CHECK_AFTER_S", "CHECK_AGAIN_S"):
        monkeypatch.setattr(watching, name, 0.0)
    monkeypatch.setattr("tollgate.store.postgres_faults.FIRST_PAUSE_S", 0.001)
    is_embedded = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/store.db" if is_embedded else cluster.create_database(postgres_template)
    db = await open_database(url)
    if is_embedded:
        yield stage_sqlite(db)
    else:
        make_stage = {"read-only": stage_read_only, "full": stage_full}[request.param]
        yield make_stage(db, cluster, url.rpartition("/")[2])
    await db.close()


async def test_a_failed_write_is_answered_and_nothing_is_half_done(stage: Stage) -> None:
    db = stage.db
    before, during, after = make_payment(), make_payment(), make_payment()
    assert await start_payment(db, before, None, None)
    assert await db.find_trouble() is None

    stage.refuse()
    # Nothing was written. Where the refusal ended the connection too, the first try cannot know that.
    with pytest.raises((watching.Damaged, watching.Unavailable, watching.Unconfirmed)):
        await start_payment(db, during, None, None)
    with pytest.raises((watching.Damaged, watching.Unavailable)):
        await complete_payment(db, make_completion(before), None)
    assert "written" in (await db.find_trouble() or "")
    assert await find_payment(db, MERCHANT, during.id) is None
    assert await find_payment(db, MERCHANT, before.id) == before

    stage.take_again()
    assert await db.find_trouble() is None
    assert await start_payment(db, after, None, None)


async def test_a_host_that_nobody_pays_on_finds_out_by_itself(stage: Stage) -> None:
    db = stage.db

    stage.refuse()
    assert "written" in (await db.find_trouble() or "")

    stage.take_again()
    assert await db.find_trouble() is None


async def test_a_database_opened_for_reading_is_asked_nothing_more(url: str) -> None:
    await (await open_database(url)).close()
    db = await open_database(url, read_only=True)

    assert await db.find_trouble() is None
    await db.close()


async def test_two_processes_that_ask_at_the_same_moment_both_find_the_database_writable(
    monkeypatch: pytest.MonkeyPatch, cluster: PostgresCluster, postgres_template: str
) -> None:
    monkeypatch.setattr(watching, "CHECK_AFTER_S", 0.0)
    url = cluster.create_database(postgres_template)
    databases = [await open_database(url) for _ in range(2)]

    found = [await asyncio.gather(*[db.find_trouble() for db in databases]) for _ in range(50)]

    for db in databases:
        await db.close()
    assert found == [[None, None]] * 50


async def test_connections_that_were_cut_while_idle_are_no_trouble(
    monkeypatch: pytest.MonkeyPatch, cluster: PostgresCluster, postgres_template: str
) -> None:
    monkeypatch.setattr(watching, "CHECK_AFTER_S", 0.0)
    url = cluster.create_database(postgres_template)
    db = await open_database(url)
    name = url.rpartition("/")[2]

    for _ in range(20):
        await asyncio.gather(*[find_payment(db, MERCHANT, make_payment().id) for _ in range(POOL_MAX)])
        cluster.run_sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        assert await db.find_trouble() is None

    await db.close()
