"""The monthly partitions of PostgreSQL: listed, and made where one is missing. SQLite has none.

Which statement uses which partition is decided in `postgres_months`.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import asyncpg

from tollgate.store.months import TIME_DIGITS, Partition, Span, find_gap, make_partition_name, read_timed_id
from tollgate.store.schema import PARTITIONED
from tollgate.values import Instant

COLUMNS = {str(table.name): column for table, column in PARTITIONED.items()}
"""The tables that have partitions, with the column that says in which a row is."""

LOCK_TIMEOUT = "5s"

_LIST = """SELECT parent.relname, child.relname, pg_get_expr(child.relpartbound, child.oid)
 FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent JOIN pg_class AS child ON child.oid = inhrelid
 WHERE inhparent = ANY (ARRAY[{}])"""
_LIST_ALL = _LIST.format(", ".join(f"to_regclass('{table}')" for table in COLUMNS))
_BOUND = re.compile(r"FOR VALUES FROM \('?(\w+)'?\) TO \('?(\w+)'?\)")


async def list_partitions(connection: asyncpg.Connection | asyncpg.Pool) -> dict[str, list[Partition]]:
    """Returns the partitions of each table in their order."""
    found: dict[str, list[Partition]] = {table: [] for table in COLUMNS}
    for table, name, bound in await connection.fetch(_LIST_ALL):
        begins_at, ends_at = _read_bounds(table, bound)
        found[table].append(Partition(begins_at, ends_at, name))
    return {table: sorted(each, key=attrgetter("ends_at")) for table, each in found.items()}


def _read_bounds(table: str, bound: str) -> tuple[Instant | None, Instant]:
    matched = _BOUND.fullmatch(bound)
    if matched is None:
        raise ValueError(f"a partition of {table} that this release did not make: {bound}")
    first, last = matched.groups()
    return None if first == "MINVALUE" else _read_bound(table, first), _read_bound(table, last)


def _read_bound(table: str, bound: str) -> Instant:
    return int(bound) if table == "payments" else int(bound, 16)


def read_time(table: str, key: Any) -> Instant:
    """Returns the instant by which a row is in its partition: the value of its column, which may be an id."""
    return int(key) if COLUMNS[table] == "created_at" else read_timed_id(key)


def _render_bound(table: str, at: Instant) -> str:
    return str(at) if table == "payments" else f"'{at:0{TIME_DIGITS}x}'"


async def make_partitions(connection: asyncpg.Connection, table: str, instants: Iterable[Instant]) -> Sequence[Span]:
    """Makes the partitions that are missing for these instants, within a transaction of the caller.

    The lock lets one process make them while everybody else reads and writes; the second one finds them made. A table
    is made by itself and then attached, because making it as a partition at once would hold up all payments.
    """
    await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    await connection.execute(f"LOCK TABLE ONLY {table} IN SHARE UPDATE EXCLUSIVE MODE")
    known = (await list_partitions(connection))[table]
    made: list[Span] = []
    for at in instants:
        gap = find_gap(known, at)
        if gap is not None:
            name, (first, last) = make_partition_name(table, gap), (_render_bound(table, each) for each in gap)
            await connection.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING STORAGE)")
            await connection.execute(
                f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({last})"
            )
            made.append(gap)
            known = sorted([*known, Partition(*gap, name)], key=attrgetter("ends_at"))
    return made
