"""Emptying tables between the examples of a test, which make the same ids again. Knows nothing of what is in them."""

from __future__ import annotations

import sqlalchemy as sa

from tollgate.store.database import Database
from tollgate.store.schema import POSTGRESQL_METADATA
from tollgate.store.statements import Dialect, Statement

WITH_PAYMENTS = ("payments", "idempotency_keys", "outbox", "ledger_entries", "jobs")


async def empty_tables(db: Database, *others: str) -> None:
    """Empties the tables that are written with payments, and those of these names."""
    of_database = POSTGRESQL_METADATA.tables if db.dialect is Dialect.POSTGRESQL else ()
    for table in (*WITH_PAYMENTS, *others, *of_database):
        await db.fetch(Statement(sa.text(f"DELETE FROM {table}"), is_write=True), {})
