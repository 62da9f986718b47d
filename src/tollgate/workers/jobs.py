"""Work that is owed: jobs leased and run, schedules that fall due, attempts past their deadline.

How each is done is decided in the flows.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows import checkouts, recover, run_schedules, tokenize
from tollgate.operations.app import App
from tollgate.payments.checkout import REMIND_TOPIC
from tollgate.payments.payment import Payment, RecoveryTask
from tollgate.payments.registration import TOKEN_TOPIC
from tollgate.payments.schedule import RUN_TOPIC
from tollgate.store import payments, schedules
from tollgate.store.jobs import Job, lease_due, postpone_job
from tollgate.values import SECOND, make_id
from tollgate.workers.loop import run_as_they_come, run_each

_log = logging.getLogger("tollgate.worker")

RunJob = Callable[[App, Job], Awaitable[bool]]
"""Returns true when the job is done and removed."""
PutOff = Callable[[App, Job, int], Awaitable[object]]
"""Postpones a job that is not done; the number is how often in a row it has failed by now."""

_AT_ONCE = 16
"""The number of jobs that are leased and run at once, so that no lease runs out while its job waits."""
RECOVERY_PAUSES_S = (1, 2, 5, 15, 30, 60, 120, 300, 900, 3600)
_SHORTER_PAUSES_S: dict[str, tuple[int, ...]] = {RecoveryTask.INQUIRE: RECOVERY_PAUSES_S[:-2]}
"""Somebody may be waiting for what an inquiry finds out, such as a shopper who paid and never came back."""
_PATIENT = frozenset({RecoveryTask.INQUIRE, TOKEN_TOPIC})
"""Topics whose jobs are often not done at first: the provider has not decided yet, or nobody waits for the token."""
_RUN_PAUSES_S = (5, 15, 60, 300, 900, 3600)
_REMINDER_PAUSES_S = (1, 2, 3, 5, 10)
"""Between tries to reach a shop; there is a minute for all of them."""
_REMINDERS_AT_ONCE = 100
"""So many calls may hang and the next shop is called all the same."""
REMINDER_LEASE_S = LIMITS.notification_timeout_s + 5.0
"""The call itself and a short margin: what a killed process held has to be called by another within the minute."""


async def run_jobs(app: App, run: RunJob, put_off: PutOff, *, topic: str | None = None) -> int:
    """Runs the due jobs of a topic at once and returns how many there were. Without a topic they are recovery tasks."""
    jobs = await lease(app, topic, app.patience_s, _AT_ONCE)
    await run_each(jobs, partial(run_or_put_off, app, run, put_off))
    return len(jobs)


async def lease(app: App, topic: str | None, lease_s: float, limit: int) -> list[Job]:
    return await lease_due(
        app.database,
        now=app.clock.now(),
        wall_now=app.clock.wall(),
        owner=make_id(app.random_bytes),
        lease_s=lease_s,
        limit=limit,
        topic=topic,
    )


async def run_or_put_off(app: App, run: RunJob, put_off: PutOff, job: Job) -> None:
    is_done, failures = False, job.failures + 1
    try:
        is_done = await run(app, job)
        failures = 0
    except asyncio.CancelledError:
        # The process is being stopped, which says nothing about the job.
        failures = job.failures
        raise
    finally:
        # A job that raises is postponed like one that got no answer; otherwise every lease would bring it back at once.
        if not is_done:
            await put_off(app, job, failures)


async def _pause(app: App, job: Job, pauses_s: Sequence[int], failures: int) -> int:
    pause_s = pauses_s[min(job.tries, len(pauses_s)) - 1]
    await postpone_job(app.database, job, app.clock.now() + pause_s * SECOND, failures)
    return pause_s


async def recover_payments(app: App) -> int:
    overdue = await payments.list_overdue(app.database, app.clock.wall(), LIMITS.recovery_batch)
    await run_each(overdue, partial(_complete_or_owe, app))
    return len(overdue)


async def _complete_or_owe(app: App, started: Payment) -> None:
    is_completed = False
    try:
        await recover.complete_overdue(app, started)
        is_completed = True
    finally:
        # Payments that cannot be completed would fill every batch and keep out the others. As a job each is tried
        # again at growing intervals, and `tollgate verify` names it.
        if not is_completed:
            await payments.owe_completion(app.database, started, app.clock.now(), app.clock.wall())


async def run_recovery_tasks(app: App) -> int:
    return await run_jobs(app, recover.run_recovery_task, _put_off_recovery)


async def follow_tokens(app: App) -> int:
    return await run_jobs(app, tokenize.follow_token, _put_off_recovery, topic=TOKEN_TOPIC)


async def _put_off_recovery(app: App, job: Job, failures: int) -> None:
    if job.topic == RecoveryTask.REVERSE:
        # An acquirer that does not confirm a reversal keeps the shopper's money, so that is a failure too.
        failures = job.failures + 1
    pause_s = await _pause(app, job, _SHORTER_PAUSES_S.get(job.topic, RECOVERY_PAUSES_S), failures)
    level = logging.INFO if job.topic in _PATIENT else logging.WARNING
    facts = {"task": job.topic, "subject": job.subject_id, "again_in_s": pause_s}
    _log.log(level, "recovery task not done yet", extra=facts)


async def order_runs(app: App) -> int:
    due = await schedules.list_due_schedules(app.database, app.clock.now(), LIMITS.job_batch)
    await run_each(due, partial(run_schedules.fall_due, app))
    await schedules.retire_schedules(app.database, app.clock.now(), LIMITS.job_batch)
    return len(due)


async def pay_runs(app: App) -> int:
    return await run_jobs(app, run_schedules.make_run, _put_off_run, topic=RUN_TOPIC)


async def _put_off_run(app: App, job: Job, failures: int) -> None:
    pause_s = await _pause(app, job, _RUN_PAUSES_S, failures)
    facts = {"schedule": job.subject_id, "run": job.id, "again_in_s": pause_s}
    _log.warning("payment of a schedule not made yet", extra=facts)


async def send_reminders(app: App) -> int:
    find = partial(lease, app, REMIND_TOPIC, REMINDER_LEASE_S)
    send = partial(run_or_put_off, app, checkouts.remind, _put_off_reminder)
    return await run_as_they_come(find, send, at_once=_REMINDERS_AT_ONCE)


async def _put_off_reminder(app: App, job: Job, failures: int) -> None:
    await _pause(app, job, _REMINDER_PAUSES_S, failures)
