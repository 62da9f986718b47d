"""Finishes what was left open: attempts past their deadline, reversals, inquiries and network tokens that are owed.

How each is finished is told in the flows.
"""

from __future__ import annotations

import logging
from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.recover import complete_overdue, run_recovery_task
from tollgate.flows.tokenize import follow_token
from tollgate.operations.app import App
from tollgate.payments.payment import Payment, RecoveryTask
from tollgate.payments.registration import TOKEN_TOPIC
from tollgate.store.jobs import Job
from tollgate.store.payments import list_overdue, owe_completion
from tollgate.workers.jobs import pause, run_jobs
from tollgate.workers.loop import run_each

_log = logging.getLogger("tollgate.worker")

_PAUSES_S = (1, 2, 5, 15, 30, 60, 120, 300, 900, 3600)
_SHORTER_PAUSES_S: dict[str, tuple[int, ...]] = {RecoveryTask.INQUIRE: _PAUSES_S[:-2]}
"""Somebody may be waiting for what an inquiry finds out, such as a shopper who paid and never came back."""
_PATIENT = frozenset({RecoveryTask.INQUIRE, TOKEN_TOPIC})
"""Where not being done is the ordinary case: somebody has not decided yet, or nobody waits for it."""


async def recover_payments(app: App) -> int:
    overdue = await list_overdue(app.database, app.clock.wall(), LIMITS.recovery_batch)
    await run_each(overdue, partial(_complete_or_owe, app))
    return len(overdue)


async def _complete_or_owe(app: App, started: Payment) -> None:
    is_completed = False
    try:
        await complete_overdue(app, started)
        is_completed = True
    finally:
        # Payments that cannot be settled would fill every batch and keep the others from being settled. As a job it is
        # tried again at growing intervals, and `tollgate verify` names it.
        if not is_completed:
            await owe_completion(app.database, started, app.clock.now(), app.clock.wall())


async def run_recovery_tasks(app: App) -> int:
    return await run_jobs(app, run_recovery_task, _put_off)


async def follow_tokens(app: App) -> int:
    return await run_jobs(app, follow_token, _put_off, topic=TOKEN_TOPIC)


async def _put_off(app: App, job: Job, failures: int) -> None:
    if job.topic == RecoveryTask.REVERSE:
        # An acquirer that does not confirm a reversal keeps the shopper's money, so that is a failure too.
        failures = job.failures + 1
    pause_s = await pause(app, job, _SHORTER_PAUSES_S.get(job.topic, _PAUSES_S), failures=failures)
    level = logging.INFO if job.topic in _PATIENT else logging.WARNING
    told = {"task": job.topic, "subject": job.subject_id, "again_in_s": pause_s}
    _log.log(level, "recovery task not done yet", extra=told)
