"""Every due time of a plan is paid once and in order, over years, after downtime, whatever banks answer."""

from __future__ import annotations

import asyncio
from calendar import monthrange
from datetime import date, timedelta

import orjson
import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.answers import render_answered, render_payment
from tollgate.contract.events import render_payment_payload
from tollgate.contract.fields import read_fields
from tollgate.operations.app import App
from tollgate.payments.payment import Payment, State
from tollgate.payments.registration import InitialPayment
from tollgate.payments.schedule import RunState, ScheduleState, make_run_payment_id
from tollgate.store.payments import find_payment
from tollgate.values import DAY, HOUR, SECOND
from tollgate.workers.jobs import order_runs, pay_runs
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire
from unit.flows.chains import follow, happen, read_answered, show
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NO_MONEY,
    REGISTRATION,
    at,
    get_clock,
    get_payment_of,
    get_runs,
    get_schedule,
    list_charges,
    make_pairs,
    pass_time,
    plan_payments,
    register_card,
    tell,
    work,
)

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


async def test_over_years_every_due_time_is_paid_once_and_in_order(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedules = [await plan_payments(app, plan) for plan, _ in YEARS]

    # No plan here is due twice within three days, so nothing may be missed.
    await pass_time(app, at(END.isoformat()) - SECOND, 3 * DAY)

    expected_count = 0
    for schedule, (_, days) in zip(schedules, YEARS, strict=True):
        runs = await get_runs(app, schedule)
        assert tell([run.due_at for run in runs]) == [f"{day} 00:00" for day in days]
        assert {(run.state, run.tries) for run in runs} == {(RunState.MADE, 1)}
        expected_count += len(days)
    charges = list_charges(wire)
    assert len(charges) == len(set(charges)) == expected_count
    assert (await get_schedule(app, schedules[-1].id)).state is ScheduleState.ENDED
    assert (await get_schedule(app, schedules[0].id)).state is ScheduleState.ACTIVE


async def test_a_payment_has_what_its_schedule_carries_and_the_rest_is_as_with_any_other(app: App) -> None:
    await register_card(app)
    more = {"merchantTransactionId": "subscription-1", "customParameters[branch]": "7", "descriptor": "Monthly"}
    schedule = await plan_payments(app, MONTH_END, **more)

    get_clock(app).at = FIRST
    await work(app)

    [run] = await get_runs(app, schedule)
    payment = await get_payment_of(app, run)
    assert (payment.money.render(), payment.payment_type, payment.state) == ("5.00", "DB", State.APPROVED)
    assert (payment.merchant_transaction_id, payment.descriptor) == ("subscription-1", "Monthly")
    assert payment.echo["customParameters[branch]"] == "7"
    assert payment.registration_id == REGISTRATION
    assert payment.echo["standingInstruction.source"] == "MIT"
    assert payment.id == make_run_payment_id(schedule.id, FIRST, 1)


async def test_a_payment_of_a_schedule_carries_the_ids_of_the_first_payment(app: App, wire: ScriptedWire) -> None:
    await register_card(app, initial=InitialPayment(payment_type="DB", reference="c", connector_ids=("a", None, "c")))
    await plan_payments(app, MONTH_END)

    get_clock(app).at = FIRST
    await work(app)

    [sent] = [show(request) for request in wire.sent]
    assert sent["details"]["initial_payment"] == {"connector_tx_id1": "a", "connector_tx_id3": "c"}


async def test_nothing_happens_before_it_is_due(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)

    get_clock(app).at = FIRST - 1
    await work(app)

    assert await get_runs(app, schedule) == []
    assert wire.sent == []


async def test_after_downtime_of_months_the_last_time_is_made_up_for_and_the_others_are_missed(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)

    get_clock(app).at = at("2027-03-05")
    await work(app)
    await work(app)

    received = [(*tell([run.due_at]), run.state) for run in await get_runs(app, schedule)]
    assert received == [
        ("2026-11-30 10:00", RunState.MISSED),
        ("2026-12-31 10:00", RunState.MISSED),
        ("2027-01-31 10:00", RunState.MISSED),
        ("2027-02-28 10:00", RunState.MADE),
    ]
    assert len(list_charges(wire)) == 1
    assert (await get_schedule(app, schedule.id)).next_at == at("2027-03-31 10:00")


async def test_two_workers_at_once_make_one_payment(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedules = [await plan_payments(app, MONTH_END) for _ in range(10)]

    get_clock(app).at = FIRST
    for _ in range(4):
        await asyncio.gather(*[order_runs(app) for _ in range(3)], *[pay_runs(app) for _ in range(3)])

    assert sorted(list_charges(wire)) == sorted(make_run_payment_id(each.id, FIRST, 1) for each in schedules)


async def test_a_schedule_that_has_run_out_ends_when_its_last_payment_is_decided(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END | {"endDate": "2026-12-15"})
    wire.script = [NO_MONEY]

    get_clock(app).at = FIRST
    await work(app)
    waiting = await get_schedule(app, schedule.id)
    get_clock(app).at = FIRST + 2 * DAY
    await work(app)

    assert (waiting.state, waiting.next_at) == (ScheduleState.ACTIVE, None)
    ended = await get_schedule(app, schedule.id)
    assert (ended.state, ended.mac) == (ScheduleState.ENDED, None)
    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.MADE, 2)


# ---- declines ----


async def test_a_soft_decline_is_tried_again_after_growing_pauses_also_across_a_month_end(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY, NO_MONEY, NO_MONEY]

    await pass_time(app, at("2027-01-15"), HOUR * 12)

    first, second = await get_runs(app, schedule)
    assert (first.state, first.tries, first.result_code) == (RunState.MADE, 4, "000.100.110")
    assert (second.state, second.tries) == (RunState.MADE, 1)
    made = []
    for attempt in range(1, 5):
        payment = await find_payment(app.database, MERCHANT.id, make_run_payment_id(schedule.id, FIRST, attempt))
        assert payment is not None
        made.append((tell([payment.created_at])[0][:10], payment.result_code))
    assert made == [
        ("2026-11-30", "800.100.203"),
        ("2026-12-02", "800.100.203"),
        ("2026-12-06", "800.100.203"),
        ("2026-12-12", "000.100.110"),
    ]


async def test_after_five_soft_declines_the_run_has_failed_and_the_plan_goes_on(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY] * 5

    await pass_time(app, at("2027-01-15"), DAY)

    first, second = await get_runs(app, schedule)
    assert (first.state, first.tries, first.result_code) == (RunState.FAILED, 5, "800.100.203")
    assert first.completed_at == FIRST + 20 * DAY + 2 * HOUR
    assert second.state is RunState.MADE
    assert (await get_schedule(app, schedule.id)).state is ScheduleState.ACTIVE


async def test_a_hard_decline_is_not_tried_again(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [STOLEN]

    await pass_time(app, at("2026-12-30"), DAY)

    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries, run.result_code) == (RunState.FAILED, 1, "800.100.159")
    assert len(list_charges(wire)) == 1


async def test_a_shopper_who_had_the_series_stopped_is_never_charged_again(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [STOPPED]

    await pass_time(app, at("2027-06-01"), 10 * DAY)

    [run] = await get_runs(app, schedule)
    ended = await get_schedule(app, schedule.id)
    assert (run.state, run.result_code) == (RunState.FAILED, "800.100.500")
    assert (ended.state, ended.result_code) == (ScheduleState.ENDED, "800.100.500")
    assert len(wire.sent) == 1


async def test_a_card_past_its_expiry_fails_without_being_sent(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, {"dayOfMonth": "1", "month": "1", "startDate": "2035-01-01"})

    get_clock(app).at = at("2035-01-01")
    await work(app)

    [run] = await get_runs(app, schedule)
    assert (run.state, run.result_code) == (RunState.FAILED, "100.100.303")
    assert wire.sent == []


# ---- what events say of them ----


def list_sources(app: App, *payments: Payment) -> list[str]:
    payloads = [render_payment_payload(render_answered(each, app.envelope), each, CHANNEL) for each in payments]
    return [orjson.loads(payload)["source"] for payload in payloads]


async def test_only_events_say_that_a_schedule_made_a_payment_and_its_follow_ups_are_of_another_source(
    app: App,
) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    await pass_time(app, FIRST + HOUR, DAY)
    [run] = await get_runs(app, schedule)
    payment = await get_payment_of(app, run)

    refund = await read_answered(app, await follow(app, payment, "RF", 100))
    chargeback = await happen(app, payment, "CB")

    assert list_sources(app, payment, refund, chargeback) == ["SCHEDULER", "SYSTEM", "SYSTEM"]
    assert "source" not in render_payment(payment)


@pytest.mark.parametrize("is_lenient", [False, True])
def test_a_merchant_cannot_name_the_source_of_a_payment(is_lenient: bool) -> None:
    """A parameter of that name would be taken for ours."""
    sent = make_pairs(MONTH_END, source="SYSTEM")

    fields = read_fields(sent, Situation("schedule", "SD", is_lenient=is_lenient))

    assert "source" not in fields.echo
