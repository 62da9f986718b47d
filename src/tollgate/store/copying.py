"""Whole tables of a store: which of them a snapshot or a backup has, reading them at one moment, and replacing them.

How they are kept in a file is not known here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
import sqlalchemy as sa

from tollgate.payments.users import OFFICE_PASSWORD
from tollgate.store import audit_log, hot, merchants, migrating, opening, schema, search_index, sightings, statements
from tollgate.store.codec import ONE, ZERO
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
    schema.approvals: "what was decided stays decided",
    schema.saved_views: "they belong to users",
    schema.audit_log: "nothing is taken back from the audit log",
    schema.delivery_workers: "they are heartbeats of running processes",
    schema.recent_declines: "they are what running processes tell each other",
    schema.ip_ranges: "an imported file belongs to the host",
    schema.bin_countries: "an imported file belongs to the host",
}
"""The tables that a snapshot neither has nor changes, and why."""

SAVED = tuple(table for table in schema.METADATA.sorted_tables if table not in UNSAVED)


TRANSIENT = {
    schema.user_sessions: "everybody signs in again, also whoever was signed out after the backup",
    schema.delivery_workers: "they are heartbeats of running processes",
    schema.recent_declines: "they are what running processes tell each other",
}
"""The tables that a backup does not have, and why."""


class SettingRow(msgspec.Struct, frozen=True):
    """The decision about a setting, or about all whose names begin so."""

    name: str
    """A name that ends with a dot or a slash is a beginning."""
    is_saved: bool
    """It is in a snapshot."""
    reason: str
    is_backed_up: bool = True

    @property
    def is_prefix(self) -> bool:
        return self.name.endswith((".", "/"))

    def covers(self, name: str) -> bool:
        return name.startswith(self.name) if self.is_prefix else name == self.name


SETTINGS = (
    SettingRow(audit_log.AUDIT_HEAD, False, "nothing is taken back from the audit log"),
    SettingRow(merchants.MERCHANTS_VERSION, False, "processes notice a load by its growth"),
    SettingRow(search_index.REMOVALS, False, "the index worker notices a load by its growth"),
    SettingRow(sightings.CHANGES, False, "processes notice a load by its growth"),
    SettingRow(sightings.PAST_CHANGES, False, "processes notice a load by its growth"),
    SettingRow(f"sealed/{OFFICE_PASSWORD}", False, "a snapshot changes nobody's access"),
    SettingRow("users_revision", False, "a snapshot changes nobody's access"),
    SettingRow("webhook_secrets_unseen.", False, "a secret that was shown once is not shown again"),
    SettingRow("sealed/erasure/", False, "it names a person, and whoever ordered the erasure still wants it"),
    SettingRow("base_url", False, "the address belongs to the process that serves"),
    SettingRow("geoip.", False, "an imported file belongs to the host"),
    SettingRow("bins.", False, "an imported file belongs to the host"),
    SettingRow("archive_lease.", False, "a running command has it", is_backed_up=False),
    SettingRow(migrating.NEEDED_REVISION, False, "it belongs to the tables", is_backed_up=False),
    SettingRow("write_check", False, "the check belongs to the store", is_backed_up=False),
    SettingRow("clock_offset", True, "payments are timed by it"),
    SettingRow(search_index.CURSOR, True, "it says how far the terms and tallies of the snapshot go"),
    SettingRow("accounts_wiped.", True, "it says up to which payment accounts were wiped"),
    SettingRow("events_kept_since", True, "it says which payments of the snapshot have events"),
    SettingRow("sightings_since.", True, "it says from when on the sightings of the snapshot are complete"),
    SettingRow("sandbox_tenant", True, "it names a merchant of the snapshot"),
    SettingRow("sealed/acquirer/", True, "it belongs to the channels of the snapshot"),
    SettingRow("sealed/sandbox_wallets", True, "wallet keys of the snapshot belong to it"),
)
"""All settings of a store. A snapshot neither has nor changes those that are not saved."""


def is_kept(name: str) -> bool:
    """Tells whether a snapshot leaves a setting alone."""
    return any(row.covers(name) for row in SETTINGS if not row.is_saved)


def _has_name(row: SettingRow) -> sa.ColumnElement[bool]:
    name = schema.settings.c.name
    written: sa.ColumnElement[str] = sa.literal_column(f"'{row.name}'")
    return (
        sa.func.substr(name, ONE, sa.literal_column(str(len(row.name)))) == written
        if row.is_prefix
        else name == written
    )


_FREE = (
    # A living process would count as the owner of what it does not know.
    statements.Write(statements.Statement(sa.update(schema.deliveries).values(lease_owner=sa.null())), {}),
    statements.Write(statements.Statement(sa.update(schema.jobs).values(lease_owner=sa.null(), leased_until=ZERO)), {}),
)


def get_table(name: str) -> sa.Table:
    return schema.METADATA.tables[name]


class Content:
    """A choice of what is copied: whole tables, and all settings but some."""

    def __init__(self, tables: Sequence[sa.Table], settings_left: Iterable[SettingRow]) -> None:
        self.tables = tuple(tables)
        self._is_copied_setting = sa.and_(*[sa.not_(_has_name(row)) for row in settings_left])

    def select_all(self, table: sa.Table, dialect: statements.Dialect) -> str:
        selected = sa.select(*table.columns)
        if table is schema.settings:
            selected = selected.where(self._is_copied_setting)
        return statements.Statement(selected).compiled_for(dialect).text

    def delete_all(self, table: sa.Table, dialect: statements.Dialect) -> str:
        deleting = sa.delete(table)
        if table is schema.settings:
            deleting = deleting.where(self._is_copied_setting)
        return statements.Statement(deleting).compiled_for(dialect).text


_UNSAVED_SETTINGS = [row for row in SETTINGS if not row.is_saved]
SNAPSHOT = Content(SAVED, _UNSAVED_SETTINGS)
FORK = Content((*SAVED, schema.credentials), _UNSAVED_SETTINGS)
BACKUP = Content(
    [table for table in schema.METADATA.sorted_tables if table not in TRANSIENT],
    [row for row in SETTINGS if not row.is_backed_up],
)


async def find_filled_table(database: Database) -> str | None:
    """Returns the name of a table that has rows; a store that was just made has nothing but settings."""
    for table in schema.METADATA.sorted_tables:
        if table is not schema.settings:
            first = statements.Statement(sa.select(ONE).select_from(table).limit(ONE))
            if await database.fetch_one(first, {}) is not None:
                return str(table.name)
    return None


def list_final_writes() -> list[statements.Write]:
    """Returns what is written after the rows: processes notice by what is counted, and nothing is leased."""
    return [
        *_FREE,
        *search_index.count_all_removals_writes(),
        *opening.add_to_setting_writes(merchants.MERCHANTS_VERSION, 1),
        *sightings.count_past_change_writes(),
    ]


def read_tables(database: Database, content: Content = SNAPSHOT) -> AsyncGenerator[Batch, None]:
    """Yields the rows as they were at one moment, some at a time."""
    if database.dialect is statements.Dialect.POSTGRESQL:
        from tollgate.store import copying_postgres

        return copying_postgres.read_tables(cast("PostgresDatabase", database), content)
    from tollgate.store import copying_sqlite

    return copying_sqlite.read_tables(cast("SqliteDatabase", database), content)


async def replace_tables(database: Database, batches: AsyncIterator[Batch], content: Content = SNAPSHOT) -> int:
    """Replaces the rows of these tables in one transaction, beside running servers; returns how many there are now."""
    if database.dialect is statements.Dialect.POSTGRESQL:
        from tollgate.store import copying_postgres

        return await copying_postgres.replace_tables(cast("PostgresDatabase", database), batches, content)
    from tollgate.store import copying_sqlite

    return await copying_sqlite.replace_tables(cast("SqliteDatabase", database), batches, content)
