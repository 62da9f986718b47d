"""How fast the store starts and settles payments, beside what the bare database does. Measures, asserts nothing."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from postgres import PostgresCluster
from tollgate.payments import CardFace, Payment, Settlement, State
from tollgate.store import Database, open_database, settle_payment, start_payment
from tollgate.values import ChannelId, MerchantId, Money, PaymentId, make_id

ECHO = {f"customer.field{n}": "some text of a usual length" for n in range(8)}
SEALED = os.urandom(220)
MERCHANT = MerchantId(make_id())
CHANNEL = ChannelId(make_id())


def make_payment() -> Payment:
    now = time.time_ns() // 1000
    return Payment(
        id=PaymentId(make_id()),
        merchant_id=MERCHANT,
        channel_id=CHANNEL,
        kind="DB",
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
        card=CardFace(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034", holder="Jane Jones"),
        echo=ECHO,
    )


def make_settlement(payment: Payment) -> Settlement:
    from msgspec.structs import replace

    settled = replace(
        payment,
        state=State.APPROVED,
        result_code="000.100.110",
        details={"ConnectorTxID1": make_id(), "AcquirerResponse": "00"},
        settled_at=payment.created_at + 1000,
    )
    return Settlement(payment=settled, errand=None)


async def pay_in_a_row(db: Database, until: float, waits: list[float]) -> None:
    while (begun := time.perf_counter()) < until:
        payment = make_payment()
        if not await start_payment(db, payment, SEALED, None):
            raise RuntimeError("a payment without a key was refused")
        if not await settle_payment(db, make_settlement(payment), None):
            raise RuntimeError("a payment was settled by somebody else")
        waits.append(time.perf_counter() - begun)


async def measure(db: Database, callers: int, seconds: float) -> str:
    waits: list[float] = []
    cpu, begun = time.process_time(), time.perf_counter()
    await asyncio.gather(*[pay_in_a_row(db, begun + seconds, waits) for _ in range(callers)])
    spent, cpu = time.perf_counter() - begun, time.process_time() - cpu
    waits.sort()
    count = len(waits)
    return (
        f"{count / spent:8.0f} payments/s   p50 {waits[count // 2] * 1e3:6.2f} ms   "
        f"p99 {waits[count * 99 // 100] * 1e3:6.2f} ms   {cpu / count * 1e6:5.0f} CPU us/payment"
    )


async def run(name: str, url: str, callers: list[int], seconds: float, rounds: int) -> None:
    db = await open_database(url)
    await measure(db, 16, 0.5)
    for _ in range(rounds):
        for count in callers:
            print(f"{name:9} {count:3} callers {await measure(db, count, seconds)}", flush=True)
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
            uvloop.run(run("sqlite", f"{folder}/bench.db", *shape))
    if options.only != "sqlite":
        with PostgresCluster() as cluster:
            uvloop.run(run("postgres", cluster.create_database(), *shape))


if __name__ == "__main__":
    main()
