"""The bare databases do the same two writes, one by one or in groups. Nothing of the store runs here."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from postgres import PostgresCluster
from tollgate.store.hot import COMPLETE, START, Row

# The same columns and about the same bytes as a payment of the store's benchmark; ids are made on the server, because
# pgbench has no text variables.
PAYMENT_ID = "lpad(to_hex(:a::bigint), 16, '0') || lpad(to_hex(:b::bigint), 16, '0')"
INSTANT = 1794750379364778
"""Every payment has this time, in November 2026."""
TIMED_ID = f"lpad(to_hex({INSTANT}), 16, '0') || id"
PGBENCH_SCRIPT = rf"""
\set a random(1, 9000000000000000000)
\set b random(1, 9000000000000000000)
WITH kept AS (INSERT INTO payment_months (merchant_id, id, created_at)
 VALUES (repeat('a', 32), {PAYMENT_ID}, {INSTANT}))
INSERT INTO payments_2026_11 (merchant_id, id, channel_id, payment_type, state, amount, currency, brand, method,
 descriptor, short_id, ndc, created_at, deadline_at, merchant_transaction_id, card, echo, result_code, details,
 sealed_account)
 VALUES (repeat('a', 32), {PAYMENT_ID}, repeat('b', 32), 'DB', 0, 9200, 'EUR', 'VISA', 'card',
 '1234.5678.9012 demo shop', '1234.5678.9012', repeat('c', 32), {INSTANT}, {INSTANT},
 'order-' || :a::bigint, repeat('x', 100), repeat('y', 400), '', '{{}}', decode(repeat('ab', 220), 'hex'));
WITH completed AS (UPDATE payments_2026_11 SET state = 1, outcome = 'approved', result_code = '000.100.110',
 details = repeat('z', 80), completed_at = {INSTANT}, mac = decode(repeat('cd', 33), 'hex')
 WHERE merchant_id = repeat('a', 32) AND id = {PAYMENT_ID} AND state + 0 = 0 RETURNING merchant_id, id),
posted AS (INSERT INTO ledger_entries_2026_11
 (merchant_id, id, payment_id, channel_id, currency, source, target, amount, posted_at)
 SELECT merchant_id, {TIMED_ID}, id, repeat('b', 32), 'EUR', 'shopper', 'earned', 9200, {INSTANT} FROM completed)
INSERT INTO outbox_2026_11 (merchant_id, id, subject_id, topic, created_at, result_code)
 SELECT merchant_id, {TIMED_ID}, id, 'payment.completed', {INSTANT}, '000.100.110' FROM completed;
"""


def run_pgbench(cluster: PostgresCluster, name: str, clients: int, seconds: float) -> float:
    """Payments a second, two prepared statements and two commits each."""
    script = cluster.folder / "pgbench.sql"
    script.write_text(PGBENCH_SCRIPT)
    place = ["-h", "127.0.0.1", "-p", str(cluster.port), "-U", "postgres"]
    shape = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1))]
    done = subprocess.run(
        [str(cluster.binaries / "pgbench"), *place, *shape, "-T", str(max(1, round(seconds))), "-f", str(script), name],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if found is None:
        raise RuntimeError(done.stderr)
    return float(found[1])


def run_bare_loop(path: Path, pairs: Sequence[tuple[Row, Row]], group: int) -> float:
    """Payments a second of one thread that does nothing else, committing so many at once."""
    connection = apsw.Connection(str(path))
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536"):
        connection.execute(f"PRAGMA {pragma}")
    execute = connection.cursor().execute

    def run(text: str, bindings: Sequence[Any]) -> int:
        execute(text, bindings)
        return connection.changes()

    begun = time.perf_counter()
    for at in range(0, len(pairs), group):
        _commit(execute, [(START.write_row, start) for start, _ in pairs[at : at + group]], run)
        _commit(execute, [(COMPLETE.write_row, complete) for _, complete in pairs[at : at + group]], run)
    spent = time.perf_counter() - begun
    connection.close()
    return len(pairs) / spent


def _commit(
    execute: Callable[[str], Any],
    writes: Sequence[tuple[Callable[[Callable[[str, Sequence[Any]], int], Row], bool], Row]],
    run: Callable[[str, Sequence[Any]], int],
) -> None:
    execute("BEGIN IMMEDIATE")
    for write_row, row in writes:
        write_row(run, row)
    execute("COMMIT")
