"""Schedules that fall due: the run is ordered in one commit, then its payment is made like any other.

Merchants create and change schedules in `schedules`.
"""

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.contract.jobs import recall_plan
from tollgate.contract.schedules import make_run_fields
from tollgate.flows.pay import pay
from tollgate.operations import accounts, idempotency, signing
from tollgate.operations.app import App, Call
from tollgate.payments.cron import Cron, parse_plan
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.payments.registration import RegisteredAccount
from tollgate.payments.schedule import Run, RunState, Schedule, ScheduleState, count_due, ends_series, find_next
from tollgate.store import jobs, payments, schedules
from tollgate.store.statements import Write
from tollgate.values import Money, PaymentId, Refusal, make_id

_UNUSABLE_GROUP = "registration_validation"


def recall_cron(schedule: Schedule) -> Cron:
    return parse_plan(recall_plan(schedule.plan))


def make_run_order(
    app: App,
    channel: Channel,
    payment_type: str,
    money: Money,
    echo: Mapping[str, str],
    on_file: RegisteredAccount,
) -> Order:
    return accounts.read_order(app, make_run_fields(payment_type, money, echo), channel, on_file=on_file)


async def fall_due(app: App, schedule: Schedule) -> None:
    """Orders a run for the last time that has come; earlier times are recorded as missed."""
    try:
        signing.trust(app, schedule)
        cron, next_at = recall_cron(schedule), schedule.next_at
        # The next time is not signed, so one that the plan does not have was written by somebody else.
        if next_at is None or next_at < schedule.starts_at or not cron.has_time(next_at):
            raise signing.TamperedRow(f"schedule {schedule.id} is due when its plan is not: run `tollgate verify`")
        await _refuse_set_back(app, schedule)
    except signing.TamperedRow:
        await schedules.halt_schedule(app.database, schedule)
        raise
    due = count_due(cron, next_at, schedule.ends_at, app.clock.now())
    run = Run(merchant_id=schedule.merchant_id, schedule_id=schedule.id, due_at=due.due_at, state=RunState.DUE)
    # The write is refused where another process was faster, or somebody ended the schedule.
    await app.database.write(
        schedules.fall_due_writes(schedule, due.next_at, due.missed, due.skipped, run), label="run due"
    )


async def _refuse_set_back(app: App, schedule: Schedule) -> None:
    """Refuses a next time that was due before."""
    runs = await schedules.list_runs(app.database, schedule.merchant_id, schedule.id, 1)
    if not runs or schedule.next_at is None or runs[0].due_at < schedule.next_at:
        return
    # Read again, because another process may have moved it on: both move in one commit.
    fresh = await schedules.find_schedule(app.database, schedule.merchant_id, schedule.id)
    if fresh is not None and fresh.next_at == schedule.next_at:
        raise signing.TamperedRow(f"schedule {schedule.id} was set back: run `tollgate verify`")


async def make_run(app: App, job: jobs.Job) -> bool:
    """Returns true when this try is recorded and its job removed or postponed; false asks for another look later."""
    run = await schedules.find_run(app.database, job.merchant_id, job.subject_id, int(job.body))
    schedule = await schedules.find_schedule(app.database, job.merchant_id, job.subject_id)
    if run is None or schedule is None:
        raise LookupError(f"job {job.id} names a run that does not exist")
    if run.state is not RunState.DUE:
        return await jobs.finish_job(app.database, job)
    payment_id = run.make_payment_id(run.tries + 1)
    payment: Payment | Refusal | None = await payments.find_payment(app.database, schedule.merchant_id, payment_id)
    if payment is None:
        end = await find_end(app, schedule, run)
        if end is not None:
            ended = msgspec.structs.replace(run, state=end, completed_at=app.clock.now())
            unit = [*schedules.move_run_writes(run, ended), *jobs.finish_job_writes(job)]
            return await app.database.write(unit, label="run dropped")
        if await is_doubtful(app, run):
            return False
        payment = await try_to_pay(app, job, schedule, payment_id)
    if isinstance(payment, Refusal):
        code = payment.result.code
        failed = msgspec.structs.replace(run, state=RunState.FAILED, result_code=code, completed_at=app.clock.now())
        ending = [*_stop_writes(schedule, code, app), *jobs.finish_job_writes(job)]
        return await app.database.write([*schedules.move_run_writes(run, failed), *ending], label="run refused")
    return payment is not None and await finish_try(app, job, run, schedule, signing.trust(app, payment))


async def find_end(app: App, schedule: Schedule, run: Run) -> RunState | None:
    """Finds what becomes of a run that is not tried any more; None where it is tried."""
    if schedule.state is not ScheduleState.ACTIVE:
        # A schedule that ended makes no payment; a run that was tried before that has failed.
        return RunState.FAILED if run.tries else RunState.DROPPED
    now, cron = app.clock.now(), recall_cron(signing.trust(app, schedule))
    tries = await list_tries(app, schedule, run, cron)
    next_at = find_next(cron, run.due_at, schedule.ends_at)
    if next_at is None or next_at > now:
        return None
    # A later time is paid instead of a run that was not begun, or not tried again, in time.
    if tries:
        return RunState.FAILED if now > tries[0].created_at + app.retrying.lasts else None
    return RunState.MISSED if now > run.due_at + LIMITS.run_lateness else None


async def list_tries(app: App, schedule: Schedule, run: Run, cron: Cron) -> list[Payment]:
    """Lists the payments that were declined so far. A run is not signed, so these must confirm it."""
    tries: list[Payment] = []
    for attempt in range(1, min(run.tries, app.retrying.tries_max) + 1):
        name = run.make_payment_id(attempt)
        payment = await payments.find_payment(app.database, schedule.merchant_id, name)
        if payment is not None and signing.trust(app, payment).state is State.DECLINED:
            tries.append(payment)
    is_due = cron.has_time(run.due_at) and schedule.starts_at <= run.due_at <= app.clock.now()
    is_behind = schedule.next_at is None or run.due_at < schedule.next_at
    is_within = schedule.ends_at is None or run.due_at < schedule.ends_at
    if len(tries) == run.tries and is_due and is_behind and is_within:
        return tries
    raise signing.TamperedRow(f"{run.job_id} is not a run of its schedule: run `tollgate verify`")


async def is_doubtful(app: App, run: Run) -> bool:
    """Tells whether the last try may have been charged although nobody answered, and is not reversed yet.

    Its reversal was queued in the commit that ended the try, and is removed in the commit that records the reversal.
    """
    if run.payment_id is None:
        return False
    owed = f"{RecoveryTask.REVERSE}.{run.payment_id}"
    return await jobs.find_job(app.database, run.merchant_id, owed) is not None


async def try_to_pay(app: App, job: jobs.Job, schedule: Schedule, payment_id: PaymentId) -> Payment | Refusal | None:
    """Returns the payment, whatever became of it; the refusal where the account cannot be charged; None: not now.

    The payment starts only while its schedule is active and this process still holds the job.
    """
    channel = app.merchants.find_channel(schedule.channel_id)
    if channel is None or channel.is_closed:
        return None
    try:
        on_file = await accounts.open_registration(app, schedule.merchant_id, schedule.registration_id)
    except Refusal as refusal:
        if refusal.result.group == _UNUSABLE_GROUP:
            return refusal
        raise
    order = make_run_order(app, channel, schedule.payment_type, schedule.money, schedule.echo, on_file)
    # By its trace id the store tells this attempt from one that another process makes under the same payment id.
    ndc = f"{channel.id}_{make_id(app.random_bytes)}"
    guards = [*schedules.hold_schedule_writes(schedule), *jobs.hold_job_writes(job)]
    with suppress(idempotency.NotStarted):
        await pay(app, order, Call(channel, ndc), payment_id=payment_id, guards=guards)
    return await payments.find_payment(app.database, schedule.merchant_id, payment_id)


async def finish_try(app: App, job: jobs.Job, run: Run, schedule: Schedule, payment: Payment) -> bool:
    if payment.state not in (State.APPROVED, State.DECLINED):
        # It is not complete: its own process or the recovery worker is still at work on it.
        return False
    now, code = app.clock.now(), payment.result_code
    tried = msgspec.structs.replace(run, tries=run.tries + 1, payment_id=payment.id, result_code=code, completed_at=now)
    pause = app.retrying.find_pause(tried.tries, code) if schedule.state is ScheduleState.ACTIVE else None
    further = jobs.finish_job_writes(job)
    if payment.state is State.APPROVED:
        tried = msgspec.structs.replace(tried, state=RunState.MADE)
    elif pause is not None:
        further = jobs.postpone_job_writes(job, now + pause)
    else:
        tried = msgspec.structs.replace(tried, state=RunState.FAILED)
        further += _stop_writes(schedule, code, app) if ends_series(code) else []
    return await app.database.write([*schedules.move_run_writes(run, tried), *further], label="run result")


def _stop_writes(schedule: Schedule, code: str, app: App) -> list[Write]:
    """Ends the schedule, unless it has ended already."""
    return schedules.end_schedule_writes(schedule, app.clock.now(), code, is_guarded=False)
