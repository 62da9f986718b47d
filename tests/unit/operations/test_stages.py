"""Stages of a payment: payments that came together take each stage one right after the other."""

from __future__ import annotations

import asyncio

import pytest

from tollgate.operations.app import Activity
from tollgate.operations.stages import begin_stage

pytestmark = pytest.mark.anyio


async def take_stages(activity: Activity, name: str, done: list[str]) -> None:
    for stage in "123":
        await begin_stage(activity)
        done.append(name + stage)


async def run_three(activity: Activity) -> list[str]:
    done: list[str] = []
    await asyncio.gather(*[take_stages(activity, name, done) for name in "abc"])
    return done


async def test_payments_that_came_together_take_each_stage_one_after_the_other() -> None:
    activity = Activity()
    activity.requests = 3

    assert await run_three(activity) == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]


async def test_a_payment_alone_waits_for_nobody() -> None:
    activity = Activity()
    activity.requests = 1

    assert await run_three(activity) == ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]
