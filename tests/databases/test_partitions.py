"""The monthly partitions of PostgreSQL: made ahead and on demand, written and read across months."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import msgspec
import pytest
import sqlalchemy as sa

from databases.delivery_samples import make_event
from databases.revisions import insert_rows
from databases.samples import CHANNEL, MERCHANT, make_completion, make_idempotency_key, make_payment
from databases.test_migrations import make_paid, make_told, open_at
from postgres import PostgresCluster
from tollgate.payments.completion import list_entries
from tollgate.payments.ledger import BalanceChange
from tollgate.payments.payment import Payment, State
from tollgate.store import events
from tollgate.store.database import Unwritable
from tollgate.store.named_payments import find_with_first
from tollgate.store.opening import open_database
from tollgate.store.partitions import COLUMNS, list_partitions
from tollgate.store.payments import (
    complete_payment,
    completion_writes,
    find_payment,
    list_chain,
    start_follow_up,
    start_payment,
    start_payment_writes,
)
from tollgate.store.payments import (
    make_event as make_payment_event,
)
from tollgate.store.postgres import MONTHS_AHEAD, PostgresDatabase
from tollgate.store.statements import Statement
from tollgate.values import SECOND, Instant

pytestmark = pytest.mark.anyio


def at(year: int, month: int, day: int = 1) -> Instant:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * SECOND


async def open_postgres(url: str, *, contracts: bool = False) -> PostgresDatabase:
    database = await open_database(url, contracts=contracts)
    assert isinstance(database, PostgresDatabase)
    return database


@pytest.fixture
def dsn(cluster: PostgresCluster, postgres_template: str) -> Iterator[str]:
    made = cluster.create_database(postgres_template)
    yield made
    cluster.drop_database(made)


@pytest.fixture
async def store(dsn: str) -> AsyncIterator[PostgresDatabase]:
    database = await open_postgres(dsn)
    yield database
    await database.close()


async def list_names(db: PostgresDatabase, table: str = "payments") -> list[str]:
    return [partition.name for partition in (await list_partitions(db.pool))[table]]


async def find_places(db: PostgresDatabase, table: str, column: str = "id") -> dict[object, str]:
    """Returns the partition in which each row is, by a column."""
    text = f"SELECT {column}, tableoid::regclass::text FROM {table}".replace(":", "\\:")
    return {row[0]: row[1] for row in await db.fetch(Statement(sa.text(text)), {})}


async def pay(db: PostgresDatabase, created_at: Instant, payment_type: str = "DB") -> Payment:
    payment = make_payment(created_at=created_at, payment_type=payment_type)
    assert await start_payment(db, payment, b"sealed", None)
    completion = make_completion(payment)
    assert await complete_payment(db, completion)
    return completion.payment


async def refund(db: PostgresDatabase, first: Payment, created_at: Instant) -> Payment:
    attempt = make_payment(
        payment_type="RF", action="refund", referenced_id=first.id, chain_id=first.id, created_at=created_at
    )
    reserve = BalanceChange(payment_id=first.id, reserved=1_000, left_min=0, chain_length=1)
    position = await start_follow_up(db, attempt, [reserve], None)
    assert position
    completion = make_completion(msgspec.structs.replace(attempt, position=position))
    spend = BalanceChange(payment_id=first.id, reserved=-1_000, drawn=1_000)
    assert await complete_payment(db, msgspec.structs.replace(completion, balance_changes=[spend]))
    return completion.payment


# ---- made ahead ----


async def test_the_next_months_are_made_ahead_once(store: PostgresDatabase) -> None:
    assert await store.make_months(at(2026, 11, 19)) == len(COLUMNS) * (1 + MONTHS_AHEAD)

    assert await store.make_months(at(2026, 11, 20)) == 0
    assert await store.make_months(at(2026, 12, 1)) == len(COLUMNS)
    for table in COLUMNS:
        months = ["2026_11", "2026_12", "2027_01", "2027_02", "2027_03"]
        assert await list_names(store, table) == [f"{table}_{month}" for month in months]


def test_several_processes_may_make_months_at_once(dsn: str) -> None:
    text = (
        "import asyncio, sys\n"
        "from tollgate.store.opening import open_database\n"
        "async def make():\n"
        "    db = await open_database(sys.argv[1])\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        f"    print(await db.make_months({at(2026, 11, 19)}))\n"
        "    await db.close()\n"
        "asyncio.run(make())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", text, dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"

    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=300) for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], ends
    assert sum(int(made) for made, _ in ends) == len(COLUMNS) * (1 + MONTHS_AHEAD)


# ---- made on demand ----


async def test_a_payment_of_a_month_that_nobody_made_is_written_and_found(store: PostgresDatabase) -> None:
    await store.make_months(at(2026, 11, 19))

    # The clock of a test host may be far ahead, and that of another store behind.
    paid = [await pay(store, each) for each in (at(2034, 5), at(2026, 11, 2), at(2020, 2, 29))]

    assert [await find_payment(store, MERCHANT, payment.id) for payment in paid] == paid
    expected = {
        payment.id: f"payments_{month}" for payment, month in zip(paid, ("2034_05", "2026_11", "2020_02"), strict=True)
    }
    assert await find_places(store, "payments") == expected
    assert {*(await find_places(store, "outbox")).values()} == {"outbox_2020_02", "outbox_2026_11", "outbox_2034_05"}
    assert len(await find_places(store, "ledger_entries")) == 3


async def test_a_unit_makes_the_partitions_that_it_needs(store: PostgresDatabase) -> None:
    payment = make_payment(created_at=at(2030, 6), split=())
    key = make_idempotency_key("key", created_at=payment.created_at)

    assert await store.write(start_payment_writes(payment, None, key), label="test")
    later = make_completion(payment, completed_at=at(2030, 7) + 1)
    assert await store.write(completion_writes(later), label="test")

    assert await find_payment(store, MERCHANT, payment.id) == later.payment
    assert await list_names(store) == ["payments_2030_06"]
    assert await list_names(store, "outbox") == ["outbox_2030_07"]
    assert await list_names(store, "ledger_entries") == ["ledger_entries_2030_07"]


async def test_two_processes_that_miss_one_month_both_write(store: PostgresDatabase, dsn: str) -> None:
    other = await open_postgres(dsn)

    payments = await asyncio.gather(*[pay(each, at(2031, 3)) for each in (store, other) * 8])

    assert {*(await find_places(store, "payments"))} == {payment.id for payment in payments}
    assert await list_names(other) == ["payments_2031_03"]
    await other.close()


async def test_a_process_that_has_just_started_waits_for_nobody_who_vacuums(store: PostgresDatabase, dsn: str) -> None:
    await store.make_months(at(2031, 3))
    other = await open_postgres(dsn)

    async with store.borrow() as connection, connection.transaction():
        for table in COLUMNS:
            await connection.execute(f"LOCK TABLE ONLY {table} IN SHARE UPDATE EXCLUSIVE MODE")
        payment = await pay(other, at(2031, 3))

    assert await find_payment(store, MERCHANT, payment.id) == payment
    await other.close()


async def test_a_partition_that_another_process_removed_is_made_again(store: PostgresDatabase) -> None:
    await pay(store, at(2026, 11, 2))
    for table in COLUMNS:
        for name in await list_names(store, table):
            await store.pool.execute(f"DROP TABLE {name}")

    payment = await pay(store, at(2026, 11, 3))

    assert await find_payment(store, MERCHANT, payment.id) == payment


async def test_an_id_that_begins_with_no_time_is_refused(store: PostgresDatabase) -> None:
    with pytest.raises(Unwritable):
        await store.write(events.insert_event_writes(make_event(id="not a time")), label="test")


# ---- at the change of the month ----


async def test_the_last_and_the_first_microsecond_are_in_two_months(store: PostgresDatabase) -> None:
    change = at(2026, 12)
    instants = [change - 1, change, change + 1, change - 2]

    # They share a batch, which can then name no partition.
    payments = await asyncio.gather(*[pay(store, each) for each in instants])

    assert await find_places(store, "payments", "created_at") == {
        change - 2: "payments_2026_11",
        change - 1: "payments_2026_11",
        change: "payments_2026_12",
        change + 1: "payments_2026_12",
    }
    # All results came five microseconds later.
    assert {*(await find_places(store, "outbox")).values()} == {"outbox_2026_12"}
    assert [await find_payment(store, MERCHANT, payment.id) for payment in payments] == payments


@pytest.mark.parametrize("is_remembered", [True, False])
async def test_a_late_refund_is_in_its_own_month_and_in_the_chain(
    store: PostgresDatabase, dsn: str, *, is_remembered: bool
) -> None:
    first = await pay(store, at(2026, 9, 30))
    early = await refund(store, first, at(2026, 9, 30) + SECOND)
    other = await open_postgres(dsn)
    if is_remembered:
        assert await find_with_first(other, MERCHANT, early.id) is not None

    late = [await refund(other, first, created_at) for created_at in (at(2026, 12, 5), at(2027, 1))]

    places = await find_places(other, "payments")
    months = ("2026_09", "2026_09", "2026_12", "2027_01")
    assert [places[each.id] for each in (first, early, *late)] == [f"payments_{month}" for month in months]
    chain = await list_chain(other, MERCHANT, first.id, 10)
    assert [each.id for each in chain] == [first.id, early.id, *(each.id for each in late)]
    assert [each.position for each in chain] == [1, 2, 3, 4]
    assert (chain[0].balance.drawn, chain[0].balance.reserved, chain[0].balance.chain_length) == (3_000, 0, 4)
    found = await find_with_first(other, MERCHANT, late[1].id)
    assert found == (chain[3], chain[0])
    await other.close()


async def test_a_payment_id_is_unique_over_all_months(store: PostgresDatabase) -> None:
    payment = await pay(store, at(2026, 9, 30))
    again = make_payment(id=payment.id, created_at=at(2026, 10))

    with pytest.raises(Unwritable):
        await start_payment(store, again, None, None)
    with pytest.raises(Unwritable):
        await store.write(start_payment_writes(again, None, None), label="test")

    assert len(await find_places(store, "payments")) == 1


# ---- a store of the release before ----


async def test_what_there_was_becomes_the_first_partition_without_being_copied(cluster: PostgresCluster) -> None:
    url = cluster.create_database()
    june = at(2026, 6, 15)
    first = make_paid("8a01", "DB", State.APPROVED, "000.100.110") | {"created_at": june}
    follows = {"created_at": june + 9, "chain_id": "8a01", "position": 2}
    second = make_paid("8a02", "RF", State.APPROVED, "000.100.110") | follows
    async with open_at(url, "0015") as old:
        assert isinstance(old, PostgresDatabase)
        await insert_rows(old, "payments", [first, second])
        await insert_rows(old, "outbox", [make_told("8a01", june, "000.100.110")])
        files = [await old.pool.fetchval(f"SELECT pg_relation_filenode('{table}')") for table in ("payments", "outbox")]

    db = await open_postgres(url, contracts=True)

    names = ("payments_past", "outbox_past")
    assert files == [await db.pool.fetchval(f"SELECT pg_relation_filenode('{name}')") for name in names]
    chain = await list_chain(db, MERCHANT, "8a01", 10)
    assert [each.id for each in chain] == ["8a01", "8a02"]
    assert await find_places(db, "payments") == dict.fromkeys(("8a01", "8a02"), "payments_past")
    # Nothing was posted or delivered, so there is nothing to keep.
    assert await list_names(db, "ledger_entries") == await list_names(db, "delivery_attempts") == []
    await db.make_months(june)
    assert await list_names(db) == ["payments_past", "payments_2026_07", "payments_2026_08", "payments_2026_09"]
    paid = [await pay(db, each) for each in (at(2026, 7) - 1, at(2026, 7), at(2001, 1))]
    places = await find_places(db, "payments")
    assert [places[each.id] for each in paid] == ["payments_past", "payments_2026_07", "payments_past"]
    await db.close()
    cluster.drop_database(url)


async def test_every_partition_has_the_indexes_of_its_table(store: PostgresDatabase) -> None:
    await store.make_months(at(2026, 11))

    for table in COLUMNS:
        definitions = [
            {
                str(row[0]).partition(" USING ")[2]
                for row in await store.pool.fetch("SELECT indexdef FROM pg_indexes WHERE tablename = $1", name)
            }
            for name in (table, *await list_names(store, table))
        ]
        assert definitions[0]
        assert all(each == definitions[0] for each in definitions)


async def test_events_of_a_payment_are_read_from_all_its_months(store: PostgresDatabase) -> None:
    payments = [await pay(store, each) for each in (at(2026, 9), at(2026, 10), at(2026, 11))]

    listed = await events.list_events(store, MERCHANT, "", events.AFTER_ALL, 10)

    assert listed == [make_payment_event(payment) for payment in payments]
    assert all(list_entries(payment) for payment in payments)
    assert {payment.channel_id for payment in payments} == {CHANNEL}
