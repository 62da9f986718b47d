"""PostgreSQL beside the server: fresh databases, the limit by pgbench, and filling with stored payments."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from tools.bench.indexed import SKIP_INDEXING, render_index
from tools.bench.signing import Sign
from tools.bench.specimen import (
    COUNT_COMPLETED,
    COUNT_REFUNDS,
    FILLED_BEFORE_US,
    INSTANT_DIGITS,
    PICK_STORED,
    READ_EVENT,
    READ_LINE,
    READ_PAYMENT,
    Specimen,
    Value,
)
from tools.bench.subject import read_process_cpu_s

from postgres import USER, PostgresCluster
from tollgate.store.months import get_month, make_partition_name
from tollgate.store.partitions import COLUMNS, make_partitions
from tollgate.values import DAY, Instant

LIMIT_CONNECTIONS = (4, 16, 64)
"""pgbench is asked with each, and its best counts: too few wait for the disk, too many for each other."""

FILL_STEP = 50_000
MONTH_US = 365 * DAY // 12

_SIZES = """WITH leaves AS (
 SELECT relation.oid, coalesce(parent.inhparent, relation.oid)::regclass::text AS name
 FROM pg_class AS relation LEFT JOIN pg_inherits AS parent ON parent.inhrelid = relation.oid
 WHERE relation.relkind = 'r' AND relation.relnamespace = 'public'::regnamespace)
SELECT name, sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) FROM leaves GROUP BY name
 HAVING sum(pg_total_relation_size(oid)) > 1048576 ORDER BY sum(pg_total_relation_size(oid)) DESC"""
_COUNT_FILLED = "SELECT count(*) FROM pg_partition_tree('payments') WHERE isleaf AND pg_relation_size(relid) > 0"

_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_NOW = "(extract(epoch from clock_timestamp()) * 1000000)::int8"


@dataclass(frozen=True)
class StoredSize:
    """Bytes on disk, with indexes, after filling."""

    table_bytes: Mapping[str, int]
    index_bytes: Mapping[str, int]
    partitions: int
    """Partitions of payments that hold rows."""

    @property
    def total_bytes(self) -> int:
        return sum(self.table_bytes.values()) + sum(self.index_bytes.values())


class PostgresSide:
    name = "PostgreSQL"
    is_embedded = False

    def __init__(self, cluster: PostgresCluster, months: int = 0) -> None:
        """Fills so many months, without terms of the search; without a number, one moment with them."""
        self._cluster = cluster
        self._months = months

    @property
    def version(self) -> str:
        return f"PostgreSQL {self._cluster.run_sql('SHOW server_version').split()[0]}"

    @property
    def process_counts(self) -> Sequence[int]:
        """One, and one for each core, as production runs it."""
        return sorted({1, os.cpu_count() or 1})

    def create_database(self) -> str:
        return self._cluster.create_database()

    def read_specimen(self, address: str) -> Specimen:
        return Specimen(*(self._fetch(address, text) for text in (READ_PAYMENT, READ_EVENT, READ_LINE)))

    def count_completed(self, address: str) -> tuple[int, int]:
        """Counts approved payments, and events."""
        payments, events = self._fetch(address, COUNT_COMPLETED).values()
        return int(str(payments)), int(str(events))

    def count_refunds(self, address: str) -> tuple[int, int]:
        """Counts approved refunds, and ledger entries that give back."""
        refunds, lines = self._fetch(address, COUNT_REFUNDS).values()
        return int(str(refunds)), int(str(lines))

    def pick_stored(self, address: str, count: int) -> list[str]:
        """Returns the ids of so many filled payments, from anywhere among them."""
        return self._cluster.run_sql(f"{PICK_STORED}{count}", _database_of(address)).split()

    def measure_limit(self, address: str, specimen: Specimen, seconds: int) -> Mapping[str, float]:
        """Payments per second, by how pgbench was asked."""
        with tempfile.TemporaryDirectory(prefix="tollgate-pgbench-") as folder:
            script = Path(folder) / "payment.sql"
            script.write_text(render_script(specimen), "utf-8")
            return {
                f"{connections} connections": self._run_pgbench(address, script, connections, seconds)
                for connections in LIMIT_CONNECTIONS
            }

    def fill(self, address: str, specimen: Specimen, count: int, sign: Sign) -> None:
        """Fills in completed payments, events and entries; then does what a server does to new rows sooner or later."""
        instants = _choose_instants(specimen, count, self._months)
        asyncio.run(_fill(address, specimen, instants, sign, with_terms=not self._months))
        name = _database_of(address)
        self._cluster.run_sql("VACUUM ANALYZE payments, payment_months, outbox, ledger_entries, payment_terms", name)
        self._cluster.run_sql("CHECKPOINT", name)

    def measure_size(self, address: str) -> StoredSize:
        """Measures the tables of a MiB and more, each with its partitions."""
        lines = self._cluster.run_sql(_SIZES, _database_of(address)).splitlines()
        rows = [(name, int(table), int(indexes)) for name, table, indexes in (line.split("|") for line in lines)]
        return StoredSize(
            {name: table for name, table, _ in rows},
            {name: indexes for name, _, indexes in rows},
            int(self._cluster.run_sql(_COUNT_FILLED, _database_of(address))),
        )

    def read_logged_bytes(self) -> int:
        """Returns the length of the write-ahead log so far, of all databases."""
        return int(self._cluster.run_sql("SELECT pg_current_wal_insert_lsn() - '0/0'"))

    def read_cpu_s(self) -> float:
        """Returns the seconds that all processes of the server have spent so far, also those that have ended."""
        main = int((self._cluster.folder / "db" / "postmaster.pid").read_text().split()[0])
        pids = [main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())]
        ended = Path(f"/proc/{main}/stat").read_text().rpartition(")")[2].split()[13:15]
        return sum(map(read_process_cpu_s, pids)) + sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")

    def _run_pgbench(self, address: str, script: Path, connections: int, seconds: int) -> float:
        place = urlsplit(address)
        command = [
            *(str(self._cluster.binaries / "pgbench"), "--no-vacuum", "--protocol", "prepared"),
            *("--client", str(connections), "--jobs", "2", "--time", str(seconds), "--file", str(script)),
            *("--host", str(place.hostname), "--port", str(place.port), "--username", USER, _database_of(address)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True)
        found = _TPS.search(done.stdout)
        if found is None or "number of failed transactions: 0 " not in done.stdout:
            raise RuntimeError(f"pgbench did not finish its payments: {done.stdout}{done.stderr}")
        return float(found[1])

    def _fetch(self, address: str, text: str) -> dict[str, Value]:
        async def fetch() -> Any:
            connection = await asyncpg.connect(address)
            try:
                return await connection.fetchrow(text)
            finally:
                await connection.close()

        return dict(asyncio.run(fetch()))


def render_script(specimen: Specimen) -> str:
    """The two durable commits of a payment, each one statement, as a pgbench script.

    Only what an index sees differs from row to row: the id, the merchant's reference and the instants.
    """
    payment_id = "('8a' || substr(md5(:n::text), 3))"
    varied = {
        "id": payment_id,
        "merchant_transaction_id": "('limit-' || :n::text)",
        "created_at": _NOW,
        "deadline_at": _NOW,
    }
    started = _render_values(specimen.started, varied)
    completed = _render_values(specimen.completed, {"completed_at": _NOW})
    timed_id = f"lpad(to_hex(completed_at), {INSTANT_DIGITS}, '0') || id"
    event = _render_values(specimen.event, {"id": timed_id, "subject_id": "id", "created_at": "completed_at"})
    line = _render_values(specimen.line, {"id": timed_id, "payment_id": "id", "posted_at": "completed_at"})
    key = f"merchant_id = {_quote(specimen.payment['merchant_id'])} AND id = {payment_id}"
    month = ", ".join(started[name] for name in ("merchant_id", "id", "created_at"))
    # Frequent writes of the server name the partition too; that of the specimen is the present one.
    written_at = get_month(int(str(specimen.payment["created_at"])))
    payments, entries, events = (
        make_partition_name(table, written_at) for table in ("payments", "ledger_entries", "outbox")
    )
    results = ", ".join(f"{name} = {value}" for name, value in completed.items())
    return (
        "\\set n random(1, 9000000000000000000)\n"
        f"WITH kept AS (INSERT INTO payment_months (merchant_id, id, created_at) VALUES ({month}))"
        f" INSERT INTO {payments} ({', '.join(started)}) VALUES ({', '.join(started.values())});\n"
        f"WITH completed AS (UPDATE {payments} SET {results}"
        # Written so that no planner takes the index of attempts in flight for the way to one row.
        f" WHERE {key} AND state + 0 = 0 RETURNING id, completed_at),"
        f" posted AS ({_render_insert(entries, line)} FROM completed)"
        f" {_render_insert(events, event)} FROM completed;\n"
    )


def _choose_instants(specimen: Specimen, count: int, months: int) -> range:
    """Returns the instants of filled payments: a microsecond apart, or equally over so many months."""
    ends_at = int(str(specimen.payment["created_at"])) - FILLED_BEFORE_US
    step = max(1, months * MONTH_US // count)
    return range(ends_at - step * count, ends_at, step)


def _list_months(instants: range) -> Iterator[Instant]:
    """Yields the beginning of each month."""
    month = get_month(instants[0])
    while month.begins_at <= instants[-1]:
        yield month.begins_at
        month = get_month(month.ends_at)


async def _fill(address: str, specimen: Specimen, instants: range, sign: Sign, *, with_terms: bool) -> None:
    texts = render_fill(specimen)
    connection = await asyncpg.connect(address)
    try:
        await connection.execute("SET synchronous_commit = off")
        for table in COLUMNS:
            async with connection.transaction():
                await make_partitions(connection, table, _list_months(instants))
        # Filled payments come before the specimen, so the worker takes them for indexed.
        await connection.execute(SKIP_INDEXING)
        for first in range(0, len(instants), FILL_STEP):
            rows = []
            for n, instant in enumerate(instants[first : first + FILL_STEP], first):
                varied = {"id": f"8a{os.urandom(15).hex()}", "merchant_transaction_id": f"stored-{n}"}
                rows.append((*varied.values(), instant, sign(**varied, created_at=instant, completed_at=instant)))
            columns = list(zip(*rows, strict=True))
            for text in texts:
                await connection.execute(text, *columns)
        for text in render_index(specimen, with_terms=with_terms):
            await connection.execute(text)
    finally:
        await connection.close()


def render_fill(specimen: Specimen) -> tuple[str, ...]:
    """Returns the statements that store payments, their events and their entries; each takes the same four arrays."""
    varied = {"id": "id", "merchant_transaction_id": "reference", "created_at": "instant", "mac": "mac"}
    payment = _render_values(specimen.payment, {**varied, "completed_at": "instant"})
    timed_id = f"(lpad(to_hex(instant), {INSTANT_DIGITS}, '0') || id)"
    event = _render_values(specimen.event, {"id": timed_id, "subject_id": "id", "created_at": "instant"})
    line = _render_values(specimen.line, {"id": timed_id, "payment_id": "id", "posted_at": "instant"})
    given = "unnest($1::text[], $2::text[], $3::int8[], $4::bytea[]) AS given(id, reference, instant, mac)"
    month = {name: payment[name] for name in ("merchant_id", "id", "created_at")}
    inserts = (("payments", payment), ("payment_months", month), ("outbox", event), ("ledger_entries", line))
    return tuple(f"{_render_insert(table, values)} FROM {given}" for table, values in inserts)


def _render_insert(table: str, values: Mapping[str, str]) -> str:
    return f"INSERT INTO {table} ({', '.join(values)}) SELECT {', '.join(values.values())}"


def _render_values(row: Mapping[str, Value], varied: Mapping[str, str]) -> dict[str, str]:
    return {name: varied.get(name) or _quote(value) for name, value in row.items()}


def _quote(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case int():
            return str(value)
        case bytes():
            return f"'\\x{value.hex()}'::bytea"
        case str():
            # A colon would be the start of a variable to pgbench, even between quotes.
            escaped = value.replace("\\", "\\\\").replace("'", "''").replace(":", "\\x3a")
            return f"E'{escaped}'"


def _database_of(address: str) -> str:
    return urlsplit(address).path.lstrip("/")
