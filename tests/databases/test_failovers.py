"""PostgreSQL on two machines, of which one dies, hangs or turns read-only: what was acknowledged is there, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from databases.samples import MERCHANT, make_completion, make_idempotency_key, make_payment
from outbox import list_events
from postgres import PostgresCluster, PostgresStandby
from tollgate.payments.payment import Payment
from tollgate.store import postgres, postgres_connecting, postgres_faults
from tollgate.store.database import Database, StoreFault, Unavailable, Unconfirmed
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, find_payment, start_payment

pytestmark = pytest.mark.anyio

WAIT_S = 120.0
"""A guard against hanging."""


@pytest.fixture
def primary() -> Iterator[PostgresCluster]:
    with PostgresCluster() as primary:
        yield primary


@pytest.fixture
def standby(primary: PostgresCluster) -> Iterator[PostgresStandby]:
    with PostgresStandby(primary) as standby:
        set_value(primary, "synchronous_standby_names", PostgresStandby.NAME)
        yield standby


@pytest.fixture
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connecting, "COMMAND_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgres_connecting, "CONNECT_TIMEOUT_S", 0.5)
    monkeypatch.setattr(postgres_faults, "GIVE_UP_AFTER_S", 1.0)
    monkeypatch.setattr(postgres, "BORROW_TIMEOUT_S", 0.5)


def set_value(cluster: PostgresCluster, name: str, value: str) -> None:
    cluster.run_sql(f"ALTER SYSTEM SET {name} = '{value}'")
    cluster.run_sql("SELECT pg_reload_conf()")


async def wait_until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not await asyncio.to_thread(is_so):
            await asyncio.sleep(0.05)


async def wait_for_more(acknowledged: list[Payment]) -> None:
    reached = len(acknowledged) + 30
    await wait_until(lambda: len(acknowledged) >= reached)


def join(*clusters: PostgresCluster) -> str:
    hosts = ",".join(f"127.0.0.1:{cluster.port}" for cluster in clusters)
    return f"postgresql://postgres@{hosts}/postgres"


async def insist(attempt: Callable[[], Awaitable[bool]]) -> bool:
    """Tries again after a fault, as a caller with an idempotency key does."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                return await attempt()
            except StoreFault:
                await asyncio.sleep(0.05)


@asynccontextmanager
async def paying(db: Database) -> AsyncIterator[list[Payment]]:
    """Pays without end within the block. What is listed was acknowledged."""
    acknowledged: list[Payment] = []
    is_over = asyncio.Event()

    async def pay() -> None:
        while not is_over.is_set():
            payment = make_payment()
            key = make_idempotency_key(payment.id)
            # A start that was written and not acknowledged is refused when it is repeated: its key is taken.
            await insist(partial(start_payment, db, payment, None, key))
            await insist(partial(complete_payment, db, make_completion(payment), None))
            acknowledged.append(payment)

    tasks = [asyncio.ensure_future(pay()) for _ in range(8)]
    try:
        yield acknowledged
    finally:
        is_over.set()
        await asyncio.gather(*tasks)


async def expect_everything_once(db: Database, cluster: PostgresCluster, acknowledged: list[Payment]) -> None:
    ids = sorted(payment.id for payment in acknowledged)
    stored = cluster.run_sql('SELECT id FROM payments WHERE result_code IS NOT NULL ORDER BY id COLLATE "C"')
    assert stored.split() == ids
    assert sorted(event.subject_id for event in await list_events(db, MERCHANT)) == ids


async def test_a_primary_that_is_killed_under_load_and_restarted_has_what_it_acknowledged(
    primary: PostgresCluster,
) -> None:
    db = await open_database(primary.dsn())

    async with paying(db) as acknowledged:
        for _ in range(3):
            await wait_for_more(acknowledged)
            primary.kill()
            await asyncio.to_thread(primary.start)
        await wait_for_more(acknowledged)

    await expect_everything_once(db, primary, acknowledged)
    await db.close()


@pytest.mark.parametrize("accident", [PostgresCluster.kill, PostgresCluster.freeze])
@pytest.mark.usefixtures("_short_waits")
async def test_a_standby_that_is_promoted_has_what_the_primary_acknowledged(
    primary: PostgresCluster, standby: PostgresStandby, accident: Callable[[PostgresCluster], None]
) -> None:
    db = await open_database(join(primary, standby))

    async with paying(db) as acknowledged:
        await wait_for_more(acknowledged)
        accident(primary)
        await asyncio.to_thread(standby.promote)
        await wait_for_more(acknowledged)

    assert await db.find_trouble() is None
    await expect_everything_once(db, standby, acknowledged)
    await db.close()
    if accident is PostgresCluster.freeze:
        primary.thaw()


async def test_a_server_that_turns_read_only_is_left_for_the_one_that_is_writable(
    primary: PostgresCluster, standby: PostgresStandby
) -> None:
    db = await open_database(join(primary, standby))
    before, after = make_payment(), make_payment()
    assert await start_payment(db, before, None, None)
    assert await db.write([], label="fills the pool")

    await asyncio.to_thread(standby.promote)
    set_value(primary, "synchronous_standby_names", "")
    set_value(primary, "default_transaction_read_only", "on")
    await wait_until(lambda: primary.run_sql("SHOW default_transaction_read_only") == "on")

    assert await insist(lambda: start_payment(db, after, None, None))
    assert await insist(lambda: complete_payment(db, make_completion(before), None))
    assert await db.find_trouble() is None
    assert standby.run_sql("SELECT count(*) FROM payments") == "2"
    assert primary.run_sql("SELECT count(*) FROM payments") == "1"
    await db.close()


@pytest.mark.usefixtures("_short_waits")
async def test_a_server_that_hangs_is_told_to_every_caller_and_works_when_it_goes_on(primary: PostgresCluster) -> None:
    db = await open_database(primary.dsn())
    payments = [make_payment() for _ in range(500)]
    stored = make_payment()
    assert await start_payment(db, stored, None, None)

    primary.freeze()
    try:
        async with asyncio.timeout(WAIT_S):
            writes = [start_payment(db, payment, None, None) for payment in payments]
            reads = [find_payment(db, MERCHANT, payment.id) for payment in payments]
            answers = await asyncio.gather(*writes, *reads, return_exceptions=True)
            trouble = await db.find_trouble()
    finally:
        primary.thaw()

    assert {type(answer) for answer in answers} <= {Unavailable, Unconfirmed}
    assert "reached" in (trouble or "")
    assert await insist(lambda: start_payment(db, make_payment(), None, None))
    assert await find_payment(db, MERCHANT, stored.id) == stored
    await db.close()


@pytest.mark.usefixtures("_short_waits")
async def test_a_payment_that_no_standby_has_is_neither_acknowledged_nor_found(primary: PostgresCluster) -> None:
    db = await open_database(primary.dsn())
    payment = make_payment()
    await db.make_months(payment.created_at)
    set_value(primary, "synchronous_standby_names", "nobody")

    with pytest.raises(Unconfirmed):
        await start_payment(db, payment, None, make_idempotency_key("key"))
    assert await find_payment(db, MERCHANT, payment.id) is None

    set_value(primary, "synchronous_standby_names", "")
    await wait_until(lambda: primary.run_sql("SELECT count(*) FROM payments") == "1")
    assert await find_payment(db, MERCHANT, payment.id) == payment
    await db.close()


async def test_a_payment_that_became_visible_before_a_standby_has_it_is_not_acknowledged(
    monkeypatch: pytest.MonkeyPatch, primary: PostgresCluster
) -> None:
    """The session of the commit is ended while it waits, as a restart of the server would end it."""
    monkeypatch.setattr(postgres_connecting, "COMMAND_TIMEOUT_S", 5.0)
    monkeypatch.setattr(postgres_faults, "GIVE_UP_AFTER_S", 1.0)
    db = await open_database(primary.dsn())
    payment = make_payment()
    await db.make_months(payment.created_at)
    set_value(primary, "synchronous_standby_names", "nobody")
    end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    starting = asyncio.ensure_future(start_payment(db, payment, None, None))
    await wait_until(lambda: primary.run_sql(end) != "0")
    await wait_until(lambda: primary.run_sql("SELECT count(*) FROM payments") == "1")

    with pytest.raises(Unconfirmed):
        await starting

    set_value(primary, "synchronous_standby_names", "")
    await db.close()
