"""A process that falls asleep between looking at a run and paying it, and wakes up in another world."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.flows import run_schedules
from tollgate.flows.pay import pay
from tollgate.flows.registrations import deregister
from tollgate.flows.schedules import deschedule
from tollgate.operations.app import App, Call
from tollgate.payments.schedule import RUN_TOPIC, RunState, Schedule
from tollgate.store.jobs import lease_due
from tollgate.values import HOUR
from tollgate.workers.jobs import order_runs, pay_runs
from unit.app_fixture import CHANNEL, ScriptedWire
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NDC,
    REGISTRATION,
    get_clock,
    get_runs,
    list_charges,
    plan_payments,
    register_card,
    work,
)

pytestmark = pytest.mark.anyio

Event = Callable[[App, Schedule], Awaitable[Any]]


async def end_schedule(app: App, schedule: Schedule) -> None:
    fields = read_fields([], Situation("schedule", "DS"))
    assert (await deschedule(app, fields, schedule.id, Call(CHANNEL, NDC))).status == 200


async def remove_registration(app: App, _schedule: Schedule) -> None:
    fields = read_fields([], Situation("delete_registration", "DR"))
    assert (await deregister(app, fields, REGISTRATION, Call(CHANNEL, NDC))).status == 200


def sleep_amid(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], Awaitable[Any]]) -> None:
    """Falls asleep once, with everything read and nothing written."""
    naps = [meanwhile]

    async def nap(*arguments: Any, **more: Any) -> Any:
        if naps:
            await naps.pop()()
        return await pay(*arguments, **more)

    monkeypatch.setattr(run_schedules, "pay", nap)


@pytest.mark.parametrize("event", [end_schedule, remove_registration])
async def test_what_ended_meanwhile_is_not_charged(
    app: App, wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch, event: Event
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)
    sleep_amid(monkeypatch, lambda: event(app, schedule))

    await pay_runs(app)

    assert list_charges(wire) == []
    get_clock(app).at += HOUR
    await work(app)
    assert list_charges(wire) == []
    assert [run.state for run in await get_runs(app, schedule)] == [RunState.DROPPED]


async def test_what_another_took_over_meanwhile_is_left_to_it(
    app: App, wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)

    async def take_over() -> None:
        get_clock(app).at += HOUR
        now = get_clock(app).at
        jobs = await lease_due(
            app.database, now=now, wall_now=now, owner="another", lease_s=60, limit=1, topic=RUN_TOPIC
        )
        assert len(jobs) == 1

    sleep_amid(monkeypatch, take_over)

    await pay_runs(app)

    assert list_charges(wire) == []
    get_clock(app).at += HOUR
    await work(app)
    assert len(list_charges(wire)) == 1
    assert [run.state for run in await get_runs(app, schedule)] == [RunState.MADE]
