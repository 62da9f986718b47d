"""A merchant makes, replaces, ends and reads schedules; of two changes at once one wins."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import orjson
import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields, read_fields
from tollgate.flows.schedules import create_schedule, deschedule, reschedule, show_schedule
from tollgate.operations.app import App, Call
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.schedule import RunState, ScheduleState
from tollgate.store.schedules import find_active_schedule, list_schedules
from tollgate.values import DAY, Conflict, InvalidParameters, MerchantId, NotFound, Refusal
from tollgate.workers.jobs import order_runs
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.scheduling import (
    FIRST,
    MONTH_END,
    NDC,
    NO_MONEY,
    REGISTRATION,
    at,
    get_clock,
    get_runs,
    get_schedule,
    list_charges,
    make_pairs,
    plan_payments,
    read_id,
    register_card,
    work,
)

pytestmark = pytest.mark.anyio

UNKNOWN = "8a" + "0" * 30


def read(payment_type: str, **sent: str) -> Fields:
    return read_fields(
        [(name.replace("__", "."), text) for name, text in sent.items()], Situation("schedule", payment_type)
    )


def show(answer: Answer) -> Any:
    return orjson.loads(answer.body)


async def move(app: App, named_id: str, **sent: str) -> Answer:
    return await reschedule(app, read("RS", **sent), named_id, Call(CHANNEL, NDC))


async def end(app: App, named_id: str, idempotency_key: IdempotencyKey | None = None) -> Answer:
    return await deschedule(app, read("DS"), named_id, Call(CHANNEL, NDC, idempotency_key))


def make_idempotency_key(key: str, print_of_request: bytes = b"same") -> IdempotencyKey:
    return IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key=key, fingerprint=print_of_request, created_at=NOW
    )


# ---- made ----


@pytest.mark.parametrize(("registration_id", "code"), [(UNKNOWN, "100.150.200"), ("8a" + "9" * 30, "100.150.200")])
async def test_a_registration_that_cannot_be_charged_has_no_schedule(app: App, registration_id: str, code: str) -> None:
    await register_card(app)

    with pytest.raises(Refusal) as refused:
        await plan_payments(app, MONTH_END, registrationId=registration_id)

    assert refused.value.result.code == code
    assert await list_schedules(app.database, MERCHANT.id, registration_id, 10) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"amount": "0.00"}, "100.550.300"),
        ({"amount": "5.50", "currency": "JPY"}, "100.550.303"),
        ({"paymentBrand": "MASTER"}, "200.300.404"),
    ],
)
async def test_what_could_never_be_paid_is_refused_at_once(app: App, changes: dict[str, str], code: str) -> None:
    await register_card(app)

    with pytest.raises(Refusal) as refused:
        await plan_payments(app, MONTH_END, **changes)

    assert refused.value.result.code == code
    assert await list_schedules(app.database, MERCHANT.id, REGISTRATION, 10) == []


async def test_a_key_makes_one_schedule_however_often_it_is_sent(app: App) -> None:
    await register_card(app)
    fields = read_fields(make_pairs(MONTH_END), Situation("schedule", "SD"))
    idempotency_key = make_idempotency_key("key")

    first = await create_schedule(app, fields, Call(CHANNEL, NDC, idempotency_key))
    second = await create_schedule(app, fields, Call(CHANNEL, NDC, idempotency_key))

    assert first.body == second.body
    assert (first.code, second.code) == ("000.100.110", "")
    assert len(await list_schedules(app.database, MERCHANT.id, REGISTRATION, 10)) == 1


async def test_a_key_that_was_used_for_something_else_is_refused(app: App) -> None:
    await register_card(app)
    fields = read_fields(make_pairs(MONTH_END), Situation("schedule", "SD"))
    await create_schedule(app, fields, Call(CHANNEL, NDC, make_idempotency_key("key")))

    with pytest.raises(Conflict):
        await create_schedule(app, fields, Call(CHANNEL, NDC, make_idempotency_key("key", b"other")))


# ---- replaced ----


async def test_a_schedule_that_is_replaced_goes_on_under_a_new_id_of_the_same_series(
    app: App, wire: ScriptedWire
) -> None:
    await register_card(app)
    old = await plan_payments(app, MONTH_END)

    answer = await move(app, old.id, amount="7.50")
    new = await get_schedule(app, read_id(answer))
    get_clock(app).at = FIRST
    await work(app)

    replaced = await get_schedule(app, old.id)
    assert (replaced.state, replaced.mac) == (ScheduleState.REPLACED, None)
    assert (new.series_id, new.next_at, new.money.render()) == (old.id, old.next_at, "7.50")
    assert (show(answer)["paymentType"], show(answer)["referencedId"]) == ("RS", old.id)
    assert await get_runs(app, old) == []
    assert [run.state for run in await get_runs(app, new)] == [RunState.MADE]
    assert len(list_charges(wire)) == 1


async def test_any_id_of_a_series_names_it(app: App) -> None:
    await register_card(app)
    first = await plan_payments(app, MONTH_END)
    second = read_id(await move(app, first.id, amount="7.50"))
    third = read_id(await move(app, first.id, amount="8.50"))

    assert show(await end(app, second))["id"] == third
    for each in (first.id, second, third):
        assert not show(await show_schedule(app, MERCHANT.id, each, NDC))["plan"]["active"]


@pytest.mark.parametrize("sent", [{"job__hour": "25"}, {"amount": "0.00"}, {}])
async def test_a_change_that_is_refused_leaves_the_plan_as_it_was(app: App, sent: dict[str, str]) -> None:
    await register_card(app)
    old = await plan_payments(app, MONTH_END)

    with pytest.raises(Refusal):
        await move(app, old.id, **sent)

    assert await get_schedule(app, old.id) == old


async def test_a_replaced_plan_is_not_tried_again(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    old = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY]
    get_clock(app).at = FIRST
    await work(app)

    await move(app, old.id, job__dayOfMonth="15")
    await work(app)
    get_clock(app).at = FIRST + 3 * DAY
    await work(app)

    [run] = await get_runs(app, old)
    assert (run.state, run.tries, run.result_code) == (RunState.FAILED, 1, "800.100.203")
    assert len(list_charges(wire)) == 1


async def test_of_many_changes_at_once_one_plan_stays_active(app: App) -> None:
    await register_card(app)
    first = await plan_payments(app, MONTH_END)

    answers = await asyncio.gather(*[move(app, first.id, amount=f"{n}.00") for n in range(1, 9)])

    ids = {read_id(answer) for answer in answers}
    rows = await list_schedules(app.database, MERCHANT.id, REGISTRATION, 100)
    assert len(ids) == 8
    assert [row.state for row in rows].count(ScheduleState.ACTIVE) == 1
    assert {row.id for row in rows} == {*ids, first.id}


# ---- ended ----


async def test_one_of_two_parallel_ends_succeeds_and_the_other_is_refused(app: App) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)

    ends = await asyncio.gather(*[end(app, schedule.id) for _ in range(4)], return_exceptions=True)

    codes = sorted(each.code if isinstance(each, Answer) else str(each) for each in ends)
    assert codes == ["000.100.110", "100.360.303", "100.360.303", "100.360.303"]


async def test_a_schedule_that_ended_is_neither_replaced_nor_ended_again(app: App) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    await end(app, schedule.id)

    with pytest.raises(Refusal, match=r"100\.360\.300"):
        await move(app, schedule.id, amount="7.50")
    with pytest.raises(Refusal, match=r"100\.360\.303"):
        await end(app, schedule.id)


@pytest.mark.parametrize("named_id", [UNKNOWN, "no id", "\x00", "8A" + "0" * 30])
async def test_an_unknown_schedule_is_not_scheduled(app: App, named_id: str) -> None:
    with pytest.raises(Refusal, match=r"100\.360\.300"):
        await move(app, named_id, amount="7.50")
    with pytest.raises(Refusal, match=r"100\.360\.303"):
        await end(app, named_id)
    with pytest.raises(NotFound, match=r"700\.400\.580"):
        await show_schedule(app, MERCHANT.id, named_id, NDC)


async def test_another_merchants_schedule_is_as_unknown_as_none(app: App) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    stranger = msgspec.structs.replace(CHANNEL, merchant_id=MerchantId("8a" + "5" * 30))

    for change, payment_type in ((reschedule, "RS"), (deschedule, "DS")):
        with pytest.raises(Refusal, match=r"100\.360\.30"):
            await change(app, read(payment_type, amount="7.50"), schedule.id, Call(stranger, NDC))
    for named_id in (schedule.id, REGISTRATION):
        with pytest.raises(NotFound):
            await show_schedule(app, stranger.merchant_id, named_id, NDC)

    assert await find_active_schedule(app.database, MERCHANT.id, schedule.id) == schedule


async def test_what_was_due_when_it_ended_is_dropped(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = FIRST
    await order_runs(app)

    await end(app, schedule.id)
    await work(app)

    [run] = await get_runs(app, schedule)
    assert run.state is RunState.DROPPED
    assert wire.sent == []


async def test_what_waited_for_another_try_ends_at_once(app: App, wire: ScriptedWire) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    wire.script = [NO_MONEY]
    get_clock(app).at = FIRST
    await work(app)

    await end(app, schedule.id)
    await work(app)

    [run] = await get_runs(app, schedule)
    assert (run.state, run.tries) == (RunState.FAILED, 1)
    assert len(list_charges(wire)) == 1


async def test_ending_with_a_key_is_answered_again(app: App) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)

    first = await end(app, schedule.id, make_idempotency_key("key"))

    with pytest.raises(Refusal, match=r"100\.360\.303"):
        # The flow itself; its caller looks for the key's answer before.
        await end(app, schedule.id)
    assert show(first)["plan"]["active"] is False


# ---- read ----


async def test_a_schedule_is_read_with_its_runs_and_reading_ends_nothing(app: App) -> None:
    await register_card(app)
    schedule = await plan_payments(app, MONTH_END)
    get_clock(app).at = at("2026-12-31 10:00")
    await work(app)

    bodies = [show(await show_schedule(app, MERCHANT.id, schedule.id, NDC)) for _ in range(2)]

    assert bodies[0] == bodies[1]
    assert [run["state"] for run in bodies[0]["runs"]] == ["MADE", "MISSED"]
    assert bodies[0]["plan"]["active"]


async def test_a_registration_shows_all_its_schedules_newest_first(app: App) -> None:
    await register_card(app)
    empty = show(await show_schedule(app, MERCHANT.id, REGISTRATION, NDC))
    first = await plan_payments(app, MONTH_END)
    get_clock(app).at += 1
    second = read_id(await move(app, first.id, amount="7.50"))

    body = show(await show_schedule(app, MERCHANT.id, REGISTRATION, NDC))

    assert empty["schedules"] == []
    assert [(each["id"], each["plan"]["active"]) for each in body["schedules"]] == [(second, True), (first.id, False)]


async def test_an_invalid_plan_is_refused_before_the_registration_is_looked_for(app: App) -> None:
    with pytest.raises(InvalidParameters, match=r"100\.250\.121"):
        await plan_payments(app, {"hour": "24"})
