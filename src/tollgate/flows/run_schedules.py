"""What happens when a schedule is due: its run is ordered in one commit, then its payment is made like any other.

Each payment has its name before it is made, so that the store refuses a second one, whoever dies in between.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.flows.pay import pay
from tollgate.operations import accounts, idempotency, signing
from tollgate.operations.app import App, Call
from tollgate.operations.schedules import check_schedule_times, make_run_order, recall_cron
from tollgate.payments.cron import Cron
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.payments.schedule import (
    Reaction,
    Run,
    RunState,
    Schedule,
    ScheduleState,
    choose_reaction,
    count_due,
    is_overtaken,
    is_time_of,
    make_run_payment_id,
)
from tollgate.store import jobs, payments, schedules
from tollgate.store.statements import Write
from tollgate.values import PaymentId, Refusal, make_id

_UNUSABLE_GROUP = "registration_validation"


# ---- a time has come ----


async def fall_due(app: App, schedule: Schedule) -> None:
    """Of all times that have come the last one is paid; the others were missed, and are written down as such."""
    try:
        cron = check_schedule_times(app, schedule)
        await refuse_set_back(app, schedule)
    except signing.TamperedRow:
        await schedules.halt_schedule(app.database, schedule)
        raise
    if schedule.next_at is None:
        return
    due = count_due(cron, schedule.next_at, schedule.ends_at, app.clock.now())
    run = Run(merchant_id=schedule.merchant_id, schedule_id=schedule.id, due_at=due.due_at, state=RunState.DUE)
    # Refused where another process was faster, or somebody ended the schedule; then that is the truth.
    await app.database.write(
        schedules.fall_due_writes(schedule, due.next_at, due.missed, due.skipped, run), label="run due"
    )


async def refuse_set_back(app: App, schedule: Schedule) -> None:
    """A time that was due before is not due again, although somebody wrote so."""
    runs = await schedules.list_runs(app.database, schedule.merchant_id, schedule.id, 1)
    if not runs or schedule.next_at is None or runs[0].due_at < schedule.next_at:
        return
    # Read again, because another process may have moved it on: both move in one commit.
    now_stored = await schedules.find_schedule(app.database, schedule.merchant_id, schedule.id)
    if now_stored is not None and now_stored.next_at == schedule.next_at:
        raise signing.TamperedRow(f"schedule {schedule.id} was set back: run `tollgate verify`")


# ---- its payment is made ----


async def make_run(app: App, job: jobs.Job) -> bool:
    """True when this try is told of and its job gone or put off; False asks to look again later."""
    run = await schedules.find_run(app.database, job.merchant_id, job.subject_id, int(job.body))
    schedule = await schedules.find_schedule(app.database, job.merchant_id, job.subject_id)
    if run is None or schedule is None:
        raise LookupError(f"job {job.id} speaks of a run that does not exist")
    if run.state is not RunState.DUE:
        return await jobs.finish_job(app.database, job)
    payment_id = make_run_payment_id(schedule.id, run.due_at, run.tries + 1)
    payment: Payment | Refusal | None = await payments.find_payment(app.database, schedule.merchant_id, payment_id)
    if payment is None:
        end = await find_end(app, schedule, run)
        if end is not None:
            return await drop_run(app, job, run, end)
        if await is_doubtful(app, run):
            return False
        payment = await try_to_pay(app, job, schedule, payment_id)
    if isinstance(payment, Refusal):
        return await end_unpayable(app, job, run, schedule, payment.result.code)
    return payment is not None and await finish_try(app, job, run, schedule, signing.trust(app, payment))


async def find_end(app: App, schedule: Schedule, run: Run) -> RunState | None:
    """What becomes of a run that is not tried any more; None: it is."""
    if schedule.state is not ScheduleState.ACTIVE:
        # What is over makes no payment; what was tried before it ended has failed.
        return RunState.FAILED if run.tries else RunState.DROPPED
    now, cron = app.clock.now(), recall_cron(signing.trust(app, schedule))
    tries = await list_tries(app, schedule, run, cron)
    if not is_overtaken(cron, run.due_at, schedule.ends_at, now):
        return None
    # A later time is paid instead of what nobody began in time, or tried again in time.
    if tries:
        return RunState.FAILED if now > tries[0].created_at + app.retrying.lasts else None
    return RunState.MISSED if now > run.due_at + LIMITS.run_lateness else None


async def list_tries(app: App, schedule: Schedule, run: Run, cron: Cron) -> list[Payment]:
    """The payments that were declined so far. A run is not sealed: it is believed only where they say the same."""
    tries: list[Payment] = []
    for attempt in range(1, min(run.tries, app.retrying.tries_max) + 1):
        name = make_run_payment_id(schedule.id, run.due_at, attempt)
        payment = await payments.find_payment(app.database, schedule.merchant_id, name)
        if payment is not None and signing.trust(app, payment).state is State.DECLINED:
            tries.append(payment)
    is_due = is_time_of(cron, run.due_at) and schedule.starts_at <= run.due_at <= app.clock.now()
    is_behind = schedule.next_at is None or run.due_at < schedule.next_at
    is_within = schedule.ends_at is None or run.due_at < schedule.ends_at
    if len(tries) == run.tries and is_due and is_behind and is_within:
        return tries
    raise signing.TamperedRow(f"{run.job_id} is not a run of its schedule: run `tollgate verify`")


async def is_doubtful(app: App, run: Run) -> bool:
    """Whether the last try may have been charged although nobody answered, and is not undone yet.

    What is owed was written in the commit that ended the try, and goes in the one that tells of the reversal.
    """
    if run.payment_id is None:
        return False
    owed = f"{RecoveryTask.REVERSE}.{run.payment_id}"
    return await jobs.find_job(app.database, run.merchant_id, owed) is not None


async def try_to_pay(app: App, job: jobs.Job, schedule: Schedule, payment_id: PaymentId) -> Payment | Refusal | None:
    """The payment, whatever became of it; why the account can no longer be charged; None: not now.

    However long this process slept since it looked: the payment starts only while its schedule goes on and nobody else
    has taken the run over.
    """
    channel = app.merchants.find_channel(schedule.channel_id)
    if channel is None or channel.is_closed:
        return None
    try:
        stored = await accounts.open_registration(app, schedule.merchant_id, schedule.registration_id)
    except Refusal as refusal:
        if refusal.result.group == _UNUSABLE_GROUP:
            return refusal
        raise
    order = make_run_order(app, channel, schedule.payment_type, schedule.money, schedule.echo, stored)
    # A trace of its own: by it the store tells this attempt from one that another process makes under the same name.
    ndc = f"{channel.id}_{make_id(app.random_bytes)}"
    guards = [*schedules.hold_schedule_writes(schedule), *jobs.hold_job_writes(job)]
    with suppress(idempotency.NotStarted):
        await pay(app, order, Call(channel, ndc), payment_id=payment_id, guards=guards)
    return await payments.find_payment(app.database, schedule.merchant_id, payment_id)


async def finish_try(app: App, job: jobs.Job, run: Run, schedule: Schedule, payment: Payment) -> bool:
    if payment.state not in (State.APPROVED, State.DECLINED):
        # Somebody is still at it: its own process, reconcile, or a worker that asks the acquirer.
        return False
    now, code = app.clock.now(), payment.result_code
    tried = msgspec.structs.replace(run, tries=run.tries + 1, payment_id=payment.id, result_code=code, completed_at=now)
    if payment.state is State.APPROVED:
        made = msgspec.structs.replace(tried, state=RunState.MADE)
        return await app.database.write(
            [*schedules.move_run_writes(run, made), *jobs.finish_job_writes(job)], label="run result"
        )
    pause = app.retrying.find_pause(tried.tries, code)
    if pause is not None and schedule.state is ScheduleState.ACTIVE:
        return await app.database.write(
            [*schedules.move_run_writes(run, tried), *jobs.postpone_job_writes(job, now + pause)], label="run result"
        )
    failed = msgspec.structs.replace(tried, state=RunState.FAILED)
    ending = _stop_writes(schedule, code, app) if choose_reaction(code) is Reaction.STOP else []
    return await app.database.write(
        [*schedules.move_run_writes(run, failed), *ending, *jobs.finish_job_writes(job)], label="run result"
    )


async def end_unpayable(app: App, job: jobs.Job, run: Run, schedule: Schedule, code: str) -> bool:
    failed = msgspec.structs.replace(run, state=RunState.FAILED, result_code=code, completed_at=app.clock.now())
    return await app.database.write(
        [*schedules.move_run_writes(run, failed), *_stop_writes(schedule, code, app), *jobs.finish_job_writes(job)],
        label="run refused",
    )


async def drop_run(app: App, job: jobs.Job, run: Run, state: RunState) -> bool:
    ended = msgspec.structs.replace(run, state=state, completed_at=app.clock.now())
    return await app.database.write(
        [*schedules.move_run_writes(run, ended), *jobs.finish_job_writes(job)], label="run dropped"
    )


def _stop_writes(schedule: Schedule, code: str, app: App) -> list[Write]:
    """It may be over already."""
    return schedules.end_schedule_writes(schedule, ScheduleState.ENDED, app.clock.now(), code, is_guarded=False)
