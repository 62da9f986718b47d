"""A far page of a report costs as much as the first, counted in rows and steps, never in seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest

from databases.crowd import gather_crowd, name_payment
from databases.samples import MERCHANT, NOON, SHOP
from postgres import PostgresCluster
from tollgate.payments.reporting import Period, Place, Search
from tollgate.store import reports
from tollgate.store.opening import open_database
from tollgate.store.payments import find_payment
from tollgate.store.statements import CompiledText, Dialect, Statement
from tollgate.values import DAY

pytestmark = pytest.mark.anyio

CROWD = 20_000
LIMIT = 101
FAR = CROWD * 9 // 10
EVERYTHING = Search(begins_at=NOON - DAY, ends_at=NOON + DAY)
SAME_AGAIN = Search(reference="the-same-again")
PERIOD = Period(begins_at=NOON - DAY, ends_at=NOON + DAY, currency="EUR")
BACKWARDS = Period(begins_at=NOON - DAY, ends_at=NOON + DAY, is_newest_first=True)

Page = tuple[Statement, dict[str, Any]]


def ask_payments(search: Search, after: Place | None) -> Page:
    params = reports.bind_search(SHOP, search, after) | {"limit": LIMIT, "skipped": 0}
    return reports.make_search(reports.shape_search(search)), params


def ask_entries(period: Period, after: Place | None) -> Page:
    params = reports.bind_period(SHOP, period, after) | {"limit": LIMIT, "skipped": 0}
    return reports.make_report_entries(reports.shape_period(period)), params


async def fill(url: str) -> dict[str, tuple[Page, Page]]:
    """Every list with its first page and one that begins far behind it."""
    db = await open_database(url)
    await gather_crowd(db, CROWD)
    far = await find_payment(db, MERCHANT, name_payment(FAR))
    assert far is not None
    place = Place(far.created_at, far.id)
    [entry] = await reports.list_report_entries(db, SHOP, PERIOD, None, limit=1, skipped=FAR // 2)
    posted, early = entry.place, Place(0, f"{NOON + DAY // 1000:016x}")
    await db.close()
    return {
        "payments": (ask_payments(EVERYTHING, None), ask_payments(EVERYTHING, place)),
        "one reference": (ask_payments(SAME_AGAIN, None), ask_payments(SAME_AGAIN, place)),
        "the book": (ask_entries(PERIOD, None), ask_entries(PERIOD, posted)),
        "the book backwards": (ask_entries(BACKWARDS, None), ask_entries(BACKWARDS, early)),
    }


def count_steps(connection: apsw.Connection, page: Page) -> tuple[int, int]:
    """Rows found, and how many steps SQLite's machine took to find them."""
    statement, params = page
    compiled = statement.compiled_for(Dialect.SQLITE)
    seen: list[int] = []
    connection.trace_v2(
        apsw.SQLITE_TRACE_PROFILE, lambda event: seen.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
    )
    rows = connection.execute(compiled.text, compiled.bind(params)).fetchall()
    connection.trace_v2(0)
    return len(rows), seen[0]


async def test_a_far_page_takes_sqlite_as_many_steps_as_the_first(tmp_path: Path) -> None:
    lists = await fill(f"sqlite:///{tmp_path}/store.db")
    connection = apsw.Connection(str(tmp_path / "store.db"))

    counted = {title: [count_steps(connection, page) for page in pages] for title, pages in lists.items()}
    connection.close()

    for title, ((first_rows, first_steps), (far_rows, far_steps)) in counted.items():
        assert (first_rows, far_rows) == (LIMIT, LIMIT), title
        assert far_steps <= first_steps * 1.1, title


def write_literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else "NULL" if value is None else f"'{value}'"


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from walk(child)


PARENTS = "SELECT inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits"
"""An index of a partition counts as that of its table."""


async def explain(connection: asyncpg.Connection, parents: dict[str, str], page: Page) -> list[tuple[str, str, int]]:
    """Returns the scans of a page: what kind, by which index, and how many rows were visited, dropped ones included."""
    statement, params = page
    compiled: CompiledText = statement.compiled_for(Dialect.POSTGRESQL)
    values = ", ".join(write_literal(value) for value in compiled.bind(params))
    await connection.execute(f"DEALLOCATE ALL; PREPARE report AS {compiled.text}")
    text = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE report({values})")
    nodes = list(walk(json.loads(text)[0]["Plan"]))
    return [
        (
            node["Node Type"],
            parents.get(node.get("Index Name", ""), node.get("Index Name", "")),
            round(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))),
        )
        for node in nodes
        if "Scan" in node["Node Type"]
    ]


WAYS = {
    "payments": ["payments_by_time"],
    "one reference": ["payments_by_transaction"],
    "the book": ["ledger_entries_pkey", "payments_pkey", "payment_months_pkey"],
    "the book backwards": ["ledger_entries_pkey", "payments_pkey", "payment_months_pkey"],
}


@pytest.mark.parametrize("is_analysed", [False, True], ids=["young", "analysed"])
@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
async def test_a_far_page_makes_postgresql_visit_as_many_rows_as_the_first(
    cluster: PostgresCluster, postgres_template: str, mode: str, is_analysed: bool
) -> None:
    url = cluster.create_database(postgres_template)
    lists = await fill(url)
    connection = await asyncpg.connect(url, server_settings={"plan_cache_mode": mode})
    if is_analysed:
        await connection.execute("ANALYZE")

    parents = dict(await connection.fetch(PARENTS))
    scans = {title: [await explain(connection, parents, page) for page in pages] for title, pages in lists.items()}
    await connection.close()

    for title, (first, far) in scans.items():
        assert [index for _, index, _ in first] == [index for _, index, _ in far] == WAYS[title], (title, first, far)
        visited = [sum(rows for _, _, rows in page) for page in (first, far)]
        assert visited[1] <= visited[0] * 1.1, title
        assert max(visited) <= 5 * LIMIT, title
