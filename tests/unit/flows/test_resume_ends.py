"""The wait for a shopper may end badly: out of time, silence, a dead process, a late answer."""

from __future__ import annotations

from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.contract.fields import Fields
from tollgate.flows.recover import complete_overdue, run_recovery_task
from tollgate.flows.resume import Forward, GoHome
from tollgate.operations.app import App
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.payments.authentication import Stage
from tollgate.payments.payment import IdempotencyKey, RecoveryTask, State
from tollgate.store.payments import list_overdue
from tollgate.values import HOUR
from tollgate.wire import Silent
from unit.app_fixture import APPROVED, CHANNEL, ScriptedWire
from unit.flows.chains import DECLINED, PENDING, REVERSED, follow, meddle_with, read_chain, tell
from unit.flows.shopping import (
    BROWSER_FIELDS,
    Bank,
    Shopper,
    change_row,
    go_shopping,
    lease_now,
    make_order,
    open_bank,
    run_due,
    tick,
)

pytestmark = pytest.mark.anyio

LIFETIME = LIMITS.challenge_lifetime
OUT_OF_TIME = "100.396.103"


class Killed(Exception):
    """The end of a process, for the request it was working on."""


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


def make_key(app: App) -> IdempotencyKey:
    return make_idempotency_key(app, "key", CHANNEL, "POST", "/v1/payments", Fields({}, frozenset(), {}))


async def wait_until_end(shopper: Shopper, *, less: int = 0) -> None:
    """Moves the clock to the end of the wait, or so many microseconds before."""
    row = await shopper.look_at_case()
    tick(shopper.app, row.expires_at - less - shopper.app.clock.now())


async def leave_killed(shopper: Shopper, wire: ScriptedWire) -> None:
    """Leaves a payment as a process does that dies while the acquirer works."""
    await shopper.tell_result()
    wire.script = [Killed()]
    with pytest.raises(Killed):
        await shopper.come(has_answer=True)


# ---- out of time ----


@pytest.mark.parametrize("order", [make_order(), make_order(dict.fromkeys(BROWSER_FIELDS))], ids=["challenged", "open"])
@pytest.mark.parametrize("late", [0, HOUR])
async def test_who_comes_in_the_last_minute_or_later_finds_it_over(
    both: tuple[App, Bank], wire: ScriptedWire, order: Any, late: int
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=order)
    await wait_until_end(shopper)
    tick(app, late)

    assert isinstance(await shopper.come(), GoHome)

    payment, row = await shopper.look(), await shopper.look_at_case()
    assert (payment.state, payment.result_code) == (State.DECLINED, OUT_OF_TIME)
    assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)
    assert wire.sent == []


async def test_who_comes_just_in_time_may_still_go_to_the_bank(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await wait_until_end(shopper, less=1_000_001)

    assert isinstance(await shopper.come(), Forward)


async def test_a_result_that_arrived_in_time_is_not_acted_upon_too_late(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await shopper.tell_result()
    await wait_until_end(shopper)

    await shopper.come(has_answer=True)

    assert (await shopper.look()).result_code == OUT_OF_TIME
    assert wire.sent == []


@pytest.mark.parametrize("payment_type", ["DB", "PA", None])
async def test_a_wait_in_vain_ends_by_itself_and_wipes_what_it_kept(
    both: tuple[App, Bank], wire: ScriptedWire, payment_type: str | None
) -> None:
    app, bank = both
    order = make_order({"paymentType": payment_type}, operation="create_payment" if payment_type else "authenticate")
    shopper = await go_shopping(app, bank, order=order)
    await wait_until_end(shopper)

    assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    payment, row = await shopper.look(), await shopper.look_at_case()
    assert (payment.state, payment.result_code) == (State.DECLINED, OUT_OF_TIME)
    assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)
    assert isinstance(await shopper.come(), GoHome)
    assert await lease_now(app) == []
    assert wire.sent == []


async def test_a_wait_ends_even_where_what_it_waits_for_was_lost(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await wait_until_end(shopper)
    await change_row(app, "DELETE FROM authentications")

    assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    assert (await shopper.look()).result_code == OUT_OF_TIME


@pytest.mark.parametrize(("script", "state"), [(APPROVED, State.APPROVED), (DECLINED, State.DECLINED)])
async def test_the_recovery_task_leaves_what_has_ended_as_it_is(
    both: tuple[App, Bank], wire: ScriptedWire, script: bytes, state: State
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    wire.script = [script]
    await shopper.walk()
    before = await shopper.look()
    await wait_until_end(shopper)

    assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    assert await shopper.look() == before
    assert before.state is state


async def test_the_recovery_task_waits_for_a_charge_that_is_under_way(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    seen: list[dict[str, bool]] = []

    async def run_recovery_tasks() -> None:
        tick(app, LIFETIME)
        seen.append(await run_due(app))

    wire.meanwhile = run_recovery_tasks
    await shopper.walk()

    assert seen == [{RecoveryTask.EXPIRE: False}]
    assert (await shopper.look()).state is State.APPROVED


# ---- an acquirer that takes its time ----


async def test_the_recovery_task_does_not_end_what_the_acquirer_is_still_deciding(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    """A failed answer would leave money taken otherwise."""
    app, bank = both
    shopper = await go_shopping(app, bank)
    wire.script = [PENDING, PENDING, APPROVED]
    await shopper.walk()
    assert (await shopper.look()).state is State.WAITING
    await wait_until_end(shopper)

    assert await run_due(app) == {RecoveryTask.EXPIRE: True, RecoveryTask.INQUIRE: False}
    assert (await shopper.look()).state is State.WAITING
    tick(app, HOUR)
    assert await run_due(app) == {RecoveryTask.INQUIRE: True}

    assert (await shopper.look()).result_code == "000.100.110"


async def test_who_comes_back_while_the_acquirer_decides_neither_ends_nor_repeats_the_charge(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    wire.script = [PENDING]
    home = await shopper.walk()
    await wait_until_end(shopper)

    assert await shopper.come(has_answer=True) == home

    assert (await shopper.look()).state is State.WAITING
    assert len(wire.sent) == 1


async def end_late(shopper: Shopper, app: App, how: str) -> None:
    if how == "recovery task":
        [job] = await lease_now(app)
        assert job.topic == RecoveryTask.EXPIRE
        await run_recovery_task(app, job)
    else:
        stale = Shopper(app, shopper.bank, shopper.answer)
        await stale.come(has_answer=True)


@pytest.mark.parametrize("how", ["recovery task", "tab without a result", "tab with a result", "tab out of time"])
async def test_who_read_the_payment_before_another_tab_had_it_charged_changes_nothing(
    both: tuple[App, Bank], wire: ScriptedWire, how: str
) -> None:
    """It waits again, but for the acquirer now, and that is not the same."""
    app, bank = both
    shopper = await go_shopping(app, bank)
    moments = iter([True])

    async def go_first() -> bool:
        if next(moments, False):
            now, wire.script = app.clock.now(), [PENDING]
            tick(app, (await shopper.look_at_case()).created_at - now)
            if how != "tab with a result":
                await shopper.tell_result()
            await shopper.come(has_answer=True)
            tick(app, now - app.clock.now())
        return True

    if how == "tab with a result":
        await shopper.tell_result()
    if how in ("recovery task", "tab out of time"):
        await wait_until_end(shopper)
    await end_late(shopper, meddle_with(app, go_first), how)

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.WAITING, "000.200.000")
    assert len(wire.sent) == 1
    tick(app, HOUR)
    assert RecoveryTask.INQUIRE in [job.topic for job in await lease_now(app)]


# ---- silence and death ----


async def test_silence_after_the_challenge_fails_and_owes_a_reversal(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    wire.script = [Silent(), REVERSED]

    await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.DECLINED, "900.100.300")
    assert payment.details["threeDSecure.authenticationStatus"] == "Y"
    assert await run_due(app) == {RecoveryTask.REVERSE: True}
    assert [row.payment_type for row in await read_chain(app, payment)] == ["DB", "RV"]


async def test_a_process_that_dies_after_the_challenge_leaves_an_attempt_like_any_other(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await leave_killed(shopper, wire)
    row = await shopper.look_at_case()
    assert ((await shopper.look()).state, row.stage, row.sealed_secret) == (State.STARTED, Stage.CLOSED, None)
    assert await list_overdue(app.database, app.clock.wall(), 10) == []
    tick(app, HOUR)

    [left] = await list_overdue(app.database, app.clock.wall(), 10)
    await complete_overdue(app, left)

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.DECLINED, "900.100.300")
    wire.script = [REVERSED]
    assert await run_due(app) == {RecoveryTask.EXPIRE: True, RecoveryTask.REVERSE: True}
    assert isinstance(await shopper.come(), GoHome)
    assert len(wire.sent) == 2


@pytest.mark.parametrize("ends", ["home", "killed"])
async def test_a_key_replays_the_first_answer_whatever_the_payment_became(
    both: tuple[App, Bank], wire: ScriptedWire, ends: str
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, idempotency_key=make_key(app))
    first = await find_earlier_answer(app, make_key(app))
    if ends == "home":
        await shopper.walk()
    else:
        await leave_killed(shopper, wire)
        await complete_overdue(app, await shopper.look())
    assert (await shopper.look()).state is not State.WAITING

    assert await find_earlier_answer(app, make_key(app)) == first


# ---- what may follow ----


@pytest.mark.parametrize("payment_type", ["RF", "RV"])
async def test_nothing_follows_a_payment_that_waits_for_its_shopper(
    both: tuple[App, Bank], wire: ScriptedWire, payment_type: str
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    answer = await follow(app, await shopper.look(), payment_type, 100)

    assert tell(answer) == (400, "700.400.570")
    await shopper.walk()
    assert len(wire.sent) == 1
    assert (await shopper.look()).state is State.APPROVED


async def test_a_refused_follow_up_of_a_waiting_payment_does_not_disturb_its_end(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order({"paymentType": "PA"}))
    await follow(app, await shopper.look(), "CP", 100)
    await shopper.walk()

    tick(app)
    assert tell(await follow(app, await shopper.look(), "CP", 100)) == (200, "000.100.110")
    assert [row.payment_type for row in await read_chain(app, await shopper.look())] == ["PA", "CP", "CP"]


@pytest.mark.parametrize(
    ("payment_type", "code"), [("RF", "700.400.520"), ("RV", "700.400.530"), ("CP", "700.400.510")]
)
async def test_nothing_follows_an_authentication_by_itself(
    both: tuple[App, Bank], wire: ScriptedWire, payment_type: str, code: str
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order({"paymentType": None}, operation="authenticate"))
    await shopper.walk()

    assert tell(await follow(app, await shopper.look(), payment_type, 100)) == (400, code)
    assert wire.sent == []
