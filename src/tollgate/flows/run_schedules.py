"""What happens when a schedule is due: its run is ordered in one commit, then its payment is made like any other.

Each payment has its name before it is made, so that the store refuses a second one, whoever dies in between.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import recall_plan
from tollgate.flows.pay import pay
from tollgate.payments import (
    Errand,
    Payment,
    Reaction,
    Run,
    RunState,
    Schedule,
    ScheduleState,
    State,
    find_due,
    find_reaction,
    name_run_payment,
    parse_plan,
)
from tollgate.steps import House, fits_schedule_seal, make_run_order, open_stored, trust, trust_schedule
from tollgate.store import (
    Job,
    Step,
    find_job_ids,
    find_payment,
    find_run,
    find_schedule,
    finish_job,
    halt_schedule,
    steps_end_schedule,
    steps_fall_due,
    steps_finish_job,
    steps_move_run,
    steps_postpone_job,
)
from tollgate.values import PaymentId, Refusal, make_id

_UNUSABLE_GROUP = "registration_validation"


# ---- a time has come ----


async def fall_due(house: House, schedule: Schedule) -> None:
    """Of all times that have come the last one is paid; the others were missed, and are written down as such."""
    if not fits_schedule_seal(schedule, house.keyring):
        await halt_schedule(house.database, schedule)
        trust_schedule(house, schedule)
    if schedule.next_at is None:
        return
    cron = parse_plan(recall_plan(schedule.plan))
    due = find_due(cron, schedule.next_at, schedule.ends_at, house.clock.now())
    run = Run(merchant_id=schedule.merchant_id, schedule_id=schedule.id, due_at=due.due_at, state=RunState.DUE)
    # Refused where another process was faster, or somebody ended the schedule; then that is the truth.
    await house.database.write(steps_fall_due(schedule, due.next_at, due.missed, due.skipped, run))


# ---- its payment is made ----


async def make_run(house: House, job: Job) -> bool:
    """True when this try is told of and its job gone or put off; False asks to look again later."""
    run = await find_run(house.database, job.merchant_id, job.subject_id, int(job.body))
    schedule = await find_schedule(house.database, job.merchant_id, job.subject_id)
    if run is None or schedule is None:
        raise LookupError(f"job {job.id} speaks of a run that does not exist")
    if run.state is not RunState.DUE:
        return await finish_job(house.database, job)
    payment_id = name_run_payment(schedule.id, run.due_at, run.tries + 1)
    payment: Payment | Refusal | None = await find_payment(house.database, schedule.merchant_id, payment_id)
    if payment is None:
        if schedule.state is not ScheduleState.ACTIVE:
            return await drop_run(house, job, run)
        if await is_doubtful(house, run):
            return False
        payment = await try_to_pay(house, trust_schedule(house, schedule), payment_id)
    if isinstance(payment, Refusal):
        return await end_unpayable(house, job, run, schedule, payment.result.code)
    return payment is not None and await judge_try(house, job, run, schedule, trust(house, payment))


async def is_doubtful(house: House, run: Run) -> bool:
    """Whether the last try may have been charged although nobody answered, and is not undone yet.

    What is owed was written in the commit that ended the try, and goes in the one that tells of the reversal.
    """
    if run.payment_id is None:
        return False
    owed = f"{Errand.REVERSE}.{run.payment_id}"
    return owed in await find_job_ids(house.database, run.merchant_id, [owed])


async def try_to_pay(house: House, schedule: Schedule, payment_id: PaymentId) -> Payment | Refusal | None:
    """The payment, whatever became of it; why the account can no longer be charged; None: not now."""
    channel = house.directory.find_channel(schedule.channel_id)
    if channel is None or channel.is_closed:
        return None
    try:
        stored = await open_stored(house, schedule.merchant_id, schedule.registration_id)
    except Refusal as refusal:
        if refusal.result.group == _UNUSABLE_GROUP:
            return refusal
        raise
    order = make_run_order(house, channel, schedule.kind, schedule.money, schedule.echo, stored)
    # A trace of its own: by it the store tells this attempt from one that another process makes under the same name.
    ndc = f"{channel.id}_{make_id(house.chance)}"
    await pay(house, order, channel, ndc, None, payment_id=payment_id)
    return await find_payment(house.database, schedule.merchant_id, payment_id)


async def judge_try(house: House, job: Job, run: Run, schedule: Schedule, payment: Payment) -> bool:
    if payment.state not in (State.APPROVED, State.DECLINED):
        # Somebody is still at it: its own process, reconcile, or a worker that asks the acquirer.
        return False
    now, code = house.clock.now(), payment.result_code
    tried = msgspec.structs.replace(run, tries=run.tries + 1, payment_id=payment.id, result_code=code, settled_at=now)
    if payment.state is State.APPROVED:
        made = msgspec.structs.replace(tried, state=RunState.MADE)
        return await house.database.write([*steps_move_run(run, made), *steps_finish_job(job)])
    pause = house.retrying.find_pause(tried.tries, code)
    if pause is not None and schedule.state is ScheduleState.ACTIVE:
        return await house.database.write([*steps_move_run(run, tried), *steps_postpone_job(job, now + pause)])
    failed = msgspec.structs.replace(tried, state=RunState.FAILED)
    ending = _steps_stop(schedule, code, house) if find_reaction(code) is Reaction.STOP else []
    return await house.database.write([*steps_move_run(run, failed), *ending, *steps_finish_job(job)])


async def end_unpayable(house: House, job: Job, run: Run, schedule: Schedule, code: str) -> bool:
    failed = msgspec.structs.replace(run, state=RunState.FAILED, result_code=code, settled_at=house.clock.now())
    return await house.database.write(
        [*steps_move_run(run, failed), *_steps_stop(schedule, code, house), *steps_finish_job(job)]
    )


async def drop_run(house: House, job: Job, run: Run) -> bool:
    """A schedule that is over makes no payment; what was tried before it ended has failed."""
    state = RunState.FAILED if run.tries else RunState.DROPPED
    dropped = msgspec.structs.replace(run, state=state, settled_at=house.clock.now())
    return await house.database.write([*steps_move_run(run, dropped), *steps_finish_job(job)])


def _steps_stop(schedule: Schedule, code: str, house: House) -> list[Step]:
    """It may be over already."""
    return steps_end_schedule(schedule, ScheduleState.ENDED, house.clock.now(), code, is_guarded=False)
