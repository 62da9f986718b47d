"""Counts of charges to which several processes add at once, and the account of a payment that is moved."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from databases.samples import MERCHANT, NOON, make_completion, make_payment
from tollgate.catalog.connectors import ConnectorName
from tollgate.payments.payment import State
from tollgate.payments.routing import Considered
from tollgate.store import payments, routing_counts
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.routing_counts import RoutingCount
from tollgate.values import HOUR

pytestmark = pytest.mark.anyio

NOW = NOON // HOUR
PROCESSES, ROUNDS = 4, 5
SECOND_ACCOUNT = "8a" + "5" * 30
MOVED = (Considered("8a" + "2" * 30, "could not be reached", 9000), Considered(SECOND_ACCOUNT, "chosen next", -7))


def make_counts(hour: int = NOW, tries: int = 3, approvals: int = 2) -> list[RoutingCount]:
    return [
        RoutingCount(
            merchant_id=MERCHANT, account_id=account_id, bucket=bucket, hour=hour, tries=tries, approvals=approvals
        )
        for account_id in ("a", "b")
        for bucket in ("420000/EUR", "/EUR")
    ]


async def test_what_processes_add_at_once_is_added_up(url: str) -> None:
    """Each names the rows in another order, and yet none waits for another for ever."""
    stores = [await open_database(url) for _ in range(PROCESSES)]

    async def add(db: Database, place: int) -> None:
        counts = make_counts()
        for _ in range(ROUNDS):
            await routing_counts.add_counts(db, counts[place:] + counts[:place])

    await asyncio.gather(*[add(db, place) for place, db in enumerate(stores)])

    rounds = PROCESSES * ROUNDS
    found = await routing_counts.list_counts(stores[0], 0, 100)
    assert sorted(map(repr, found)) == sorted(map(repr, make_counts(tries=3 * rounds, approvals=2 * rounds)))
    for db in stores:
        await db.close()


async def test_counts_are_listed_from_an_hour_on_with_the_newest_first(db: Database) -> None:
    for hour in (NOW - 2, NOW, NOW - 1):
        await routing_counts.add_counts(db, make_counts(hour))

    assert [each.hour for each in await routing_counts.list_counts(db, NOW - 1, 100)] == [NOW] * 4 + [NOW - 1] * 4
    assert [each.hour for each in await routing_counts.list_counts(db, 0, 5)] == [NOW] * 4 + [NOW - 1]


async def test_counts_of_old_hours_are_purged_a_few_at_a_time(db: Database) -> None:
    for hour in (NOW - 2, NOW - 1, NOW):
        await routing_counts.add_counts(db, make_counts(hour))

    assert await routing_counts.purge_counts(db, NOON, 5) == 5
    assert await routing_counts.purge_counts(db, NOON, 5) == 3
    assert await routing_counts.purge_counts(db, NOON, 5) == 0
    assert {each.hour for each in await routing_counts.list_counts(db, 0, 100)} == {NOW}


async def test_a_started_payment_is_moved_with_all_that_was_considered(db: Database) -> None:
    started, neighbour = make_payment(), make_payment()
    for each in (started, neighbour):
        await payments.start_payment(db, each, None, None)
    moved = replace(started, account_id=SECOND_ACCOUNT, connector=ConnectorName.STRIPE, routing=MOVED)

    assert await payments.move_account(db, moved)

    assert await payments.find_payment(db, MERCHANT, started.id) == moved
    assert await payments.find_payment(db, MERCHANT, neighbour.id) == neighbour


async def test_a_completed_payment_stays_where_it_is(db: Database) -> None:
    started = make_payment()
    await payments.start_payment(db, started, None, None)
    completion = make_completion(started)
    assert await payments.complete_payment(db, completion)

    assert not await payments.move_account(db, replace(started, account_id=SECOND_ACCOUNT, routing=MOVED))

    found = await payments.find_payment(db, MERCHANT, started.id)
    assert found is not None
    assert (found.state, found.account_id, found.routing) == (completion.payment.state, None, ())


async def test_of_a_move_and_a_recovery_at_once_one_happens(url: str) -> None:
    """A recovery completes a payment as it was read, so it must not have been moved since."""
    mover, other = [await open_database(url) for _ in range(2)]
    for _ in range(ROUNDS):
        started = make_payment(routing=MOVED)
        await payments.start_payment(mover, started, None, None)
        guards = payments.keep_account_writes(started)

        is_moved, is_completed = await asyncio.gather(
            payments.move_account(mover, replace(started, account_id=SECOND_ACCOUNT)),
            payments.complete_payment(other, make_completion(started), guards=guards),
        )

        found = await payments.find_payment(mover, MERCHANT, started.id)
        assert found is not None
        assert is_moved is not is_completed
        assert (found.account_id, found.state) == (
            (SECOND_ACCOUNT, State.STARTED) if is_moved else (None, State.APPROVED)
        )
    for db in (mover, other):
        await db.close()


async def test_a_payment_that_was_moved_is_not_completed_as_it_was_before(db: Database) -> None:
    started = make_payment(routing=MOVED)
    await payments.start_payment(db, started, None, None)
    moved = replace(started, account_id=SECOND_ACCOUNT)
    assert await payments.move_account(db, moved)

    stale, fresh = [
        await payments.complete_payment(db, make_completion(each), guards=payments.keep_account_writes(each))
        for each in (started, moved)
    ]

    assert (stale, fresh) == (False, True)
