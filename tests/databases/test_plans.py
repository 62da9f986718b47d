"""The planners find rows by the key that was meant, even on a young table whose size they do not know yet."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import asyncpg
import pytest

import tollgate.store
from postgres import PostgresCluster
from tollgate.payments.order import TestMode
from tollgate.payments.reporting import Period, Search
from tollgate.store import bank_files, instructions, payments, reports
from tollgate.store import idempotency as idempotency_records
from tollgate.store.hot import COMPLETE, BatchText
from tollgate.store.months import get_month, make_partition_name
from tollgate.store.opening import open_database
from tollgate.store.partitions import COLUMNS, make_partitions
from tollgate.store.postgres_batches import BATCH_SETTINGS
from tollgate.store.postgres_months import render
from tollgate.store.retention import SEALED_ACCOUNTS
from tollgate.store.schema import METADATA
from tollgate.store.statements import Dialect, Statement

pytestmark = pytest.mark.anyio

BY_KEY = "payments USING INDEX sqlite_autoindex_payments_1"
BY_TIME = "payments USING INDEX payments_by_time (channel_id=? AND merchant_id=? AND (created_at,id)>(?,?)"
BY_REFERENCE = (
    "payments USING INDEX payments_by_transaction "
    "(merchant_id=? AND channel_id=? AND merchant_transaction_id=? AND (created_at,id)>(?,?)"
)
BY_LIFECYCLE = (
    "payments USING INDEX payments_by_lifecycle "
    "(merchant_id=? AND channel_id=? AND lifecycle_id=? AND (created_at,id)>(?,?)"
)
BY_DAY = "ledger_entries USING PRIMARY KEY (merchant_id=? AND id>? AND id<?)"

DATES = reports.shape_search(Search(short_id="x", payment_types=("DB", "PA"), methods=("CC",)))
REFERENCE = reports.shape_search(Search(reference="x", payment_types=("DB",)))
LIFECYCLE = reports.shape_search(Search(lifecycle_id="x"))
DAYS = reports.shape_period(
    Period(begins_at=0, ends_at=1, currency="EUR", test_mode=TestMode.INTERNAL, payment_types=("CB",))
)
BACKWARDS = reports.shape_period(Period(begins_at=0, ends_at=1, is_newest_first=True))

SMALL = {
    "approvals", "archived_months", "bank_files", "delivery_workers", "inboxes", "merchants",
    "risk_entries", "risk_rules",
    "planned_outcomes", "saved_views", "settings", "users", "webhooks",
}  # fmt: skip
"""Tables whose rows people make, so that reading a merchant's rows, or all of them, is short work."""
SHORT = ("announcements_pending", "deliveries_pending", "instructions_open")
"""Indexes that hold only what waits."""
FIRST_ROWS = {"audit._sample", "registrations._newest", "search_index._newest_events"}
"""Statements that walk along a key and stop at the first rows."""
BEHIND = {"sightings._count_all", "archives._count_places"}
"""Statements that only a worker or an audit runs, beside payments."""
POSTGRESQL_ONLY = {"notices._notify", "sightings._insert_texts", "sightings._looks"}
"""Statements that SQLite is never given."""
STATEMENTS = {
    full_name: value
    for module in pkgutil.iter_modules(tollgate.store.__path__)
    for name, value in vars(importlib.import_module(f"tollgate.store.{module.name}")).items()
    if isinstance(value, Statement)
    and (full_name := f"{module.name}.{name}") not in FIRST_ROWS | BEHIND | POSTGRESQL_ONLY
}

READS = [
    (payments.PAYMENTS.by_key, BY_KEY),
    (payments._get_sealed, BY_KEY),
    (payments._overdue, "payments USING INDEX payments_in_flight"),
    (SEALED_ACCOUNTS.page, BY_KEY),
    (reports.make_search(DATES), BY_TIME),
    (reports.make_search(REFERENCE), BY_REFERENCE),
    (reports.make_search(LIFECYCLE), BY_LIFECYCLE),
    (reports.make_report_entries(DAYS), BY_DAY),
    (reports.make_report_entries(BACKWARDS), BY_DAY),
    (reports.make_tallies(DAYS), BY_DAY),
    (reports.make_seller_sums(DAYS.filters), BY_DAY),
    (idempotency_records._find, "idempotency_keys USING INDEX sqlite_autoindex_idempotency_keys_1"),
    (instructions._batches, "instructions USING INDEX instructions_open"),
    (instructions._due, "instructions USING INDEX instructions_open"),
    (instructions._postpone, "instructions USING INDEX instructions_open"),
    (instructions._file, "instructions USING INDEX sqlite_autoindex_instructions_1 (merchant_id=? AND id=?)"),
    (instructions._by_ids, "instructions USING INDEX sqlite_autoindex_instructions_1 (merchant_id=? AND id=?)"),
    (instructions._by_file, "instructions USING INDEX instructions_by_file (merchant_id=? AND file_id=?)"),
    (bank_files._days, "bank_files USING COVERING INDEX sqlite_autoindex_bank_files_2"),
]


async def explain_sqlite(tmp_path: Path, text: str, places: int) -> list[str]:
    await (await open_database(str(tmp_path / "store.db"))).close()
    connection = apsw.Connection(str(tmp_path / "store.db"))
    plan = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", [None] * places)]
    connection.close()
    return plan


@pytest.mark.parametrize(("statement", "way"), READS)
async def test_every_read_of_sqlite_goes_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]


async def test_no_statement_reads_all_rows_of_a_merchant(tmp_path: Path) -> None:
    await (await open_database(str(tmp_path / "store.db"))).close()
    connection = apsw.Connection(str(tmp_path / "store.db"))
    found = {}
    for name, statement in STATEMENTS.items():
        compiled = statement.compiled_for(Dialect.SQLITE)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {compiled.text}", [None] * len(compiled.names))
        if lines := [line for row in plan if reads_much(line := str(row[3]))]:
            found[name] = lines
    connection.close()

    assert len(STATEMENTS) > 100
    assert found == {}


def reads_much(line: str) -> bool:
    """Tells whether a line of a plan walks a large table, or all rows of one merchant in it."""
    words = line.split()
    is_walk = words[0] == "SCAN" or line.endswith("(merchant_id=?)")
    return is_walk and words[1] in METADATA.tables and words[1] not in SMALL and not any(n in line for n in SHORT)


async def test_completing_on_sqlite_uses_the_primary_key(tmp_path: Path) -> None:
    completing = COMPLETE.parts[0].statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, completing.text, len(completing.names))

    assert [line.partition(" (")[0] for line in plan] == [f"SEARCH {BY_KEY}"]


@pytest.fixture
async def connection(cluster: PostgresCluster, postgres_template: str) -> AsyncIterator[asyncpg.Connection]:
    made = await asyncpg.connect(cluster.create_database(postgres_template), server_settings=BATCH_SETTINGS)
    yield made
    await made.close()


@pytest.mark.parametrize("is_placed", [True, False])
@pytest.mark.parametrize("text", COMPLETE.texts, ids=["lean", "announced", "rich"])
async def test_completing_on_postgresql_uses_primary_keys_from_the_first_row_on(
    connection: asyncpg.Connection, text: BatchText, *, is_placed: bool
) -> None:
    for table in COLUMNS:
        async with connection.transaction():
            await make_partitions(connection, table, [0])
    places = {table: make_partition_name(table, get_month(0)) for table in COLUMNS} if is_placed else {}
    kinds = [kind for _, kind in COMPLETE.columns[: text.width]]
    plans = []
    for query, arguments in (
        (text.many, ", ".join(f"ARRAY[NULL]::{kind}[]" for kind in kinds)),
        (text.one, ", ".join(f"NULL::{kind}" for kind in kinds)),
    ):
        await connection.execute(f"DEALLOCATE ALL; PREPARE hot AS {render(query, places)}")
        lines = [record[0] for record in await connection.fetch(f"EXPLAIN EXECUTE hot({arguments})")]
        plans.append([line.split(" using ")[1].split()[0] for line in lines if " using " in line])
        assert not [line for line in lines if "Seq Scan" in line]

    expected = ["payments_1970_01_pkey"]
    if text is COMPLETE.texts[-1]:
        expected.append("idempotency_keys_pkey")
    assert plans == [expected, expected]
