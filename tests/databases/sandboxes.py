"""A store with rows in every table, and an app on it that saves, loads and forks."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from tollgate.contract.answers import Envelope
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.store.copying import is_kept
from tollgate.store.database import Database
from tollgate.store.schema import METADATA, TIMED_ID, settings
from tollgate.store.statements import Statement, Write
from tollgate.values import DAY, SystemClock
from tollgate.vault.keyring import Keyring, make_keyring
from unit.app_fixture import ScriptedWire

Rows = list[tuple[Any, ...]]
_FREED = ("lease_owner", "leased_until")
ROWS = 450
"""More than one batch."""


def make_app(db: Database, keyring: Keyring | None = None, *, is_live: bool = False) -> App:
    return App(
        database=db,
        merchants=MerchantCache(),
        keyring=keyring or make_keyring(),
        clock=SystemClock(),
        envelope=Envelope("test"),
        is_live=is_live,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * DAY,
        find_wire=lambda _address, _account=None: ScriptedWire(),
    )


def _make_value(column: sa.Column[Any], word: str, number: int) -> object:
    if column.type is TIMED_ID:
        return f"{number:016x}{word} {column.name} ünïcödé"
    if isinstance(column.type, sa.LargeBinary):
        return f"{word} {column.name} {number}".encode() + bytes(range(256))
    if isinstance(column.type, sa.Text):
        return f"{word} {column.name} ünïcödé {number}"
    # Every third one is absent where it may be.
    return None if column.nullable and number % 3 == 0 else number


async def fill(db: Database, word: str, count: int) -> None:
    """Adds rows to every table, which are told apart by the word."""
    for table in METADATA.sorted_tables:
        values: dict[str, Any] = {column.name: sa.bindparam(column.name) for column in table.columns}
        inserting = Statement(sa.insert(table).values(values))
        start = 1_000 * len(word)
        await db.write(
            [
                Write(inserting, {column.name: _make_value(column, word, number) for column in table.columns})
                for number in range(start, start + count)
            ],
            label="test rows",
        )


async def put(db: Database, name: str, value: str) -> None:
    await db.write(
        [
            Write(Statement(sa.delete(settings).where(settings.c.name == sa.bindparam("name"))), {"name": name}),
            Write(
                Statement(sa.insert(settings).values(name=sa.bindparam("name"), value=sa.bindparam("value"))),
                {"name": name, "value": value},
            ),
        ],
        label="test setting",
    )


async def read(db: Database, table: sa.Table) -> Rows:
    """Returns all rows in a fixed order, without leases and the settings that are not saved."""
    columns = [column for column in table.columns if column.name not in _FREED]
    rows = [tuple(row) for row in await db.fetch(Statement(sa.select(*columns)), {})]
    return sorted((row for row in rows if table is not settings or not is_kept(row[0])), key=repr)


async def read_all(db: Database) -> dict[str, Rows]:
    return {table.name: await read(db, table) for table in METADATA.sorted_tables}
