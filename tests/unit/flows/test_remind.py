"""A shop that has not asked is called once, a minute before its checkout ends; and not where that is of no use."""

from __future__ import annotations

import asyncio
import logging

import msgspec
import pytest

from tollgate.flows import remind
from tollgate.payments import REMIND_TOPIC, CheckoutKind, Reminder
from tollgate.steps import House
from tollgate.values import MINUTE, SECOND
from tollgate.wire import Forbidden, Silent, Unsent
from tollgate.workers import Loop, Worker
from tollgate.workers.jobs import lease
from tollgate.workers.reminders import LEASE_S, send_reminders
from unit.flows.reminding import (
    RETURN_URL,
    ScriptedCourier,
    count_owed,
    forget,
    look,
    move_to,
    name_checkout,
    prepare,
    prepare_submitted,
    read,
    reopen,
    submit,
)
from unit.premises import NOW

pytestmark = pytest.mark.anyio

DUE = NOW + 29 * MINUTE
END = NOW + 30 * MINUTE


@pytest.fixture
def courier() -> ScriptedCourier:
    return ScriptedCourier()


@pytest.fixture
def house(house: House, courier: ScriptedCourier) -> House:
    return msgspec.structs.replace(house, courier=courier)


async def test_at_29_minutes_a_shop_that_has_not_asked_is_called_once(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare_submitted(house)

    move_to(house, DUE - 1)
    assert await send_reminders(house) == 0
    move_to(house, DUE)
    assert [await send_reminders(house) for _ in range(2)] == [1, 0]

    path = f"%2Fv1%2Fcheckouts%2F{checkout.id}%2Fpayment"
    assert courier.called == [f"{RETURN_URL}&id={checkout.id}&resourcePath={path}"]
    found = await look(house, checkout)
    assert (found.reminder, found.reminded_at) == (Reminder.SENT, DUE)


async def test_a_registration_is_named_by_its_own_path(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare_submitted(house, kind=CheckoutKind.REGISTRATION)

    move_to(house, DUE)
    await send_reminders(house)

    assert courier.called[0].endswith(f"resourcePath=%2Fv1%2Fcheckouts%2F{checkout.id}%2Fregistration")


async def test_nobody_is_called_about_what_was_never_submitted(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare(house)

    move_to(house, DUE)

    assert (await send_reminders(house), courier.called) == (0, [])
    assert (await look(house, checkout)).reminder == ""


async def test_a_shop_that_asked_is_not_called(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare_submitted(house)
    move_to(house, NOW + MINUTE)
    await read(house, checkout)

    move_to(house, DUE)
    await send_reminders(house)

    assert courier.called == []
    assert (await look(house, checkout)).reminder == Reminder.UNNEEDED


async def test_a_submission_after_the_shop_asked_calls_for_a_call(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare_submitted(house)
    move_to(house, NOW + MINUTE)
    await read(house, checkout)
    await reopen(house, checkout)
    move_to(house, NOW + 2 * MINUTE)
    await submit(house, checkout)

    move_to(house, DUE)
    await send_reminders(house)

    assert len(courier.called) == 1


async def test_a_submission_in_the_last_minute_calls_too_but_never_twice(
    house: House, courier: ScriptedCourier
) -> None:
    late, called = await prepare_submitted(house, 1), await prepare_submitted(house, 2)
    move_to(house, NOW + MINUTE)
    await read(house, late)
    move_to(house, DUE)
    await send_reminders(house)
    assert [name_checkout(2) in url for url in courier.called] == [True]

    for checkout in (late, called):
        await reopen(house, checkout)
        move_to(house, DUE + SECOND)
        await submit(house, checkout)
    assert await send_reminders(house) == 2

    assert [name_checkout(1) in url for url in courier.called] == [False, True]
    assert {(await look(house, checkout)).reminder for checkout in (late, called)} == {Reminder.SENT}
    assert await count_owed(house) == 0


async def test_whoever_was_not_there_in_that_minute_calls_nobody_and_says_so(
    house: House, courier: ScriptedCourier, caplog: pytest.LogCaptureFixture
) -> None:
    checkout = await prepare_submitted(house)

    move_to(house, END)
    with caplog.at_level(logging.WARNING):
        await send_reminders(house)

    assert courier.called == []
    assert (await look(house, checkout)).reminder == Reminder.MISSED
    assert [record.__dict__["reminder"] for record in caplog.records] == ["missed"]
    assert await count_owed(house) == 0


@pytest.mark.parametrize("answer", [200, 302, 404, 500, Silent()], ids=str)
async def test_whatever_a_shop_answers_it_was_told(house: House, courier: ScriptedCourier, answer: object) -> None:
    assert isinstance(answer, int | Exception)
    courier.script = [answer]
    checkout = await prepare_submitted(house)

    move_to(house, DUE)
    await send_reminders(house)
    move_to(house, DUE + 50 * SECOND)
    await send_reminders(house)

    assert len(courier.called) == 1
    assert (await look(house, checkout)).reminder == Reminder.SENT


async def test_no_log_line_has_the_whole_id_of_a_checkout(
    house: House, courier: ScriptedCourier, caplog: pytest.LogCaptureFixture
) -> None:
    checkout = await prepare(house)
    await submit(house, checkout)
    move_to(house, DUE)

    with caplog.at_level(logging.INFO):
        await send_reminders(house)

    assert len(courier.called) == 1
    told = [vars(record)["checkout"] for record in caplog.records if "checkout" in vars(record)]
    assert told == [f"{checkout.id[:8]}***{checkout.id[32:]}"] * 2


@pytest.mark.parametrize("return_url", ["shop://result", None])
async def test_an_address_that_no_courier_goes_to_is_not_tried_again(
    house: House, courier: ScriptedCourier, return_url: str | None
) -> None:
    courier.script = [Forbidden()]
    checkout = await prepare(house)
    await submit(house, checkout, return_url)

    move_to(house, DUE)
    assert [await send_reminders(house) for _ in range(2)] == [1, 0]

    assert len(courier.called) == (return_url is not None)
    assert (await look(house, checkout)).reminder == Reminder.IMPOSSIBLE
    assert await count_owed(house) == 0


async def test_a_shop_that_cannot_be_reached_is_tried_again_until_it_can_be(
    house: House, courier: ScriptedCourier
) -> None:
    courier.script = [Unsent(), Unsent()]
    checkout = await prepare_submitted(house)

    for second in range(5):
        move_to(house, DUE + second * SECOND)
        await send_reminders(house)

    assert len(courier.called) == 3
    assert (await look(house, checkout)).reminder == Reminder.SENT


async def test_a_shop_that_could_never_be_reached_is_given_up_when_the_checkout_ends(
    house: House, courier: ScriptedCourier
) -> None:
    courier.script = [Unsent() for _ in range(60)]
    checkout = await prepare_submitted(house)

    for second in range(75):
        move_to(house, DUE + second * SECOND)
        await send_reminders(house)

    assert 8 <= len(courier.called) <= 12
    assert (await look(house, checkout)).reminder == Reminder.FAILED
    assert await count_owed(house) == 0


async def test_a_shop_that_asks_while_it_cannot_be_reached_is_left_alone(
    house: House, courier: ScriptedCourier
) -> None:
    courier.script = [Unsent()]
    checkout = await prepare_submitted(house)
    move_to(house, DUE)
    await send_reminders(house)
    await read(house, checkout)

    move_to(house, DUE + 10 * SECOND)
    await send_reminders(house)

    assert len(courier.called) == 1
    assert (await look(house, checkout)).reminder == Reminder.UNNEEDED


async def test_a_checkout_that_is_forgotten_leaves_no_job_behind(house: House, courier: ScriptedCourier) -> None:
    await prepare_submitted(house)
    await forget(house)

    move_to(house, DUE)
    assert [await send_reminders(house) for _ in range(2)] == [1, 0]

    assert courier.called == []


async def test_what_a_killed_process_held_is_called_by_another_within_the_minute(
    house: House, courier: ScriptedCourier
) -> None:
    """Its lease is wall time, and hardly longer than a call may take."""
    checkout = await prepare_submitted(house)
    move_to(house, DUE)
    assert len(await lease(house, REMIND_TOPIC, LEASE_S, 10)) == 1

    assert await send_reminders(house) == 0
    move_to(house, DUE + 20 * SECOND)
    assert await send_reminders(house) == 1

    assert len(courier.called) == 1
    assert (await look(house, checkout)).reminder == Reminder.SENT


async def test_who_lost_its_lease_to_another_writes_nothing(house: House, courier: ScriptedCourier) -> None:
    checkout = await prepare_submitted(house)
    move_to(house, DUE)
    [slow] = await lease(house, REMIND_TOPIC, LEASE_S, 10)
    move_to(house, DUE + 20 * SECOND)
    [quick] = await lease(house, REMIND_TOPIC, LEASE_S, 10)

    assert await remind(house, slow) is False
    assert (await look(house, checkout)).reminder == ""
    assert await remind(house, quick) is True

    assert len(courier.called) == 2
    assert (await look(house, checkout)).reminder == Reminder.SENT


async def test_shops_that_hang_keep_no_other_waiting(house: House, courier: ScriptedCourier) -> None:
    """Also not one whose reminder falls due while they hang."""
    for number in range(1, 4):
        await prepare_submitted(house, number)
    move_to(house, NOW)
    await prepare_submitted(house, 4, created_at=NOW + SECOND, expires_at=END + SECOND)
    prompt_was_called = asyncio.Event()

    async def hang_unless_it_is_the_last(url: str) -> None:
        move_to(house, DUE + SECOND)
        if name_checkout(4) in url:
            prompt_was_called.set()
        await prompt_was_called.wait()

    courier.meanwhile = hang_unless_it_is_the_last
    move_to(house, DUE)
    async with asyncio.timeout(60):
        assert await send_reminders(house) == 4


async def test_a_worker_that_is_stopped_lets_a_call_end_so_that_it_is_not_made_again(
    house: House, courier: ScriptedCourier
) -> None:
    checkout = await prepare_submitted(house)
    is_calling, may_end = asyncio.Event(), asyncio.Event()

    async def wait(_url: str) -> None:
        is_calling.set()
        await may_end.wait()

    courier.meanwhile = wait
    move_to(house, DUE)
    loop = Loop(house, [Worker(name="reminders", every_s=0.5, run=send_reminders)])
    loop.start()
    async with asyncio.timeout(60):
        await is_calling.wait()
        stopping = asyncio.create_task(loop.stop())
        await asyncio.sleep(0)
        may_end.set()
        await stopping

    assert (await look(house, checkout)).reminder == Reminder.SENT
    assert len(courier.called) == 1
