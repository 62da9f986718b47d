"""Trouble between a due time and its payment: silence, a dead process, a closed channel, a tampered row."""

from __future__ import annotations

import msgspec
import pytest

from tollgate.flows.pay import pay
from tollgate.flows.run_schedules import make_run_order
from tollgate.operations.accounts import get_registration, open_registration
from tollgate.operations.app import App, Call
from tollgate.payments.schedule import RunState, ScheduleState, make_run_payment_id
from tollgate.store.merchants import update_channel
from tollgate.store.registrations import change_registration_writes
from tollgate.store.schedules import end_schedules_writes
from tollgate.values import DAY, HOUR, MINUTE, RegistrationId
from tollgate.wire import Silent, Unsent
from tollgate.workers.jobs import order_runs, pay_runs
from unit.app_fixture import APPROVED, CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.chains import PENDING, REVERSED
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NDC,
    REGISTRATION,
    at,
    get_clock,
    get_runs,
    get_schedule,
    list_charges,
    pass_time,
    plan_payments,
    register_card,
    spoil,
    work,
)

pytestmark = pytest.mark.anyio


# ---- silence, waiting, death ----


async def test_a_silent_try_is_repeated_only_after_it_was_undone(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    first_name, second_name = (make_run_payment_id(schedule.id, FIRST, attempt) for attempt in (1, 2))

    wire.script = [Silent()] * 1000
    await pass_time(app, FIRST + 5 * DAY, 6 * HOUR)
    assert list_charges(wire) == [first_name]

    wire.script = [REVERSED]
    await pass_time(app, FIRST + 6 * DAY, 6 * HOUR)

    assert list_charges(wire) == [first_name, second_name]
    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries, run.payment_id) == (RunState.MADE, 2, second_name)


async def test_a_try_that_never_left_needs_no_reversal(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [Unsent(), Unsent()]

    await pass_time(app, FIRST + 3 * DAY, 6 * HOUR)

    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


async def test_what_the_acquirer_has_not_decided_is_waited_for(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [PENDING, PENDING]

    get_clock(app).at = FIRST
    await work(app)
    [waiting] = await get_runs(app, schedule)
    wire.script = [APPROVED]
    await pass_time(app, FIRST + 2 * HOUR, 10 * MINUTE)

    assert (waiting.state, waiting.tries) == (RunState.DUE, 0)
    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 1)
    assert len(list_charges(wire)) == 1


async def test_a_process_that_died_after_the_payment_is_not_followed_by_a_second_one(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)
    stored = await open_registration(app, MERCHANT.id, REGISTRATION)
    order = make_run_order(app, CHANNEL, schedule.payment_type, schedule.money, schedule.echo, stored)
    name = make_run_payment_id(schedule.id, FIRST, 1)
    await pay(app, order, Call(CHANNEL, NDC), payment_id=name)

    await work(app)

    assert list_charges(wire) == [name]
    [run] = await get_runs(app, schedule)
    assert (run.state, run.payment_id) == (RunState.MADE, name)


async def test_a_process_that_died_while_sending_leaves_a_try_that_is_undone_and_repeated(
    app: App, wire: ScriptedWire
) -> None:
    class Killed(BaseException):
        pass

    async def die() -> None:
        raise Killed

    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)
    wire.meanwhile = die
    with pytest.raises(Killed):
        await pay_runs(app)
    wire.meanwhile = None

    await work(app)
    [open_run] = await get_runs(app, schedule)
    wire.script = [REVERSED]
    await pass_time(app, FIRST + 3 * DAY, HOUR)

    assert open_run.state is RunState.DUE
    assert list_charges(wire) == [make_run_payment_id(schedule.id, FIRST, attempt) for attempt in (1, 2)]
    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


# ---- what ends meanwhile ----


async def test_a_registration_that_was_deleted_ends_its_schedules(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    registration = await get_registration(app, MERCHANT.id, REGISTRATION)
    deleted = msgspec.structs.replace(registration, state=registration.state.DELETED)
    get_clock(app).at = FIRST
    await order_runs(app)
    assert await app.database.write(change_registration_writes(deleted, None, None, event=None, at=FIRST), label="test")

    await work(app)

    [run] = await get_runs(app, schedule)
    ended = await get_schedule(app, schedule.id)
    assert (run.state, run.result_code, run.payment_id) == (RunState.FAILED, "100.150.202", None)
    assert (ended.state, ended.result_code) == (ScheduleState.ENDED, "100.150.202")
    assert wire.sent == []


async def test_ending_a_registrations_schedules_leaves_those_of_others_alone(app: App) -> None:
    await register_card(app)
    other = await register_card(app, RegistrationId("8a" + "6" * 30))
    mine = [await plan_payments(app, MONTH_END) for _ in range(2)]
    theirs = await plan_payments(app, MONTH_END, registrationId=other)

    assert await app.database.write(end_schedules_writes(MERCHANT.id, REGISTRATION, NOW, "100.150.202"), label="test")

    assert [(await get_schedule(app, each.id)).result_code for each in mine] == ["100.150.202"] * 2
    assert (await get_schedule(app, theirs.id)).state is ScheduleState.ACTIVE


async def test_a_channel_that_closes_after_the_order_pays_when_it_opens_again(
    app: App, wire: ScriptedWire, caplog: pytest.LogCaptureFixture
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)
    app.merchants.fill([msgspec.structs.replace(CHANNEL, is_closed=True)], [])

    await pass_time(app, FIRST + DAY, 2 * HOUR)
    assert wire.sent == []
    app.merchants.fill([CHANNEL], [])
    await pass_time(app, FIRST + DAY + 2 * HOUR, 2 * HOUR)

    assert len(list_charges(wire)) == 1
    [run] = await get_runs(app, schedule)
    assert run.state is RunState.MADE
    assert "payment of a schedule not made yet" in caplog.messages


async def test_a_closed_channel_misses_its_due_times_as_a_stopped_host_does(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    await update_channel(app.database, msgspec.structs.replace(CHANNEL, is_closed=True))

    await pass_time(app, at("2027-02-01"), 5 * DAY)
    nothing = await get_runs(app, schedule)
    await update_channel(app.database, CHANNEL)
    await work(app)

    assert nothing == []
    assert [run.state for run in await get_runs(app, schedule)] == [RunState.MISSED, RunState.MISSED, RunState.MADE]
    assert len(list_charges(wire)) == 1


# ---- tampering ----


async def test_a_schedule_with_another_amount_is_halted_and_not_paid(
    app: App, wire: ScriptedWire, caplog: pytest.LogCaptureFixture
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    await spoil(app, "UPDATE schedules SET amount = 99999")

    get_clock(app).at = FIRST
    await work(app)

    assert (await get_schedule(app, schedule.id)).state is ScheduleState.HALTED
    assert await get_runs(app, schedule) == []
    assert wire.sent == []
    assert "worker item failed" in caplog.messages


async def test_a_schedule_that_is_changed_after_its_run_was_ordered_is_not_paid(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    other = await register_card(app, RegistrationId("8a" + "6" * 30))
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)
    await spoil(app, "UPDATE schedules SET registration_id = :other", other=other)

    await pass_time(app, FIRST + DAY, 2 * HOUR)

    [run] = await get_runs(app, schedule)
    assert run.state is RunState.DUE
    assert wire.sent == []


async def test_a_schedule_that_ended_cannot_be_woken_up(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    assert await app.database.write(end_schedules_writes(MERCHANT.id, REGISTRATION, NOW), label="test")
    await spoil(app, "UPDATE schedules SET state = 0")

    get_clock(app).at = FIRST
    await work(app)

    assert (await get_schedule(app, schedule.id)).state is ScheduleState.HALTED
    assert wire.sent == []
