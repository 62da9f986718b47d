"""Lives that went wrong once, written down step by step so that every run repeats them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from property.moody_wire import Mood
from property.plain_words import Deed, Fate, Wanted
from property.world import PATIENCE, World, begin_world, furnish
from tollgate.store.opening import open_database
from tollgate.values import Money

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    database = await open_database(f"sqlite:///{tmp_path}/store.db")
    await furnish(database)
    world = await begin_world(database)
    yield world
    world.end()
    await database.close()


async def start(world: World, payment_type: str) -> Deed:
    await world.start(payment_type, Money(10_000, "EUR"), None, Mood.WILLING, None, None)
    return get_last(world)


async def follow(world: World, wanted: Wanted, named: Deed, mood: Mood = Mood.WILLING) -> Deed:
    await world.follow(wanted, named, mood)
    await world.check()
    return get_last(world)


async def run_recovery_tasks(world: World) -> None:
    world.clock.at += PATIENCE
    await world.work("recovery tasks")
    await world.check()


def get_last(world: World) -> Deed:
    return list(world.past.memory.deeds.values())[-1]


async def test_a_last_rebill_that_fails_late_does_not_open_what_a_reversal_closed(world: World) -> None:
    debit = await start(world, "DB")
    last_rebill = await follow(world, Wanted("RB", 1_000, "EUR", is_final=True), debit, Mood.SLOW_AND_UNWILLING)
    reversal = await follow(world, Wanted("RV", None), debit)
    await run_recovery_tasks(world)
    assert (last_rebill.fate, reversal.fate) == (Fate.FAILED, Fate.DONE)

    rebill = await follow(world, Wanted("RB", 1_000, "EUR"), debit)

    assert (rebill.fate, rebill.code) == (Fate.FAILED, "700.300.300")
    await world.finish()


@pytest.mark.parametrize("ending", [Wanted("CP", 4_000, "EUR", is_final=True), Wanted("RV", None)], ids=["CP", "RV"])
async def test_a_last_increment_that_fails_late_does_not_open_a_hold_that_was_ended(
    world: World, ending: Wanted
) -> None:
    hold = await start(world, "PA")
    last = Wanted("PA", 1_000, "EUR", is_final=True, practice="INCREMENTAL_AUTH")
    last_increment = await follow(world, last, hold, Mood.SLOW_AND_UNWILLING)
    ended = await follow(world, ending, hold)
    await run_recovery_tasks(world)
    assert (last_increment.fate, ended.fate) == (Fate.FAILED, Fate.DONE)

    increment = await follow(world, Wanted("PA", 1_000, "EUR", practice="INCREMENTAL_AUTH"), hold)

    assert (increment.fate, increment.code) == (Fate.FAILED, "700.400.100")
    await world.finish()
