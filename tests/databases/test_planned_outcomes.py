"""Planned outcomes on both databases: which message uses which, and that none is used oftener than planned."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from databases.samples import CHANNEL, MERCHANT, NOON
from tollgate.payments.order import Partner
from tollgate.store.database import Database
from tollgate.store.merchants import get_merchants_version
from tollgate.store.planned_outcomes import (
    PlannedOutcome,
    cancel_outcome,
    list_outcomes,
    list_planned_channels,
    plan_outcome,
    take_outcome,
)
from tollgate.values import ChannelId, make_timed_id

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parents[1]
OTHER = ChannelId("8a" + "9" * 30)


def make_outcome(number: int, **changes: Any) -> PlannedOutcome:
    outcome = PlannedOutcome(
        merchant_id=MERCHANT,
        id=make_timed_id(NOON + number, "plan"),
        channel_id=CHANNEL,
        partner=Partner.ACQUIRER,
        overrides={"forceResultCode": f"800.100.{number:03d}"},
        planned=1,
        left=1,
        created_at=NOON + number,
        created_by="admin",
    )
    return msgspec.structs.replace(outcome, **changes)


async def take(db: Database, payment_type: str = "DB", **changes: Any) -> str | None:
    wanted = {"channel_id": CHANNEL, "partner": Partner.ACQUIRER, **changes}
    taken = await take_outcome(db, MERCHANT, payment_type=payment_type, **wanted)
    return None if taken is None else taken.overrides["forceResultCode"]


async def test_the_first_planned_outcome_that_fits_is_used_first(db: Database) -> None:
    await plan_outcome(db, make_outcome(1, payment_type="RF"))
    await plan_outcome(db, make_outcome(2, planned=2, left=2))
    await plan_outcome(db, make_outcome(3, channel_id=OTHER))
    await plan_outcome(db, make_outcome(4, partner=Partner.DIRECTORY_SERVER))
    used = [await take(db), await take(db, "RF"), await take(db), await take(db)]
    assert used == ["800.100.002", "800.100.001", "800.100.002", None]
    assert await take(db, channel_id=OTHER) == "800.100.003"
    assert await take(db, partner=Partner.DIRECTORY_SERVER) == "800.100.004"


async def test_a_plan_is_noticed_by_the_version_and_by_the_channels(db: Database) -> None:
    version = await get_merchants_version(db)
    await plan_outcome(db, make_outcome(1))
    assert await get_merchants_version(db) > version
    assert await list_planned_channels(db) == {CHANNEL}
    await take(db)
    assert await list_planned_channels(db) == frozenset()


async def test_what_is_used_up_is_removed_with_the_next_plan(db: Database) -> None:
    await plan_outcome(db, make_outcome(1))
    await take(db)
    assert [each.left for each in await list_outcomes(db, MERCHANT)] == [0]
    await plan_outcome(db, make_outcome(2))
    assert [each.id for each in await list_outcomes(db, MERCHANT)] == [make_outcome(2).id]


async def test_a_cancelled_outcome_is_not_used(db: Database) -> None:
    await plan_outcome(db, make_outcome(1, planned=5, left=5))
    assert await cancel_outcome(db, MERCHANT, make_outcome(1).id)
    assert not await cancel_outcome(db, MERCHANT, make_outcome(1).id)
    assert await take(db) is None


async def test_two_processes_use_each_planned_outcome_exactly_once(db: Database, url: str) -> None:
    await plan_outcome(db, make_outcome(1, planned=37, left=37))
    await plan_outcome(db, make_outcome(2, planned=3, left=3))
    script = [sys.executable, str(TESTS / "databases" / "planning_process.py"), url]
    started = [
        await asyncio.create_subprocess_exec(*script, env={"PYTHONPATH": str(TESTS)}, stdout=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    printed = [(await process.communicate())[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sum(int(text) for text in printed) == 40
    assert [each.left for each in await list_outcomes(db, MERCHANT)] == [0, 0]
