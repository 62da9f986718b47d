"""Partitions of PostgreSQL, from which archived rows go at once: what stays gets a new one, and the old is dropped.

Deleting the same rows one by one would leave their space in use. SQLite has no partitions.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import asyncpg

from tollgate.payments.archiving import ArchivedMonth
from tollgate.store.archives import ChainRows
from tollgate.store.database import Database
from tollgate.store.months import find_partition
from tollgate.store.partitions import COLUMNS, list_partitions, read_time
from tollgate.store.statements import Dialect

if TYPE_CHECKING:
    from tollgate.store.postgres import PostgresDatabase

LABEL = "partition replaced"
STAYING_MAX = 20_000
"""Rows that are put into a new partition; where more stay, the archived ones are deleted."""
_TRIES_MAX = 5
_PAUSE_S = 1.0
_MONTH_LOCK_TIMEOUT = "2s"
"""While the month is waited for, follow-ups of its payments wait too, and nothing else does."""
_LOCK_TIMEOUT = "200ms"
"""While the whole table is waited for, statements that do not name a month wait too."""
_EVENT_TIME_DIGITS = 16

_PAYMENT_OF = {
    "payments": "p.id",
    "ledger_entries": "p.payment_id",
    "outbox": "p.subject_id",
    # The id of an event is its time and its payment.
    "delivery_attempts": f"substr(p.event_id, {_EVENT_TIME_DIGITS + 1})",
}
"""The payment that a row belongs to, by table."""

Counts = Mapping[tuple[str, str], int]
"""The number of rows of a file that are in a partition, by table and partition."""


class PartitionCounter:
    """Counts the rows of chains by the partition in which each of them is."""

    def __init__(self, partitions: Mapping[str, Any]) -> None:
        self._partitions = partitions
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, chains: Iterable[ChainRows]) -> None:
        for chain in chains:
            for table, column in COLUMNS.items():
                for row in chain.list_rows(table):
                    found = find_partition(self._partitions[table], read_time(table, row[column]))
                    if found is not None:
                        self.counts[table, found.name] += 1


async def make_counter(db: Database) -> PartitionCounter | None:
    """Returns None on a database without partitions."""
    if db.dialect is not Dialect.POSTGRESQL:
        return None
    async with cast("PostgresDatabase", db).borrow() as connection:
        return PartitionCounter(await list_partitions(connection))


async def drop_archived(db: Database, archived: ArchivedMonth, counts: Counts, owner: str) -> bool:
    """Drops the archived rows of every partition of which little stays, and returns whether that was all.

    A partition that does not have exactly as many rows of the part as its file is left alone. Nothing is added to so
    old a month, so what stays is known before the lock is taken.
    """
    is_all = True
    for (table, partition), rows in counts.items():
        for tries_left in reversed(range(_TRIES_MAX)):
            db.probe(LABEL, "before")
            try:
                async with cast("PostgresDatabase", db).borrow() as connection, connection.transaction():
                    is_all &= await _drop_from(connection, table, partition, archived, rows, owner)
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                # Somebody reads for long, or a follow-up waits for the month, a deadlock if the machine is slow. Others
                # wait behind whoever waits for the lock, so it is given up soon.
                is_all &= tries_left > 0
                await asyncio.sleep(_PAUSE_S * (tries_left > 0))
            else:
                break
            finally:
                db.probe(LABEL, "after")
    return is_all


async def _drop_from(
    connection: asyncpg.Connection, table: str, partition: str, archived: ArchivedMonth, rows: int, owner: str
) -> bool:
    name = f'"{partition}"'
    same = f"a.merchant_id = p.merchant_id AND a.id = {_PAYMENT_OF[table]}"
    bound = await connection.fetchval(
        "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = to_regclass($1)", name
    )
    if bound is None:
        return True
    found = await connection.fetchval(
        f"SELECT count(*) FROM {name} AS p JOIN archived_payments AS a ON {same} AND a.month = $1 AND a.part = $2",
        archived.month,
        archived.part,
    )
    if found != rows:
        # None are left from an earlier try, or some were deleted one by one.
        return bool(found == 0)
    await connection.execute(
        f"CREATE TEMPORARY TABLE staying ON COMMIT DROP AS SELECT merchant_id, id FROM {name} AS p"
        f" WHERE NOT EXISTS (SELECT FROM archived_payments AS a WHERE {same}) LIMIT {STAYING_MAX + 1}"
    )
    staying = await connection.fetchval("SELECT count(*) FROM staying")
    if staying > STAYING_MAX:
        return False
    # From here on nothing of the month changes; what is copied is copied before others have to wait.
    await connection.execute(f"SET LOCAL lock_timeout = '{_MONTH_LOCK_TIMEOUT}'")
    await connection.execute(f"LOCK TABLE {name} IN SHARE MODE")
    is_ours = await connection.fetchval("SELECT value = $1 FROM settings WHERE name = 'archive_lease.owner'", owner)
    if not is_ours:
        return False
    if staying:
        await _keep(connection, table, name, staying)
    # Shorter than the time after which PostgreSQL looks for deadlocks: a follow-up of the month would be part of one.
    await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
    await connection.execute(f"LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE")
    await connection.execute(f"ALTER TABLE {table} DETACH PARTITION {name}")
    await connection.execute(f"DROP TABLE {name}")
    if staying:
        await connection.execute(f"ALTER TABLE staying_rows RENAME TO {name}")
        await connection.execute(f"ALTER TABLE {table} ATTACH PARTITION {name} {bound}")
    return True


async def _keep(connection: asyncpg.Connection, table: str, name: str, staying: int) -> None:
    """Copies what stays into a table that has the indexes of a partition already, so that attaching it is short."""
    await connection.execute(
        f"CREATE TABLE staying_rows (LIKE {table} INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING INDEXES)"
    )
    kept = await connection.execute(
        f"INSERT INTO staying_rows SELECT p.* FROM {name} AS p JOIN staying USING (merchant_id, id)"
    )
    if kept != f"INSERT 0 {staying}":
        raise ValueError(f"{staying} rows of {name} were to stay, and not all of them were found")
