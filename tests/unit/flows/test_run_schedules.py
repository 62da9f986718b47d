"""What is due is paid: every time of a plan once and in order, over years, after downtime, whatever banks answer."""

from __future__ import annotations

import asyncio
from calendar import monthrange
from datetime import date, timedelta

import msgspec
import pytest

from tollgate.flows import pay
from tollgate.payments import RunState, ScheduleState, State, name_run_payment
from tollgate.steps import House, get_registration, make_run_order, open_stored
from tollgate.store import find_payment, steps_change_registration, steps_end_schedules, update_channel
from tollgate.values import DAY, HOUR, MINUTE, SECOND, RegistrationId
from tollgate.wire import Silent, Unsent
from tollgate.workers.schedules import order_runs, pay_runs
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NDC,
    NO_MONEY,
    REGISTRATION,
    at,
    get_clock,
    get_payment_of,
    get_runs,
    get_schedule,
    list_charges,
    pass_time,
    plan_payments,
    register_card,
    spoil,
    tell,
    work,
)
from unit.flows.telling import PENDING, REVERSED
from unit.premises import APPROVED, CHANNEL, MERCHANT, NOW, ScriptedWire

pytestmark = pytest.mark.anyio

STOLEN = b'{"status":"declined","response_code":"43","message":"Stolen"}'
STOPPED = b'{"status":"declined","response_code":"R0","message":"Never again"}'

BEGIN, END = date(2026, 11, 16), date(2032, 3, 15)
DAYS = [BEGIN + timedelta(days=n) for n in range((END - BEGIN).days)]


def is_last_working_day(day: date) -> bool:
    last = monthrange(day.year, day.month)[1]
    working = [n for n in range(1, last + 1) if date(day.year, day.month, n).weekday() < 5]
    return day.day == working[-1]


YEARS = [
    ({"dayOfMonth": "L"}, [day for day in DAYS if (day + timedelta(days=1)).day == 1]),
    ({"dayOfMonth": "LW"}, [day for day in DAYS if is_last_working_day(day)]),
    ({"dayOfMonth": "31"}, [day for day in DAYS if day.day == 31]),
    ({"dayOfMonth": "29", "month": "FEB"}, [day for day in DAYS if (day.month, day.day) == (2, 29)]),
    ({"dayOfWeek": "MON"}, [day for day in DAYS if day.weekday() == 0]),
    ({"dayOfWeek": "6#1"}, [day for day in DAYS if day.weekday() == 4 and day.day <= 7]),
    (
        {"dayOfMonth": "1", "startDate": "2027-03-01", "endDate": "2028-02-01"},
        [day for day in DAYS if day.day == 1 and date(2027, 3, 1) <= day <= date(2028, 2, 1)],
    ),
]


async def test_over_years_every_due_time_is_paid_once_and_in_order(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedules = [await plan_payments(house, plan) for plan, _ in YEARS]

    # No plan here is due twice within three days, so nothing may be missed.
    await pass_time(house, at(END.isoformat()) - SECOND, 3 * DAY)

    expected_count = 0
    for schedule, (_, days) in zip(schedules, YEARS, strict=True):
        runs = await get_runs(house, schedule)
        assert tell([run.due_at for run in runs]) == [f"{day} 00:00" for day in days]
        assert {(run.state, run.tries) for run in runs} == {(RunState.MADE, 1)}
        expected_count += len(days)
    charges = list_charges(wire)
    assert len(charges) == len(set(charges)) == expected_count
    assert (await get_schedule(house, schedules[-1].id)).state is ScheduleState.ENDED
    assert (await get_schedule(house, schedules[0].id)).state is ScheduleState.ACTIVE


async def test_a_payment_has_what_its_schedule_carries_and_the_rest_is_as_with_any_other(house: House) -> None:
    await register_card(house)
    more = {"merchantTransactionId": "subscription-1", "customParameters[branch]": "7", "descriptor": "Monthly"}
    schedule = await plan_payments(house, MONTH_END, **more)

    get_clock(house).at = FIRST
    await work(house)

    [run] = await get_runs(house, schedule)
    payment = await get_payment_of(house, run)
    assert (payment.money.render(), payment.kind, payment.state) == ("5.00", "DB", State.APPROVED)
    assert (payment.merchant_transaction_id, payment.descriptor) == ("subscription-1", "Monthly")
    assert payment.echo["customParameters[branch]"] == "7"
    assert payment.echo["registrationId"] == REGISTRATION
    assert payment.echo["standingInstruction.source"] == "MIT"
    assert payment.id == name_run_payment(schedule.id, FIRST, 1)


async def test_nothing_happens_before_it_is_due(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)

    get_clock(house).at = FIRST - 1
    await work(house)

    assert await get_runs(house, schedule) == []
    assert wire.sent == []


async def test_after_downtime_of_months_the_last_time_is_made_up_for_and_the_others_are_missed(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)

    get_clock(house).at = at("2027-03-05")
    await work(house)
    await work(house)

    told = [(*tell([run.due_at]), run.state) for run in await get_runs(house, schedule)]
    assert told == [
        ("2026-11-30 10:00", RunState.MISSED),
        ("2026-12-31 10:00", RunState.MISSED),
        ("2027-01-31 10:00", RunState.MISSED),
        ("2027-02-28 10:00", RunState.MADE),
    ]
    assert len(list_charges(wire)) == 1
    assert (await get_schedule(house, schedule.id)).next_at == at("2027-03-31 10:00")


async def test_two_workers_at_once_make_one_payment(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedules = [await plan_payments(house, MONTH_END) for _ in range(10)]

    get_clock(house).at = FIRST
    for _ in range(4):
        await asyncio.gather(*[order_runs(house) for _ in range(3)], *[pay_runs(house) for _ in range(3)])

    assert sorted(list_charges(wire)) == sorted(name_run_payment(each.id, FIRST, 1) for each in schedules)


async def test_a_schedule_that_has_run_out_ends_when_its_last_payment_is_decided(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END | {"endDate": "2026-12-15"})
    wire.script = [NO_MONEY]

    get_clock(house).at = FIRST
    await work(house)
    waiting = await get_schedule(house, schedule.id)
    get_clock(house).at = FIRST + 2 * DAY
    await work(house)

    assert (waiting.state, waiting.next_at) == (ScheduleState.ACTIVE, None)
    ended = await get_schedule(house, schedule.id)
    assert (ended.state, ended.mac) == (ScheduleState.ENDED, None)
    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


# ---- declines ----


async def test_a_soft_decline_is_tried_again_after_growing_pauses_also_across_a_month_end(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [NO_MONEY, NO_MONEY, NO_MONEY]

    await pass_time(house, at("2027-01-15"), HOUR * 12)

    first, second = await get_runs(house, schedule)
    assert (first.state, first.tries, first.result_code) == (RunState.MADE, 4, "000.100.110")
    assert (second.state, second.tries) == (RunState.MADE, 1)
    made = []
    for attempt in range(1, 5):
        payment = await find_payment(house.database, MERCHANT.id, name_run_payment(schedule.id, FIRST, attempt))
        assert payment is not None
        made.append((tell([payment.created_at])[0][:10], payment.result_code))
    assert made == [
        ("2026-11-30", "800.100.203"),
        ("2026-12-02", "800.100.203"),
        ("2026-12-06", "800.100.203"),
        ("2026-12-12", "000.100.110"),
    ]


async def test_after_five_soft_declines_the_run_has_failed_and_the_plan_goes_on(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [NO_MONEY] * 5

    await pass_time(house, at("2027-01-15"), DAY)

    first, second = await get_runs(house, schedule)
    assert (first.state, first.tries, first.result_code) == (RunState.FAILED, 5, "800.100.203")
    assert first.settled_at == FIRST + 20 * DAY + 2 * HOUR
    assert second.state is RunState.MADE
    assert (await get_schedule(house, schedule.id)).state is ScheduleState.ACTIVE


async def test_a_hard_decline_is_not_tried_again(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [STOLEN]

    await pass_time(house, at("2026-12-30"), DAY)

    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries, run.result_code) == (RunState.FAILED, 1, "800.100.159")
    assert len(list_charges(wire)) == 1


async def test_a_shopper_who_had_the_series_stopped_is_never_charged_again(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [STOPPED]

    await pass_time(house, at("2027-06-01"), 10 * DAY)

    [run] = await get_runs(house, schedule)
    ended = await get_schedule(house, schedule.id)
    assert (run.state, run.result_code) == (RunState.FAILED, "800.100.500")
    assert (ended.state, ended.result_code) == (ScheduleState.ENDED, "800.100.500")
    assert len(wire.sent) == 1


async def test_a_card_past_its_expiry_fails_without_being_sent(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, {"dayOfMonth": "1", "month": "1", "startDate": "2035-01-01"})

    get_clock(house).at = at("2035-01-01")
    await work(house)

    [run] = await get_runs(house, schedule)
    assert (run.state, run.result_code) == (RunState.FAILED, "100.100.303")
    assert wire.sent == []


# ---- silence, waiting, death ----


async def test_a_silent_try_is_repeated_only_after_it_was_undone(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    first_name, second_name = (name_run_payment(schedule.id, FIRST, attempt) for attempt in (1, 2))

    wire.script = [Silent()] * 1000
    await pass_time(house, FIRST + 5 * DAY, 6 * HOUR)
    assert list_charges(wire) == [first_name]

    wire.script = [REVERSED]
    await pass_time(house, FIRST + 6 * DAY, 6 * HOUR)

    assert list_charges(wire) == [first_name, second_name]
    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries, run.payment_id) == (RunState.MADE, 2, second_name)


async def test_a_try_that_never_left_needs_no_reversal(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [Unsent(), Unsent()]

    await pass_time(house, FIRST + 3 * DAY, 6 * HOUR)

    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


async def test_what_the_acquirer_has_not_decided_is_waited_for(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    wire.script = [PENDING, PENDING]

    get_clock(house).at = FIRST
    await work(house)
    [waiting] = await get_runs(house, schedule)
    wire.script = [APPROVED]
    await pass_time(house, FIRST + 2 * HOUR, 10 * MINUTE)

    assert (waiting.state, waiting.tries) == (RunState.DUE, 0)
    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 1)
    assert len(list_charges(wire)) == 1


async def test_a_process_that_died_after_the_payment_is_not_followed_by_a_second_one(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    get_clock(house).at = FIRST
    await order_runs(house)
    stored = await open_stored(house, MERCHANT.id, REGISTRATION)
    order = make_run_order(house, CHANNEL, schedule.kind, schedule.money, schedule.echo, stored)
    name = name_run_payment(schedule.id, FIRST, 1)
    await pay(house, order, CHANNEL, NDC, None, payment_id=name)

    await work(house)

    assert list_charges(wire) == [name]
    [run] = await get_runs(house, schedule)
    assert (run.state, run.payment_id) == (RunState.MADE, name)


async def test_a_process_that_died_while_sending_leaves_a_try_that_is_undone_and_repeated(
    house: House, wire: ScriptedWire
) -> None:
    class Killed(BaseException):
        pass

    async def die() -> None:
        raise Killed

    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    get_clock(house).at = FIRST
    await order_runs(house)
    wire.meanwhile = die
    with pytest.raises(Killed):
        await pay_runs(house)
    wire.meanwhile = None

    await work(house)
    [open_run] = await get_runs(house, schedule)
    wire.script = [REVERSED]
    await pass_time(house, FIRST + 3 * DAY, HOUR)

    assert open_run.state is RunState.DUE
    assert list_charges(wire) == [name_run_payment(schedule.id, FIRST, attempt) for attempt in (1, 2)]
    [run] = await get_runs(house, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


# ---- what ends meanwhile ----


async def test_a_registration_that_was_deleted_ends_its_schedules(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    registration = await get_registration(house, MERCHANT.id, REGISTRATION)
    deleted = msgspec.structs.replace(registration, state=registration.state.DELETED)
    get_clock(house).at = FIRST
    await order_runs(house)
    assert await house.database.write(steps_change_registration(deleted, None, None, event=None, at=FIRST))

    await work(house)

    [run] = await get_runs(house, schedule)
    ended = await get_schedule(house, schedule.id)
    assert (run.state, run.result_code, run.payment_id) == (RunState.FAILED, "100.150.202", None)
    assert (ended.state, ended.result_code) == (ScheduleState.ENDED, "100.150.202")
    assert wire.sent == []


async def test_ending_a_registrations_schedules_leaves_those_of_others_alone(house: House) -> None:
    await register_card(house)
    other = await register_card(house, RegistrationId("8a" + "6" * 30))
    mine = [await plan_payments(house, MONTH_END) for _ in range(2)]
    theirs = await plan_payments(house, MONTH_END, registrationId=other)

    assert await house.database.write(steps_end_schedules(MERCHANT.id, REGISTRATION, NOW, "100.150.202"))

    assert [(await get_schedule(house, each.id)).result_code for each in mine] == ["100.150.202"] * 2
    assert (await get_schedule(house, theirs.id)).state is ScheduleState.ACTIVE


async def test_a_channel_that_closes_after_the_order_pays_when_it_opens_again(
    house: House, wire: ScriptedWire, caplog: pytest.LogCaptureFixture
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    get_clock(house).at = FIRST
    await order_runs(house)
    house.directory.fill([msgspec.structs.replace(CHANNEL, is_closed=True)], [])

    await pass_time(house, FIRST + DAY, 2 * HOUR)
    assert wire.sent == []
    house.directory.fill([CHANNEL], [])
    await pass_time(house, FIRST + DAY + 2 * HOUR, 2 * HOUR)

    assert len(list_charges(wire)) == 1
    [run] = await get_runs(house, schedule)
    assert run.state is RunState.MADE
    assert "payment of a schedule not made yet" in caplog.messages


async def test_a_closed_channel_misses_its_times_as_a_house_without_power_does(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    await update_channel(house.database, msgspec.structs.replace(CHANNEL, is_closed=True))

    await pass_time(house, at("2027-02-01"), 5 * DAY)
    nothing = await get_runs(house, schedule)
    await update_channel(house.database, CHANNEL)
    await work(house)

    assert nothing == []
    assert [run.state for run in await get_runs(house, schedule)] == [RunState.MISSED, RunState.MISSED, RunState.MADE]
    assert len(list_charges(wire)) == 1


# ---- what somebody wrote into the store ----


async def test_a_schedule_with_another_amount_is_halted_and_not_paid(
    house: House, wire: ScriptedWire, caplog: pytest.LogCaptureFixture
) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    await spoil(house, "UPDATE schedules SET amount = 99999")

    get_clock(house).at = FIRST
    await work(house)

    assert (await get_schedule(house, schedule.id)).state is ScheduleState.HALTED
    assert await get_runs(house, schedule) == []
    assert wire.sent == []
    assert "an item failed" in caplog.messages


async def test_a_schedule_that_is_changed_after_its_run_was_ordered_is_not_paid(
    house: House, wire: ScriptedWire
) -> None:
    await register_card(house)
    other = await register_card(house, RegistrationId("8a" + "6" * 30))
    schedule = await plan_payments(house, MONTH_END)
    get_clock(house).at = FIRST
    await order_runs(house)
    await spoil(house, "UPDATE schedules SET registration_id = :other", other=other)

    await pass_time(house, FIRST + DAY, 2 * HOUR)

    [run] = await get_runs(house, schedule)
    assert run.state is RunState.DUE
    assert wire.sent == []


async def test_a_schedule_that_ended_cannot_be_woken_up(house: House, wire: ScriptedWire) -> None:
    await register_card(house)
    schedule = await plan_payments(house, MONTH_END)
    assert await house.database.write(steps_end_schedules(MERCHANT.id, REGISTRATION, NOW))
    await spoil(house, "UPDATE schedules SET state = 0")

    get_clock(house).at = FIRST
    await work(house)

    assert (await get_schedule(house, schedule.id)).state is ScheduleState.HALTED
    assert wire.sent == []
