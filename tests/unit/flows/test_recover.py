"""Workers finish what a dead process or a silent acquirer left behind, by the same table, and never twice."""

from __future__ import annotations

from typing import Any

import pytest

from tollgate.flows.pay import pay
from tollgate.flows.recover import complete_overdue, run_recovery_task
from tollgate.operations import charging
from tollgate.operations.app import App, Call
from tollgate.operations.signing import make_signature
from tollgate.payments.chain import decide_follow_up
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.store.jobs import Job, lease_due
from tollgate.store.payments import list_overdue
from tollgate.wire import Silent, Unsent
from unit.app_fixture import APPROVED, CHANNEL, NOW, ORDER, ScriptedWire
from unit.flows.chains import (
    DECLINED,
    PENDING,
    REVERSED,
    UNKNOWN,
    begin,
    follow,
    lease_jobs,
    make_request,
    read,
    read_answered,
    read_chain,
    run_only_job,
    show,
)

pytestmark = pytest.mark.anyio


async def fall_silent(
    app: App, wire: ScriptedWire, named: Payment, payment_type: str, amount: int, **changes: Any
) -> str:
    """Returns the id of a follow-up that was not answered."""
    wire.script = [Silent()]
    later = await read_answered(app, await follow(app, named, payment_type, amount, **changes))
    wire.sent.clear()
    return later.id


async def leave_started(app: App, named: Payment, payment_type: str, amount: int) -> Payment:
    """Leaves an attempt as a process does that dies after the first write."""
    request = make_request(payment_type, amount)
    context = await charging.read_own_context(app, named)
    decision = decide_follow_up(
        charging.make_follow_up_request(request, named), context, charging.make_terms(app, CHANNEL, named)
    )
    attempt = charging.plan_attempt(charging.start_after(app, named, payment_type, "ndc"), decision)
    assert await app.database.write(charging.start_writes(attempt, context, decision), label="test")
    return await read(app, attempt.id)


# ---- follow-ups ----


async def test_a_silent_follow_up_that_the_acquirer_never_saw_is_sent_again_under_its_key(
    app: App, wire: ScriptedWire
) -> None:
    named = await begin(app)
    refund_id = await fall_silent(app, wire, named, "RF", 4_000)
    wire.script = [UNKNOWN, APPROVED]

    assert await run_only_job(app)

    refund = await read(app, refund_id)
    assert (refund.state, refund.result_code) == (State.APPROVED, "000.100.110")
    assert refund.mac == make_signature(refund, app.keyring)
    question, repeated = wire.sent
    assert show(question) == {"key": refund_id, "blocks": False}
    assert (repeated.key, show(repeated)["type"], show(repeated)["amount"]) == (refund_id, "refund", 4_000)
    assert (await read(app, named.id)).balance == Balance(drawn=4_000, chain_length=2, chain_net=-4_000)


async def test_a_silent_follow_up_that_the_acquirer_knows_is_not_sent_again(app: App, wire: ScriptedWire) -> None:
    named = await begin(app)
    refund_id = await fall_silent(app, wire, named, "RF", 4_000)
    wire.script = [APPROVED]

    assert await run_only_job(app)

    assert (await read(app, refund_id)).state is State.APPROVED
    assert len(wire.sent) == 1


async def test_a_silent_follow_up_that_was_declined_gives_its_reservation_back(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")
    capture_id = await fall_silent(app, wire, named, "CP", 4_000, is_final=True)
    wire.script = [DECLINED]

    assert await run_only_job(app)

    assert (await read(app, capture_id)).state is State.DECLINED
    assert (await read(app, named.id)).balance == Balance(chain_length=2)


@pytest.mark.parametrize(
    "script",
    [[Silent()], [Unsent(), Unsent()], [PENDING], [UNKNOWN, Silent()], [b"{"]],
    ids=["silent", "unsent", "pending", "silent again", "garbled"],
)
async def test_while_nobody_knows_the_job_stays_and_the_reservation_too(
    app: App, wire: ScriptedWire, script: list[bytes | Exception]
) -> None:
    named = await begin(app)
    refund_id = await fall_silent(app, wire, named, "RF", 4_000)
    wire.script = list(script)

    [job] = await lease_jobs(app)
    assert not await run_recovery_task(app, job)

    assert (await read(app, refund_id)).state is State.UNRESOLVED
    assert (await read(app, named.id)).balance.reserved == 4_000
    assert [left.id for left in await lease_again(app)] == [job.id]


async def test_a_recovery_task_about_what_was_decided_meanwhile_ends_without_a_word(
    app: App, wire: ScriptedWire
) -> None:
    named = await begin(app)
    await fall_silent(app, wire, named, "RF", 4_000)
    [job] = await lease_jobs(app)
    assert await run_recovery_task(app, job)
    wire.sent.clear()

    assert not await run_recovery_task(app, job)

    assert wire.sent == []
    assert (await read(app, named.id)).balance.drawn == 4_000


async def test_a_started_follow_up_past_its_deadline_is_repeated_and_not_forgotten(
    app: App, wire: ScriptedWire
) -> None:
    named = await begin(app, "PA")
    left = await leave_started(app, named, "CP", 4_000)
    assert await list_overdue(app.database, NOW * 2, 10) == [left]

    await complete_overdue(app, left)

    unresolved = await read(app, left.id)
    assert (unresolved.state, unresolved.result_code) == (State.UNRESOLVED, "000.200.000")
    assert (await read(app, named.id)).balance.reserved == 4_000
    wire.script = [UNKNOWN, APPROVED]
    assert await run_only_job(app)
    assert (await read(app, left.id)).state is State.APPROVED


async def test_a_refusal_that_was_only_started_is_written_down_and_nothing_is_sent(
    app: App, wire: ScriptedWire
) -> None:
    named = await begin(app, "PA")
    left = await leave_started(app, named, "CP", 99_999)
    wire.sent.clear()

    await complete_overdue(app, left)

    refused = await read(app, left.id)
    assert (refused.state, refused.result_code) == (State.DECLINED, "700.400.100")
    assert refused.mac == make_signature(refused, app.keyring)
    assert wire.sent == []
    assert await lease_jobs(app) == []


async def test_an_attempt_that_was_completed_after_all_stays_as_it_is(app: App) -> None:
    named = await begin(app, "PA")
    left = await leave_started(app, named, "CP", 4_000)
    await complete_overdue(app, left)
    completed = await read_chain(app, named)

    await complete_overdue(app, left)

    assert await read_chain(app, named) == completed


# ---- what took money ----


async def test_a_silent_payment_is_reversed_and_both_are_in_the_chain(app: App, wire: ScriptedWire) -> None:
    wire.script = [Silent()]
    payment = await read_answered(app, await pay(app, ORDER, Call(CHANNEL, "ndc")))
    assert (payment.state, payment.result_code) == (State.DECLINED, "900.100.300")
    wire.script = [REVERSED]

    assert await run_only_job(app)

    [first, reversal] = await read_chain(app, payment)
    assert (first.id, first.balance) == (payment.id, Balance(chain_length=2))
    assert (reversal.payment_type, reversal.action) == ("RV", Action.TECHNICAL_REVERSAL)
    assert (reversal.state, reversal.result_code, reversal.money) == (State.APPROVED, "000.100.110", payment.money)
    assert reversal.mac == make_signature(reversal, app.keyring)
    assert await lease_again(app) == []


async def test_a_payment_the_acquirer_never_saw_counts_as_reversed(app: App, wire: ScriptedWire) -> None:
    wire.script = [Silent(), UNKNOWN]
    payment = await read_answered(app, await pay(app, ORDER, Call(CHANNEL, "ndc")))

    assert await run_only_job(app)

    assert len(await read_chain(app, payment)) == 2


async def test_a_reversal_is_owed_until_the_acquirer_confirms_it(app: App, wire: ScriptedWire) -> None:
    wire.script = [Silent(), Silent()]
    payment = await read_answered(app, await pay(app, ORDER, Call(CHANNEL, "ndc")))

    assert not await run_only_job(app)

    assert len(await read_chain(app, payment)) == 1
    [job] = await lease_again(app)
    assert job.topic == RecoveryTask.REVERSE


async def test_a_silent_increment_is_reversed_within_the_chain_it_was_to_raise(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")
    increment_id = await fall_silent(app, wire, named, "PA", 800, practice="INCREMENTAL_AUTH")
    wire.script = [REVERSED]

    assert await run_only_job(app)

    rows = await read_chain(app, named)
    assert [(row.payment_type, row.position) for row in rows] == [("PA", 1), ("PA", 2), ("RV", 3)]
    assert rows[2].referenced_id == increment_id
    assert rows[0].balance == Balance(chain_length=3)
    assert show(wire.sent[0]) == {"key": increment_id}


async def test_an_open_payment_is_asked_for_until_it_is_decided(app: App, wire: ScriptedWire) -> None:
    wire.script = [PENDING, APPROVED]
    payment = await read_answered(app, await pay(app, ORDER, Call(CHANNEL, "ndc")))
    assert payment.state is State.WAITING

    assert await run_only_job(app)

    decided = await read(app, payment.id)
    assert decided.state is State.APPROVED
    assert decided.mac == make_signature(decided, app.keyring)


async def test_a_job_about_a_payment_that_does_not_exist_is_breakage(app: App) -> None:
    job = Job(
        id="repeat.none",
        merchant_id=CHANNEL.merchant_id,
        topic=RecoveryTask.REPEAT,
        subject_id="8a" + "0" * 30,
        due_at=NOW,
    )

    with pytest.raises(LookupError):
        await run_recovery_task(app, job)


async def lease_again(app: App) -> list[Job]:
    """Leases the jobs again after the first lease has run out."""
    return await lease_due(app.database, now=2**60, wall_now=2**60, owner="another", lease_s=1, limit=100)
