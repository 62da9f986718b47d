"""Runs that were inserted or changed in the store by hand: none is paid twice, and none without an order."""

from __future__ import annotations

import pytest

from tollgate.operations.app import App
from tollgate.payments.schedule import RunState
from tollgate.values import DAY, HOUR
from tollgate.workers.jobs import pay_runs
from unit.app_fixture import ScriptedWire
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    at,
    get_clock,
    get_runs,
    list_charges,
    pass_time,
    plan_payments,
    register_card,
    spoil,
    work,
)

pytestmark = pytest.mark.anyio

JOB = (
    "INSERT INTO jobs (merchant_id, id, topic, subject_id, due_at, leased_until, tries, body) "
    "SELECT merchant_id, 'schedule.' || id || '.forged', 'schedule', id, 0, 0, 0, :due_at FROM schedules"
)


@pytest.mark.parametrize("tries", [-3, 0, 1, 4, 99])
async def test_a_run_that_was_paid_and_is_called_due_again_is_not_paid_again(
    app: App, wire: ScriptedWire, tries: int
) -> None:
    await register_card(app)
    await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await work(app)
    await spoil(app, "UPDATE schedule_runs SET state = 0, tries = :tries", tries=tries)
    await spoil(app, JOB, due_at=str(FIRST))

    await pass_time(app, FIRST + DAY, HOUR)

    assert len(list_charges(wire)) == 1


@pytest.mark.parametrize("due_at", ["2026-11-20 10:00", "2026-10-31 10:00", "2026-12-31 10:00"])
async def test_a_run_that_nobody_ordered_is_not_paid(app: App, wire: ScriptedWire, due_at: str) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    insert = (
        "INSERT INTO schedule_runs (merchant_id, schedule_id, due_at, state, tries, result_code) "
        "SELECT merchant_id, id, :due_at, 0, 0, '' FROM schedules"
    )
    await spoil(app, insert, due_at=at(due_at))
    await spoil(app, JOB, due_at=str(at(due_at)))

    get_clock(app).at = at("2026-11-21")
    while await pay_runs(app):
        get_clock(app).at += HOUR
        if get_clock(app).at > at("2026-11-22"):
            break

    assert list_charges(wire) == []
    assert [run.state for run in await get_runs(app, schedule)] == [RunState.DUE]
