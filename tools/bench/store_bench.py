"""Measures how fast the store starts and completes payments, beside the bare database. Asserts nothing.

Run from the root: PYTHONPATH=tests python -m tools.bench.store_bench
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from tools.bench.store_baseline import INSTANT, run_bare_loop, run_pgbench

from postgres import PostgresCluster
from tollgate.payments.accounts import CardSummary
from tollgate.payments.completion import Completion
from tollgate.payments.payment import Payment, State
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, start_payment
from tollgate.values import ChannelId, MerchantId, Money, PaymentId, make_id

ECHO = {f"customer.field{n}": "some text of a usual length" for n in range(8)}
SEALED = os.urandom(220)
MAC = os.urandom(33)
MERCHANT = MerchantId(make_id())
CHANNEL = ChannelId(make_id())


def make_payment() -> Payment:
    now = time.time_ns() // 1000
    return Payment(
        id=PaymentId(make_id()),
        merchant_id=MERCHANT,
        channel_id=CHANNEL,
        payment_type="DB",
        state=State.STARTED,
        money=Money(9200, "EUR"),
        brand="VISA",
        method="card",
        descriptor="1234.5678.9012 demo shop",
        short_id="1234.5678.9012",
        ndc=make_id(),
        created_at=now,
        deadline_at=now + 60_000_000,
        merchant_transaction_id=f"order-{now}",
        card=CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034", holder="Jane Jones"),
        echo=ECHO,
    )


def make_completion(payment: Payment) -> Completion:
    completed = msgspec.structs.replace(
        payment,
        state=State.APPROVED,
        result_code="000.100.110",
        details={"ConnectorTxID1": make_id(), "AcquirerResponse": "00"},
        completed_at=payment.created_at + 1000,
        mac=MAC,
    )
    return Completion(payment=completed, recovery_task=None)


async def pay_in_a_row(db: Database, until: float, waits: list[float]) -> None:
    while (begun := time.perf_counter()) < until:
        payment = make_payment()
        if not await start_payment(db, payment, SEALED, None):
            raise RuntimeError("a payment without a key was refused")
        if not await complete_payment(db, make_completion(payment), None):
            raise RuntimeError("a payment was completed by somebody else")
        waits.append(time.perf_counter() - begun)


async def measure(db: Database, callers: int, seconds: float) -> tuple[float, str]:
    """Payments a second, and the rest in words."""
    waits: list[float] = []
    cpu, begun = time.process_time(), time.perf_counter()
    await asyncio.gather(*[pay_in_a_row(db, begun + seconds, waits) for _ in range(callers)])
    spent, cpu = time.perf_counter() - begun, time.process_time() - cpu
    waits.sort()
    count = len(waits)
    p50, p99 = (waits[count * share // 100] * 1e3 for share in (50, 99))
    words = f"p50 {p50:6.2f} ms   p99 {p99:6.2f} ms   {cpu / count * 1e6:4.0f} CPU us/payment"
    return count / spent, words


class _Capture:
    """This takes the place of a database, to learn the rows that the store would write."""

    rows: list[Any]

    async def submit(self, _hot: object, row: object, **_: object) -> bool:
        self.rows.append(row)
        return True


async def make_rows(count: int) -> list[tuple[Any, Any]]:
    capture = _Capture()
    pairs = []
    for _ in range(count):
        capture.rows = []
        payment = make_payment()
        await start_payment(capture, payment, SEALED, None)  # type: ignore[arg-type]
        await complete_payment(capture, make_completion(payment), None)  # type: ignore[arg-type]
        pairs.append((capture.rows[0], capture.rows[1]))
    return pairs


async def bench_sqlite(folder: Path, callers: list[int], seconds: float, rounds: int) -> None:
    db = await open_database(f"{folder}/store.db")
    await measure(db, 16, 0.5)
    for turn in range(rounds):
        for count in callers:
            path = folder / f"bare-{turn}-{count}.db"
            await (await open_database(str(path))).close()
            bare = run_bare_loop(path, await make_rows(1500 if count == 1 else 15_000), count)
            speed, words = await measure(db, count, seconds)
            print(f"sqlite    {count:3}: {speed:6.0f}/s {words}   bare loop {bare:6.0f}/s   ratio {speed / bare:.2f}")
    await db.close()


async def bench_postgres(cluster: PostgresCluster, callers: list[int], seconds: float, rounds: int) -> None:
    url = cluster.create_database()
    db = await open_database(url)
    await measure(db, 16, 0.5)
    name = url.rpartition("/")[2]
    await db.make_months(INSTANT)
    # Else pgbench would be measured with the plans of an empty table.
    cluster.run_sql("ANALYZE payments", name)
    for _ in range(rounds):
        best = max(run_pgbench(cluster, name, clients, seconds) for clients in (4, 16, 64))
        for count in callers:
            limit = run_pgbench(cluster, name, 1, seconds) if count == 1 else best
            speed, words = await measure(db, count, seconds)
            print(f"postgres  {count:3}: {speed:6.0f}/s {words}   pgbench {limit:6.0f}/s   ratio {speed / limit:.2f}")
    await db.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    options = parser.parse_args()
    shape = (options.callers, options.seconds, options.rounds)
    if options.only != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            uvloop.run(bench_sqlite(Path(folder), *shape))
    if options.only != "sqlite":
        with PostgresCluster(fsync=True) as cluster:
            uvloop.run(bench_postgres(cluster, *shape))


if __name__ == "__main__":
    main()
