"""Whole tables of a store: which of them a snapshot has, reading them at one moment, and replacing them in one step.

How a snapshot is kept in a file is not known here.
"""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, cast

import sqlalchemy as sa

from tollgate.payments.users import OFFICE_PASSWORD
from tollgate.store import audit_log, hot, merchants, opening, schema, statements
from tollgate.store.codec import ZERO
from tollgate.store.database import Database

if TYPE_CHECKING:
    from tollgate.store.postgres import PostgresDatabase
    from tollgate.store.sqlite import SqliteDatabase

Batch = tuple[str, list[hot.Row]]
"""The name of a table, and some of its rows."""

UNSAVED = {
    schema.users: "a snapshot changes nobody's access",
    schema.grants: "a snapshot changes nobody's access",
    schema.user_sessions: "whoever is signed in stays signed in",
    schema.passkeys: "a snapshot changes nobody's access",
    schema.sign_in_failures: "a snapshot unlocks nobody",
    schema.credentials: "an access token that was revoked stays revoked",
    schema.saved_views: "they belong to users",
    schema.audit_log: "nothing is taken back from the audit log",
    schema.delivery_workers: "they are heartbeats of running processes",
}
"""The tables that a snapshot neither has nor changes, and why."""

SAVED = tuple(table for table in schema.METADATA.sorted_tables if table not in UNSAVED)

KEPT_SETTINGS = (
    audit_log.AUDIT_HEAD,
    merchants.MERCHANTS_VERSION,
    f"sealed/{OFFICE_PASSWORD}",
    # The address belongs to the process that serves, and the check to the store.
    "base_url",
    "write_check",
)
"""The settings that a snapshot neither has nor changes; the others belong to what is saved, as the clock's offset."""

_is_saved_setting = sa.and_(*[schema.settings.c.name != sa.literal_column(f"'{name}'") for name in KEPT_SETTINGS])

_FREE = (
    # A living process would count as the owner of what it does not know.
    statements.Write(statements.Statement(sa.update(schema.deliveries).values(lease_owner=sa.null())), {}),
    statements.Write(statements.Statement(sa.update(schema.jobs).values(lease_owner=sa.null(), leased_until=ZERO)), {}),
)


def get_table(name: str) -> sa.Table:
    return schema.METADATA.tables[name]


def select_all(table: sa.Table, dialect: statements.Dialect) -> str:
    selected = sa.select(*table.columns)
    if table is schema.settings:
        selected = selected.where(_is_saved_setting)
    return statements.Statement(selected).compiled_for(dialect).text


def delete_all(table: sa.Table, dialect: statements.Dialect) -> str:
    deleting = sa.delete(table)
    if table is schema.settings:
        deleting = deleting.where(_is_saved_setting)
    return statements.Statement(deleting).compiled_for(dialect).text


def list_final_writes() -> list[statements.Write]:
    """Returns what is written after the rows: processes notice by the version, and nothing is leased."""
    return [*_FREE, *opening.add_to_setting_writes(merchants.MERCHANTS_VERSION, 1)]


def read_tables(database: Database, tables: Sequence[sa.Table] = SAVED) -> AsyncIterator[Batch]:
    """Yields the rows of these tables as they were at one moment, some at a time."""
    if database.dialect is statements.Dialect.POSTGRESQL:
        from tollgate.store import copying_postgres

        return copying_postgres.read_tables(cast("PostgresDatabase", database), tables)
    from tollgate.store import copying_sqlite

    return copying_sqlite.read_tables(cast("SqliteDatabase", database), tables)


async def replace_tables(database: Database, batches: AsyncIterator[Batch], tables: Sequence[sa.Table] = SAVED) -> int:
    """Replaces the rows of these tables in one transaction, beside running servers; returns how many there are now."""
    if database.dialect is statements.Dialect.POSTGRESQL:
        from tollgate.store import copying_postgres

        return await copying_postgres.replace_tables(cast("PostgresDatabase", database), batches, tables)
    from tollgate.store import copying_sqlite

    return await copying_sqlite.replace_tables(cast("SqliteDatabase", database), batches, tables)
