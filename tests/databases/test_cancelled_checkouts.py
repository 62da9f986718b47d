"""Cancelled checkouts on both databases: of a cancellation and an attempt one has an effect."""

from __future__ import annotations

import pytest

from databases.checkout_lives import CheckoutWorld, open_checkout_world
from databases.test_checkouts import ONE, end, look, prepare, take
from tollgate.payments.checkout import CheckoutState
from tollgate.store.checkouts import cancel_checkout, end_attempt_writes, lock_checkout_writes
from tollgate.store.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(db: Database) -> CheckoutWorld:
    return await open_checkout_world(db)


async def test_of_a_cancellation_and_an_attempt_one_has_an_effect(world: CheckoutWorld) -> None:
    seen, now = await prepare(world), world.clock.now()
    database = world.app.database
    assert await cancel_checkout(database, seen, now)
    assert not await cancel_checkout(database, seen, now)
    assert not await take(world, seen, ONE)
    assert not await database.write(lock_checkout_writes(seen, ONE, now), label="test")
    # An approval that was checked before the cancellation is undone, also where it was the last attempt.
    assert not await database.write(end_attempt_writes(end(seen, ONE, is_done=True)), label="test")
    assert (await look(world, "it")).state is CheckoutState.CANCELLED

    busy = await prepare(world, "busy")
    assert await take(world, busy, ONE)
    assert not await cancel_checkout(database, busy, now)


async def test_an_approval_of_the_last_attempt_is_undone_by_a_cancellation(world: CheckoutWorld) -> None:
    seen, database = await prepare(world), world.app.database
    assert await take(world, seen, ONE)
    await database.write(end_attempt_writes(end(seen, ONE, is_done=False)), label="test")
    assert await cancel_checkout(database, await look(world, "it"), world.clock.now())

    assert not await database.write(end_attempt_writes(end(seen, ONE, is_done=True)), label="test")
