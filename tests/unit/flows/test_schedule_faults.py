"""Schedules that something happened to: a change amid their moment, a payment long overdue, a row that is not ours."""

from __future__ import annotations

from typing import Any

import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.flows import schedules as story
from tollgate.operations.app import App, Call
from tollgate.payments.schedule import RunState, ScheduleState
from tollgate.values import HOUR, MINUTE, Instant
from tollgate.workers.jobs import order_runs, pay_runs
from unit.app_fixture import CHANNEL, ScriptedWire
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NDC,
    NO_MONEY,
    at,
    get_clock,
    get_runs,
    get_schedule,
    list_charges,
    plan_payments,
    read_id,
    register_card,
    spoil,
    work,
)

pytestmark = pytest.mark.anyio

SECOND_TIME = at("2026-12-31 10:00")
MONTHS_LATER = at("2027-03-05")


# ---- replaced at the moment at which it is due ----


@pytest.mark.parametrize("sent", [{"amount": "7.50"}, {"job.dayOfMonth": "L", "job.hour": "10"}])
async def test_a_schedule_that_falls_due_while_it_is_replaced_is_charged_once_for_that_time(
    app: App, wire: ScriptedWire, monkeypatch: pytest.MonkeyPatch, sent: dict[str, str]
) -> None:
    await register_card(app)
    old = await plan_payments(app, MONTH_END)
    check, waits = story.check_payable, [FIRST]

    async def dawdle(*arguments: Any) -> Any:
        if waits:
            get_clock(app).at = waits.pop()
            await work(app)
        return await check(*arguments)

    monkeypatch.setattr(story, "check_payable", dawdle)
    get_clock(app).at = FIRST - 1
    fields = read_fields(list(sent.items()), Situation("schedule", "RS"))

    new = await get_schedule(app, read_id(await story.reschedule(app, fields, old.id, Call(CHANNEL, NDC))))
    await work(app)

    assert [run.state for run in await get_runs(app, old)] == [RunState.MADE]
    assert new.next_at == SECOND_TIME
    assert len(list_charges(wire)) == 1


# ---- long overdue ----


async def test_a_run_that_nobody_tried_before_the_downtime_is_missed_like_those_amid_it(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)

    get_clock(app).at = FIRST
    await order_runs(app)
    get_clock(app).at = MONTHS_LATER
    await work(app)

    states = [run.state for run in await get_runs(app, schedule)]
    assert states == [RunState.MISSED, RunState.MISSED, RunState.MISSED, RunState.MADE]
    assert len(list_charges(wire)) == 1


async def test_a_run_that_waited_for_another_try_before_the_downtime_has_failed(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY]

    get_clock(app).at = FIRST
    await work(app)
    get_clock(app).at = MONTHS_LATER
    await work(app)

    first, *_, last = await get_runs(app, schedule)
    assert (first.state, first.tries, first.result_code) == (RunState.FAILED, 1, "800.100.203")
    assert (last.state, last.tries) == (RunState.MADE, 1)
    assert len(list_charges(wire)) == 2


async def test_a_try_that_comes_late_is_made_as_long_as_no_other_time_has_come(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY]

    get_clock(app).at = FIRST
    await work(app)
    get_clock(app).at = SECOND_TIME - 1
    await work(app)

    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


@pytest.mark.parametrize(("late", "state"), [(59 * MINUTE, RunState.MADE), (HOUR + MINUTE, RunState.MISSED)])
async def test_a_worker_that_is_behind_a_little_misses_nothing(app: App, late: Instant, state: RunState) -> None:
    await register_card(app)
    schedule = await plan_payments(app, {"minute": "*/30"})
    due_at = schedule.next_at or 0

    get_clock(app).at = due_at
    await order_runs(app)
    get_clock(app).at = due_at + late
    await pay_runs(app)

    assert [run.state for run in await get_runs(app, schedule)] == [state]


# ---- a row that is not what was written ----


@pytest.mark.parametrize(
    "moved_to",
    [at("2026-11-16 11:11"), at("2026-10-31 10:00")],
    ids=["a time that is not its plan's", "a time before it began"],
)
async def test_nobody_has_a_card_charged_by_writing_when_a_schedule_is_due(
    app: App, wire: ScriptedWire, moved_to: Instant
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    await spoil(app, "UPDATE schedules SET next_at = :at WHERE id = :id", at=moved_to, id=schedule.id)

    get_clock(app).at = at("2026-11-20")
    await work(app)

    assert list_charges(wire) == []
    assert (await get_schedule(app, schedule.id)).state is ScheduleState.HALTED


async def test_a_schedule_that_is_set_back_to_a_time_it_had_is_halted_and_not_paid_again(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await work(app)
    await spoil(app, "UPDATE schedules SET next_at = :at WHERE id = :id", at=FIRST, id=schedule.id)

    await work(app)

    assert len(list_charges(wire)) == 1
    assert (await get_schedule(app, schedule.id)).state is ScheduleState.HALTED


@pytest.mark.parametrize(
    "spoiled", ["plan = '['", "plan = '[]'", "plan = '{}'", "currency = 'x'", "test_mode = 'MAYBE'", "echo = 'no'"]
)
async def test_a_row_that_cannot_be_read_stands_in_nobodys_way(app: App, wire: ScriptedWire, spoiled: str) -> None:
    await register_card(app)
    broken = await plan_payments(app, MONTH_END)
    sound = await plan_payments(app, MONTH_END)
    await spoil(app, f"UPDATE schedules SET {spoiled} WHERE id = :id", id=broken.id)

    get_clock(app).at = FIRST
    await work(app)

    assert [run.state for run in await get_runs(app, sound)] == [RunState.MADE]
    assert len(list_charges(wire)) == 1
    assert await order_runs(app) == 0
