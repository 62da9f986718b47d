"""An empty database gets the tables of this release, however many processes try at once."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest
import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

from databases.revisions import REVISION_ROWS, REVISIONS, count_rows, fill_tables, insert_rows, list_uncovered
from databases.samples import MERCHANT, make_payment
from outbox import list_events
from postgres import PostgresCluster
from tollgate.catalog.events import choose_payment_event
from tollgate.catalog.results import RESULTS
from tollgate.payments.ledger import UNTOUCHED, BalanceChange
from tollgate.payments.payment import NATURES, Outcome, State
from tollgate.store import migrating, postgres_migrating
from tollgate.store.database import AlreadyServed, Database, Unavailable, WrongSchema
from tollgate.store.opening import open_database
from tollgate.store.payments import find_payment, list_chain, start_follow_up_writes
from tollgate.store.schema import METADATA, POSTGRESQL_METADATA, payments
from tollgate.store.statements import COMPILERS, Dialect, Statement
from tollgate.values import make_timed_id

pytestmark = pytest.mark.anyio

COLUMNS = """SELECT table_name, ordinal_position, column_name, data_type, is_nullable,
 collation_name FROM information_schema.columns
 WHERE table_schema = '{schema}' AND table_name <> 'alembic_version' ORDER BY 1, 2"""
INDEXES = """SELECT replace(indexdef, '{schema}.', '') FROM pg_indexes
 WHERE schemaname = '{schema}' AND tablename <> 'alembic_version' ORDER BY 1"""


def render_schema(dialect: Dialect) -> list[str]:
    """Returns the tables as the metadata describes them, independently of any migration."""
    compiler = COMPILERS[dialect]
    is_partitioned = dialect is Dialect.POSTGRESQL
    texts = []
    for table in (*METADATA.sorted_tables, *(POSTGRESQL_METADATA.sorted_tables if is_partitioned else ())):
        text = str(CreateTable(table).compile(dialect=compiler))
        if is_partitioned and table is payments:
            # A unique key of a partitioned table contains what says in which partition a row is.
            text = text.replace("PRIMARY KEY (merchant_id, id)", "PRIMARY KEY (merchant_id, id, created_at)")
        texts.append(text)
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        texts += [str(CreateIndex(index).compile(dialect=compiler)) for index in indexes]
    return texts


async def test_an_empty_database_reaches_the_newest_revision(make_url: Callable[[], str]) -> None:
    db = await open_database(make_url())

    assert await db.fetch(Statement(sa.text(migrating.READ_REVISION)), {}) == [(migrating.HEAD,)]
    assert await db.find_trouble() is None
    await db.close()


@pytest.mark.parametrize("read_only", [True, False])
async def test_whoever_expects_a_store_makes_none_in_an_empty_database(
    cluster: PostgresCluster, *, read_only: bool
) -> None:
    url = cluster.create_database()
    name = url.rpartition("/")[2]

    with pytest.raises(WrongSchema, match=f"/{name} has no tables of Tollgate") as refused:
        await open_database(url, read_only=read_only, must_exist=True)

    assert "@" not in str(refused.value)
    assert cluster.run_sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", name).strip() == "0"


@pytest.mark.parametrize("must_exist", [True, False])
async def test_a_database_from_before_the_first_release_is_refused(
    make_url: Callable[[], str], *, must_exist: bool
) -> None:
    url = make_url()
    db = await open_database(url)
    await db.fetch(Statement(sa.text("UPDATE alembic_version SET version_num = '0009'"), is_write=True), {})
    await db.close()

    with pytest.raises(WrongSchema, match=r"revision 0009.*before the first release.*name an empty folder"):
        await open_database(url, must_exist=must_exist)


async def test_opening_again_changes_nothing(make_url: Callable[[], str]) -> None:
    url = make_url()
    await (await open_database(url)).close()
    db = await open_database(url)

    assert await db.fetch(Statement(sa.text(migrating.READ_REVISION)), {}) == [(migrating.HEAD,)]
    await db.close()


async def test_migrated_sqlite_has_exactly_the_tables_of_the_metadata(tmp_path: Path) -> None:
    db = await open_database(str(tmp_path / "store.db"))
    stored = await db.fetch(
        Statement(sa.text("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'alembic%'")), {}
    )
    await db.close()

    assert sorted(" ".join(str(row[0]).split()) for row in stored) == sorted(
        " ".join(text.split()) for text in render_schema(Dialect.SQLITE)
    )


async def test_migrated_postgresql_has_exactly_the_tables_of_the_metadata(
    cluster: PostgresCluster, postgres_template: str
) -> None:
    name = cluster.create_database(postgres_template).rpartition("/")[2]
    expected = "; ".join(render_schema(Dialect.POSTGRESQL))
    cluster.run_sql(f"CREATE SCHEMA expected; SET search_path = expected; {expected}", name)

    for catalog in (COLUMNS, INDEXES):
        found = cluster.run_sql(catalog.format(schema="public"), name)
        assert found == cluster.run_sql(catalog.format(schema="expected"), name)
        assert "payments" in found


async def test_several_tasks_may_migrate_one_empty_database_at_once(make_url: Callable[[], str]) -> None:
    url = make_url()

    databases = await asyncio.gather(*[open_database(url) for _ in range(4)])

    for db in databases:
        assert await db.find_trouble() is None
        await db.close()


def test_several_processes_may_migrate_one_empty_database_at_once(make_url: Callable[[], str]) -> None:
    url = make_url()
    text = (
        "import asyncio, sys; from tollgate.store.opening import open_database; sys.stdin.readline();"
        " asyncio.run(open_database(sys.argv[1]))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", text, url], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=300) for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], ends


async def test_a_process_that_prepares_a_migration_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    seen: list[str | None] = []

    def migrate_first(dialect: Dialect, revision: str | None, *, contracts: bool) -> list[str]:
        """Another process migrates while the statements of this one are made."""
        texts = migrating.make_missing_statements(dialect, revision, contracts=contracts)
        if not texts:
            return texts
        seen.append(revision)
        other = apsw.Connection(str(path))
        for text in ("BEGIN IMMEDIATE", *texts, "COMMIT"):
            other.execute(text)
        other.close()
        return texts

    monkeypatch.setattr("tollgate.store.sqlite.make_missing_statements", migrate_first)
    db = await open_database(f"sqlite:///{path}")

    assert await db.fetch_one(Statement(sa.text(migrating.READ_REVISION)), {}) == (migrating.HEAD,)
    assert seen == [None]
    await db.close()


async def test_a_reader_refuses_tables_that_are_not_there_yet(cluster: PostgresCluster) -> None:
    with pytest.raises(WrongSchema, match="tollgate migrate"):
        await open_database(cluster.create_database(), read_only=True)


async def write_schema_row(db: Database, text: str) -> None:
    await db.fetch(Statement(sa.text(text), is_write=True), {})


NEWER = "UPDATE alembic_version SET version_num = '9999'"
CONTRACTED = f"UPDATE settings SET value = '9998' WHERE name = '{migrating.NEEDED_REVISION}'"


@pytest.mark.parametrize("how", [{}, {"must_exist": True}, {"read_only": True}])
async def test_tables_that_a_later_release_has_only_expanded_are_used(url: str, how: dict[str, bool]) -> None:
    db = await open_database(url)
    await write_schema_row(db, NEWER)
    await db.close()

    db = await open_database(url, **how)

    assert await db.find_trouble() is None
    await db.close()


@pytest.mark.parametrize("how", [{}, {"must_exist": True}, {"read_only": True}])
async def test_tables_that_a_later_release_has_contracted_are_refused(url: str, how: dict[str, bool]) -> None:
    db = await open_database(url)
    await write_schema_row(db, NEWER)
    await write_schema_row(db, CONTRACTED)
    await db.close()

    with pytest.raises(WrongSchema, match=r"revision 9999.*use a release that knows revision 9998"):
        await open_database(url, **how)


async def test_a_process_is_not_ready_while_its_tables_are_contracted_beneath_it(cluster: PostgresCluster) -> None:
    db = await open_database(cluster.create_database())
    await write_schema_row(db, NEWER)
    assert await db.find_trouble() is None
    await write_schema_row(db, CONTRACTED)

    assert "use a release that knows revision 9998" in str(await db.find_trouble())
    await db.close()


async def test_tables_are_not_contracted_while_older_processes_are_connected(cluster: PostgresCluster) -> None:
    url = cluster.create_database()
    async with open_at(url, "0014"):
        pass
    older = await asyncpg.connect(url, server_settings={"application_name": "tollgate"})

    with pytest.raises(WrongSchema, match=f"1 connections .* do not know revision {migrating.HEAD} .*127.0.0.1"):
        await open_database(url, contracts=True)
    await older.close()
    db = await open_database(url, contracts=True)

    assert await db.find_trouble() is None
    await db.close()


async def test_processes_and_commands_that_are_not_told_to_contract_change_nothing(
    make_url: Callable[[], str],
) -> None:
    url = make_url()
    async with open_at(url, "0014"):
        pass

    for how in ({}, {"must_exist": True}):
        with pytest.raises(WrongSchema, match="do not tolerate 0015: stop them, and run `tollgate migrate --contract`"):
            await open_database(url, **how)

    async with open_at(url, "0014") as old:
        assert await old.fetch(Statement(sa.text(migrating.READ_REVISION)), {}) == [("0014",)]


async def test_the_only_server_on_a_file_makes_every_revision(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with open_at(url, "0014"):
        pass

    db = await open_database(url, exclusive=True)

    assert await db.fetch(Statement(sa.text(migrating.READ_REVISION)), {}) == [(migrating.HEAD,)]
    with pytest.raises(AlreadyServed):
        await open_database(url, contracts=True)
    await db.close()


async def test_a_migration_gives_up_its_turn_while_a_long_transaction_uses_the_tables(
    cluster: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = cluster.create_database()
    async with open_at(url, "0012"):
        pass
    monkeypatch.setattr(postgres_migrating, "_LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(postgres_migrating, "_LOCKING_PAUSE_S", 0.01)
    backup = await asyncpg.connect(url)
    async with backup.transaction():
        await backup.fetch("SELECT id FROM payments")
        with pytest.raises(Unavailable, match="a long transaction uses them"):
            await open_database(url, contracts=True)
        # Others were not kept out.
        writer = await asyncpg.connect(url)
        await writer.execute("DELETE FROM payments")
        await writer.close()
    await backup.close()

    await (await open_database(url, contracts=True)).close()


# ---- from every earlier revision, with data in it ----


@asynccontextmanager
async def open_at(url: str, revision: str) -> AsyncIterator[Database]:
    """Opens a store as the release of that revision would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrating, "HEAD", revision)
        old = await open_database(url)
        try:
            yield old
        finally:
            # The loop does not end before its database is closed, so that a failure would hang.
            await old.close()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_rows_of_every_revision_are_kept_and_can_be_used(make_url: Callable[[], str], revision: str) -> None:
    url = make_url()
    async with open_at(url, revision) as old:
        filled = await fill_tables(old, REVISION_ROWS[revision])

    db = await open_database(url, contracts=True)

    # The settings also have a row about the revision.
    assert await count_rows(db, filled) == {**dict.fromkeys(filled, 1), "settings": 2}
    payment = await find_payment(db, MERCHANT, "8a")
    assert payment is not None
    assert (payment.left, payment.position, payment.balance, payment.mac) == (9200, 1, UNTOUCHED, None)
    assert (payment.lifecycle_id, payment.outcome) == ("life-1", Outcome.APPROVED)
    balance_change = BalanceChange(payment_id=payment.id, reserved=9200, left_min=0, chain_length=1)
    capture = make_payment(payment_type="CP", referenced_id=payment.id, chain_id=payment.id)
    assert await db.write(start_follow_up_writes(capture, [balance_change]), label="test")
    assert [row.position for row in await list_chain(db, MERCHANT, payment.id, 10)] == [1, 2]
    await db.close()


def make_paid(payment_id: str, payment_type: str, state: State, code: str) -> dict[str, Any]:
    row = REVISION_ROWS["0010"]["payments"]
    return {**row, "id": payment_id, "payment_type": payment_type, "state": int(state), "result_code": code}


def make_told(subject_id: str, at: int, code: str, topic: str = "payment.completed") -> dict[str, Any]:
    told = {"merchant_id": MERCHANT, "id": make_timed_id(at, subject_id), "subject_id": subject_id}
    return {**told, "topic": topic, "created_at": at, "result_code": code}


async def test_events_from_before_webhooks_get_the_names_of_the_catalogue(make_url: Callable[[], str]) -> None:
    codes = [("DB", state, code) for state in (State.APPROVED, State.DECLINED) for code in RESULTS]
    types = [(payment_type, State.APPROVED, "000.100.110") for payment_type in NATURES]
    paid = {f"8a{place}": each for place, each in enumerate([*codes, *types])}
    url = make_url()
    async with open_at(url, "0010") as old:
        await insert_rows(old, "payments", [make_paid(payment_id, *each) for payment_id, each in paid.items()])
        await insert_rows(old, "outbox", [make_told(payment_id, 5, code) for payment_id, (*_, code) in paid.items()])

    db = await open_database(url, contracts=True)

    assert {event.subject_id: event.topic for event in await list_events(db, MERCHANT)} == {
        payment_id: choose_payment_event(payment_type, code, is_approved=state is State.APPROVED)
        for payment_id, (payment_type, state, code) in paid.items()
    }
    await db.close()


async def test_events_from_before_webhooks_are_numbered_and_counted(make_url: Callable[[], str]) -> None:
    url = make_url()
    async with open_at(url, "0010") as old:
        payments = [
            make_paid("waited", "DB", State.APPROVED, "000.100.110"),
            make_paid("waits", "PA", State.WAITING, "000.200.000"),
            make_paid("started", "DB", State.STARTED, ""),
        ]
        await insert_rows(old, "payments", payments)
        told = [make_told("waited", at, code) for at, code in ((30, "000.100.110"), (7, "000.200.000"))]
        told += [make_told("waits", 8, "000.200.000"), make_told("card", 9, "000.100.110", "registration.created")]
        # An event of another merchant counts for that one.
        told.append(make_told("waits", 9, "000.200.000") | {"merchant_id": "8aff"})
        await insert_rows(old, "outbox", told)

    db = await open_database(url, contracts=True)

    assert [(event.subject_id, event.sequence, event.topic) for event in await list_events(db, MERCHANT)] == [
        ("waited", 1, "payment.pending"),
        ("waits", 1, "payment.pending"),
        ("card", 1, "registration.created"),
        ("waited", 2, "payment.succeeded"),
    ]
    found = [await find_payment(db, MERCHANT, name) for name in ("waited", "waits", "started")]
    assert [payment.events for payment in found if payment] == [2, 1, 0]
    await db.close()


def test_every_revision_has_rows_to_upgrade_from() -> None:
    assert list_uncovered(migrating.VERSIONS) == []


def test_a_revision_without_rows_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(migrating.VERSIONS, tmp_path / "migrations")
    text = f'revision = "9999"\ndown_revision = "{migrating.HEAD}"\n\n\ndef upgrade() -> None:\n    pass\n'
    (tmp_path / "migrations/versions/9999_next.py").write_text(text)

    assert list_uncovered(tmp_path / "migrations") == ["9999"]
