"""A shop that has not asked is called once, a minute before its checkout ends; and not where that is of no use."""

from __future__ import annotations

import asyncio
import logging

import msgspec
import pytest

from tollgate.flows.checkouts import remind
from tollgate.operations.app import App
from tollgate.payments.checkout import REMIND_TOPIC, CheckoutKind, Reminder
from tollgate.values import MINUTE, SECOND
from tollgate.wire import Forbidden, Silent, Unsent
from tollgate.workers import Loop, Worker
from tollgate.workers.jobs import REMINDER_LEASE_S, lease, send_reminders
from unit.app_fixture import CHANNEL, NOW
from unit.flows.reminding import (
    RETURN_URL,
    ScriptedNotifier,
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

pytestmark = pytest.mark.anyio

DUE = NOW + 29 * MINUTE
END = NOW + 30 * MINUTE


@pytest.fixture
def notifier() -> ScriptedNotifier:
    return ScriptedNotifier()


@pytest.fixture
def app(app: App, notifier: ScriptedNotifier) -> App:
    return msgspec.structs.replace(app, notifier=notifier)


async def test_at_29_minutes_a_shop_that_has_not_asked_is_called_once(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare_submitted(app)

    move_to(app, DUE - 1)
    assert await send_reminders(app) == 0
    move_to(app, DUE)
    assert [await send_reminders(app) for _ in range(2)] == [1, 0]

    path = f"%2Fv1%2Fcheckouts%2F{checkout.id}%2Fpayment"
    assert notifier.called == [f"{RETURN_URL}&id={checkout.id}&resourcePath={path}"]
    found = await look(app, checkout)
    assert (found.reminder, found.reminded_at) == (Reminder.SENT, DUE)


async def test_a_shop_on_a_domain_that_the_channel_lists_no_more_is_not_called(
    app: App, notifier: ScriptedNotifier
) -> None:
    checkout = await prepare_submitted(app)
    app.merchants.fill([msgspec.structs.replace(CHANNEL, domains=("another.example",))], [])

    move_to(app, DUE)
    assert await send_reminders(app) == 1

    assert notifier.called == []
    assert (await look(app, checkout)).reminder == Reminder.IMPOSSIBLE


async def test_a_registration_is_named_by_its_own_path(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare_submitted(app, kind=CheckoutKind.REGISTRATION)

    move_to(app, DUE)
    await send_reminders(app)

    assert notifier.called[0].endswith(f"resourcePath=%2Fv1%2Fcheckouts%2F{checkout.id}%2Fregistration")


async def test_nobody_is_called_about_what_was_never_submitted(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare(app)

    move_to(app, DUE)

    assert (await send_reminders(app), notifier.called) == (0, [])
    assert (await look(app, checkout)).reminder == ""


async def test_a_shop_that_asked_is_not_called(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare_submitted(app)
    move_to(app, NOW + MINUTE)
    await read(app, checkout)

    move_to(app, DUE)
    await send_reminders(app)

    assert notifier.called == []
    assert (await look(app, checkout)).reminder == Reminder.UNNEEDED


async def test_a_submission_after_the_shop_asked_calls_for_a_call(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare_submitted(app)
    move_to(app, NOW + MINUTE)
    await read(app, checkout)
    await reopen(app, checkout)
    move_to(app, NOW + 2 * MINUTE)
    await submit(app, checkout)

    move_to(app, DUE)
    await send_reminders(app)

    assert len(notifier.called) == 1


async def test_a_submission_in_the_last_minute_calls_too_but_never_twice(app: App, notifier: ScriptedNotifier) -> None:
    late, called = await prepare_submitted(app, 1), await prepare_submitted(app, 2)
    move_to(app, NOW + MINUTE)
    await read(app, late)
    move_to(app, DUE)
    await send_reminders(app)
    assert [name_checkout(2) in url for url in notifier.called] == [True]

    for checkout in (late, called):
        await reopen(app, checkout)
        move_to(app, DUE + SECOND)
        await submit(app, checkout)
    assert await send_reminders(app) == 2

    assert [name_checkout(1) in url for url in notifier.called] == [False, True]
    assert {(await look(app, checkout)).reminder for checkout in (late, called)} == {Reminder.SENT}
    assert await count_owed(app) == 0


async def test_whoever_was_not_there_in_that_minute_calls_nobody_and_says_so(
    app: App, notifier: ScriptedNotifier, caplog: pytest.LogCaptureFixture
) -> None:
    checkout = await prepare_submitted(app)

    move_to(app, END)
    with caplog.at_level(logging.WARNING):
        await send_reminders(app)

    assert notifier.called == []
    assert (await look(app, checkout)).reminder == Reminder.MISSED
    assert [record.__dict__["reminder"] for record in caplog.records] == ["missed"]
    assert await count_owed(app) == 0


@pytest.mark.parametrize("answer", [200, 302, 404, 500, Silent()], ids=str)
async def test_a_shop_counts_as_reminded_whatever_it_answers(
    app: App, notifier: ScriptedNotifier, answer: object
) -> None:
    assert isinstance(answer, int | Exception)
    notifier.script = [answer]
    checkout = await prepare_submitted(app)

    move_to(app, DUE)
    await send_reminders(app)
    move_to(app, DUE + 50 * SECOND)
    await send_reminders(app)

    assert len(notifier.called) == 1
    assert (await look(app, checkout)).reminder == Reminder.SENT


async def test_no_log_line_has_the_whole_id_of_a_checkout(
    app: App, notifier: ScriptedNotifier, caplog: pytest.LogCaptureFixture
) -> None:
    checkout = await prepare(app)
    await submit(app, checkout)
    move_to(app, DUE)

    with caplog.at_level(logging.INFO):
        await send_reminders(app)

    assert len(notifier.called) == 1
    received = [vars(record)["checkout"] for record in caplog.records if "checkout" in vars(record)]
    assert received == [f"{checkout.id[:8]}***{checkout.id[32:]}"] * 2


@pytest.mark.parametrize(("return_url", "calls"), [("https://10.0.0.1/", 1), ("shop://result", 0), (None, 0)])
async def test_an_address_that_is_never_notified_is_not_tried_again(
    app: App, notifier: ScriptedNotifier, return_url: str | None, calls: int
) -> None:
    notifier.script = [Forbidden()]
    checkout = await prepare(app)
    await submit(app, checkout, return_url)

    move_to(app, DUE)
    assert [await send_reminders(app) for _ in range(2)] == [1, 0]

    assert len(notifier.called) == calls
    assert (await look(app, checkout)).reminder == Reminder.IMPOSSIBLE
    assert await count_owed(app) == 0


async def test_a_shop_that_cannot_be_reached_is_tried_again_until_it_can_be(
    app: App, notifier: ScriptedNotifier
) -> None:
    notifier.script = [Unsent(), Unsent()]
    checkout = await prepare_submitted(app)

    for second in range(5):
        move_to(app, DUE + second * SECOND)
        await send_reminders(app)

    assert len(notifier.called) == 3
    assert (await look(app, checkout)).reminder == Reminder.SENT


async def test_a_shop_that_could_never_be_reached_is_given_up_when_the_checkout_ends(
    app: App, notifier: ScriptedNotifier
) -> None:
    notifier.script = [Unsent() for _ in range(60)]
    checkout = await prepare_submitted(app)

    for second in range(75):
        move_to(app, DUE + second * SECOND)
        await send_reminders(app)

    assert 8 <= len(notifier.called) <= 12
    assert (await look(app, checkout)).reminder == Reminder.FAILED
    assert await count_owed(app) == 0


async def test_a_shop_that_asks_while_it_cannot_be_reached_is_left_alone(app: App, notifier: ScriptedNotifier) -> None:
    notifier.script = [Unsent()]
    checkout = await prepare_submitted(app)
    move_to(app, DUE)
    await send_reminders(app)
    await read(app, checkout)

    move_to(app, DUE + 10 * SECOND)
    await send_reminders(app)

    assert len(notifier.called) == 1
    assert (await look(app, checkout)).reminder == Reminder.UNNEEDED


async def test_a_checkout_that_is_forgotten_leaves_no_job_behind(app: App, notifier: ScriptedNotifier) -> None:
    await prepare_submitted(app)
    await forget(app)

    move_to(app, DUE)
    assert [await send_reminders(app) for _ in range(2)] == [1, 0]

    assert notifier.called == []


async def test_what_a_killed_process_held_is_called_by_another_within_the_minute(
    app: App, notifier: ScriptedNotifier
) -> None:
    """Its lease is wall time, and hardly longer than a call may take."""
    checkout = await prepare_submitted(app)
    move_to(app, DUE)
    assert len(await lease(app, REMIND_TOPIC, REMINDER_LEASE_S, 10)) == 1

    assert await send_reminders(app) == 0
    move_to(app, DUE + 20 * SECOND)
    assert await send_reminders(app) == 1

    assert len(notifier.called) == 1
    assert (await look(app, checkout)).reminder == Reminder.SENT


async def test_who_lost_its_lease_to_another_writes_nothing(app: App, notifier: ScriptedNotifier) -> None:
    checkout = await prepare_submitted(app)
    move_to(app, DUE)
    [slow] = await lease(app, REMIND_TOPIC, REMINDER_LEASE_S, 10)
    move_to(app, DUE + 20 * SECOND)
    [quick] = await lease(app, REMIND_TOPIC, REMINDER_LEASE_S, 10)

    assert await remind(app, slow) is False
    assert (await look(app, checkout)).reminder == ""
    assert await remind(app, quick) is True

    assert len(notifier.called) == 2
    assert (await look(app, checkout)).reminder == Reminder.SENT


async def test_shops_that_hang_keep_no_other_waiting(app: App, notifier: ScriptedNotifier) -> None:
    """A shop whose reminder falls due while others hang does not wait either."""
    for number in range(1, 4):
        await prepare_submitted(app, number)
    move_to(app, NOW)
    await prepare_submitted(app, 4, created_at=NOW + SECOND, expires_at=END + SECOND)
    prompt_was_called = asyncio.Event()

    async def hang_unless_it_is_the_last(url: str) -> None:
        move_to(app, DUE + SECOND)
        if name_checkout(4) in url:
            prompt_was_called.set()
        await prompt_was_called.wait()

    notifier.meanwhile = hang_unless_it_is_the_last
    move_to(app, DUE)
    async with asyncio.timeout(60):
        assert await send_reminders(app) == 4


async def test_a_worker_that_is_stopped_lets_a_call_end_so_that_it_is_not_made_again(
    app: App, notifier: ScriptedNotifier
) -> None:
    checkout = await prepare_submitted(app)
    is_calling, may_end = asyncio.Event(), asyncio.Event()

    async def wait(_url: str) -> None:
        is_calling.set()
        await may_end.wait()

    notifier.meanwhile = wait
    move_to(app, DUE)
    loop = Loop(app, [Worker(name="reminders", every_s=0.5, run=send_reminders)])
    loop.start()
    async with asyncio.timeout(60):
        await is_calling.wait()
        stopping = asyncio.create_task(loop.stop())
        await asyncio.sleep(0)
        may_end.set()
        await stopping

    assert (await look(app, checkout)).reminder == Reminder.SENT
    assert len(notifier.called) == 1
