"""A store that an audit walks, filled once and put back before each test; and a hand that changes it. No test here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
import sqlalchemy as sa

from postgres import PostgresCluster
from tollgate.flows import verify as verifying
from tollgate.flows.auditing import Audit, AuditReport, Table
from tollgate.flows.verify import verify
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.statements import Dialect, Statement, Write
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring

TABLES = (
    "payments",
    "ledger_entries",
    "outbox",
    "jobs",
    "idempotency_keys",
    "settings",
    "authentications",
    "instructions",
    "reviews",
    "bank_files",
    "registrations",
    "schedules",
    "schedule_runs",
    "checkouts",
    "announcements",
    "deliveries",
)


@dataclass
class Stock:
    """A store full of lives, made once; copies of its tables restore them before each test."""

    url: str
    keyring: Keyring
    ids: dict[str, str]


class Lived(Protocol):
    @property
    def keyring(self) -> Keyring: ...

    @property
    def ids(self) -> dict[str, str]: ...


def make_stock(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    live: Callable[[Database], Awaitable[Lived]],
) -> Stock:
    """Fills the database that the fixture was asked for with these lives."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('stock')}/store.db"
    else:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        url = cluster.create_database(request.getfixturevalue("postgres_template"))

    async def fill() -> Stock:
        database = await open_database(url)
        lives = await live(database)
        await keep_tables(database)
        await database.close()
        return Stock(url, lives.keyring, lives.ids)

    return asyncio.run(fill())


async def keep_tables(database: Database) -> None:
    await run(database, *[f"CREATE TABLE kept_{table} AS SELECT * FROM {table}" for table in TABLES])


@asynccontextmanager
async def put_back(stock: Stock) -> AsyncIterator[Database]:
    database = await open_database(stock.url)
    for table in TABLES:
        await run(database, f"DELETE FROM {table}", f"INSERT INTO {table} SELECT * FROM kept_{table}")
    yield database
    await database.close()


async def run(database: Database, *texts: str) -> None:
    assert await database.write([Write(Statement(sa.text(text), is_write=True), {}) for text in texts], label="test")


async def audit(database: Database, keyring: Keyring, findings_max: int = 1000) -> AuditReport:
    return await verify(database, keyring, lambda _table, _rows: None, findings_max, pauses_s=(0.0,))


async def tamper(database: Database, sql: str, rows: int = 1, **params: str | bytes) -> None:
    named = {name: value for name, value in params.items() if f":{name}" in sql}
    assert await database.write([Write(Statement(sa.text(sql), is_write=True), named, rows=rows)], label="test")


async def read_plan(folder: Path, statement: Statement) -> list[str]:
    """Returns how SQLite finds what the statement asks for, a line for each table."""
    database = await open_database(str(folder / "store.db"))
    compiled = statement.compiled_for(Dialect.SQLITE)
    explain = Statement(sa.text(f"EXPLAIN QUERY PLAN {compiled.text}".replace("?", "NULL")))
    plan = [str(row[3]) for row in await database.fetch(explain, {})]
    await database.close()
    return plan


def act_between_reads(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[MerchantId], Awaitable[None]]) -> None:
    """Lets `act` happen after rows of a table are read and before what they refer to is."""

    def change(table: Table) -> Table:
        read_first, *others = table.reads

        async def read(audit: Audit, merchant_id: MerchantId, rows: Sequence[Any]) -> Any:
            await act(merchant_id)
            return await read_first(audit, merchant_id, rows)

        return msgspec.structs.replace(table, reads=(read, *others))

    tables = tuple(change(table) if table.name == name else table for table in verifying.TABLES)
    monkeypatch.setattr(verifying, "TABLES", tables)
