"""Rows as each revision of the tables stores them, to be upgraded from there. A new revision adds its rows here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.script import ScriptDirectory

from databases.samples import CHANNEL, MERCHANT
from tollgate.store.database import Database
from tollgate.store.migrating import VERSIONS
from tollgate.store.statements import Dialect, Statement

_PAYMENT = {
    "merchant_id": MERCHANT,
    "id": "8a",
    "channel_id": CHANNEL,
    "payment_type": "PA",
    "state": 1,
    "amount": 9200,
    "currency": "EUR",
    "echo": "{}",
    "details": "{}",
    "lifecycle_id": "life-1",
    "outcome": "approved",
    "result_code": "000.100.110",
}

# Their ids begin with a time, by which PostgreSQL knows their partition.
_TIMED: dict[str, Mapping[str, Any]] = {
    table: {"id": "0000000000000001x"} for table in ("outbox", "ledger_entries", "delivery_attempts")
}
_ROWS: dict[str, Mapping[str, Any]] = {"payments": _PAYMENT, **_TIMED}

REVISION_ROWS: dict[str, dict[str, Mapping[str, Any]]] = {
    "0010": _ROWS,
    "0011": _ROWS,
    "0012": _ROWS,
    "0013": _ROWS,
    "0014": _ROWS,
    "0015": _ROWS,
    "0016": {**_ROWS, "payment_months": {"merchant_id": MERCHANT, "id": "8a", "created_at": 1}},
    "0017": {
        **_ROWS,
        "payment_months": {"merchant_id": MERCHANT, "id": "8a", "created_at": 1},
        "archived_months": {"month": "2024-01", "accounts": "{}"},
    },
}
"""The values that mean something, by revision and table. Other columns and tables get any value of their type."""

_OWN = ("alembic_version",)
_COLUMNS = {
    Dialect.SQLITE: """SELECT m.name, c.name, c.type FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
 WHERE m.type = 'table' AND c.dflt_value IS NULL AND (c."notnull" OR c.pk)""",
    Dialect.POSTGRESQL: """SELECT table_name, column_name, data_type FROM information_schema.columns
 WHERE table_schema = 'public' AND column_default IS NULL AND is_nullable = 'NO'""",
}
_ANY = {
    **dict.fromkeys(("TEXT", "text"), "'x'"),
    **dict.fromkeys(("INTEGER", "bigint", "smallint"), "1"),
    "BLOB": "x'00'",
    "bytea": "'\\x00'",
}


def _list_revisions(folder: Path) -> list[str]:
    return sorted(script.revision for script in ScriptDirectory(str(folder)).walk_revisions())


REVISIONS = _list_revisions(VERSIONS)


def list_uncovered(folder: Path) -> list[str]:
    return [revision for revision in _list_revisions(folder) if revision not in REVISION_ROWS]


async def _list_defaults(db: Database) -> dict[str, dict[str, str]]:
    """Lists the columns of each table that need a value, with one that they take."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, type_ in await db.fetch(Statement(sa.text(_COLUMNS[db.dialect])), {}):
        if table not in _OWN:
            tables.setdefault(table, {})[column] = _ANY[type_]
    return tables


async def insert_rows(db: Database, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes rows of which only these values mean something."""
    values = (await _list_defaults(db))[table]
    for meant in rows:
        row = values | {name: repr(value) for name, value in meant.items()}
        columns = ", ".join(f'"{name}"' for name in row)
        text = f"INSERT INTO {table} ({columns}) VALUES ({', '.join(row.values())})"
        # The colon of a value is no parameter.
        await db.fetch(Statement(sa.text(text.replace(":", "\\:")), is_write=True), {})


async def fill_tables(db: Database, meant: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Writes one row into every table that the database has, whatever its revision, and names the tables."""
    tables = sorted(await _list_defaults(db))
    for table in tables:
        await insert_rows(db, table, [meant.get(table, {})])
    return tables


async def count_rows(db: Database, tables: Iterable[str]) -> dict[str, int]:
    counts = {name: await db.fetch(Statement(sa.text(f"SELECT count(*) FROM {name}")), {}) for name in tables}
    return {name: rows[0][0] for name, rows in counts.items()}
