"""Searches go by an index and in its order, so that a page costs the same however many payments there are."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import pytest

from databases.samples import NOON
from databases.test_plans import BY_KEY, explain_sqlite
from postgres import PostgresCluster
from tollgate.store import search_index, searching
from tollgate.store.opening import open_database
from tollgate.store.postgres import MONTHS_AHEAD
from tollgate.store.postgres_batches import BATCH_SETTINGS
from tollgate.store.statements import Dialect, Statement
from tollgate.values import DAY

pytestmark = pytest.mark.anyio

ORDERED = [
    *[(statement, "payments_by_time") for statement in searching.BY_TIME.values()],
    *[(statement, "payments_by_transaction") for statement in searching.BY_REFERENCE.values()],
    *[(statement, "payment_terms") for statement in searching.BY_TERM.values()],
]
OTHERS = [
    (search_index._by_ids, BY_KEY),
    (searching.IN_FLIGHT, "payments USING INDEX payments_in_flight"),
    (search_index._tallies[1], "payment_tallies USING PRIMARY KEY (merchant_id=? AND hour>? AND hour<?)"),
    (search_index._far, "outbox USING PRIMARY KEY (merchant_id=? AND id>?)"),
]


@pytest.mark.parametrize(("statement", "name"), ORDERED)
async def test_lists_of_sqlite_follow_the_order_of_their_index(tmp_path: Path, statement: Statement, name: str) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    [line] = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert name in line
    assert line.startswith("SEARCH ")
    # The place to begin at is part of the key, so nothing before it is read.
    assert "(created_at," in line


@pytest.mark.parametrize(("statement", "way"), OTHERS)
async def test_other_reads_of_sqlite_go_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]


@pytest.mark.parametrize("statement", [searching.CHANGED, search_index._tails[1], search_index._newest_events])
async def test_what_is_not_indexed_yet_is_found_by_the_keys_of_events_and_payments(
    tmp_path: Path, statement: Statement
) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert [line for line in plan if line.startswith("SEARCH outbox USING PRIMARY KEY (merchant_id=?")]
    assert not [line for line in plan if line.startswith(("SCAN outbox", "SCAN payments"))]


@pytest.mark.parametrize(("statement", "name"), ORDERED)
async def test_lists_of_postgresql_follow_the_order_of_their_index(
    cluster: PostgresCluster, postgres_template: str, statement: Statement, name: str
) -> None:
    compiled = statement.compiled_for(Dialect.POSTGRESQL)
    url = cluster.create_database(postgres_template)
    database = await open_database(url)
    await database.make_months(NOON)
    await database.close()
    connection = await asyncpg.connect(url, server_settings=BATCH_SETTINGS)
    # An index of a partition counts as that of its table.
    indexes = await connection.fetch(
        f"SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = '{name}'::regclass"
    )
    await connection.execute(f"PREPARE listed AS {compiled.text}")
    # All months are between the two times.
    times = {"start_at": f"{NOON + DAY * 1000}", "last_at": "0"}
    if "DESC" not in compiled.text:
        times = {"start_at": times["last_at"], "last_at": times["start_at"]}
    arguments = ", ".join(times.get(name, "NULL") for name in dict.fromkeys(compiled.names))
    lines = [record[0] for record in await connection.fetch(f"EXPLAIN EXECUTE listed({arguments})")]
    await connection.close()

    expected = [record[0] for record in indexes] or [f"{name}_pkey"]
    assert len(expected) == (1 if name == "payment_terms" else 1 + MONTHS_AHEAD)
    for index in expected:
        assert [line for line in lines if "Index" in line and index in line]
    # The months are read one after another.
    assert not [line for line in lines if "Merge" in line]
    assert not [line for line in lines if "Sort" in line]
