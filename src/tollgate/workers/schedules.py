"""Schedules by the clock: what has fallen due is ordered, and what is ordered is paid. How is told in the flows."""

from __future__ import annotations

import logging
from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.run_schedules import fall_due, make_run
from tollgate.operations.app import App
from tollgate.payments.schedule import RUN_TOPIC
from tollgate.store.jobs import Job
from tollgate.store.schedules import list_due_schedules, retire_schedules
from tollgate.workers.jobs import pause, run_jobs
from tollgate.workers.loop import run_each

_log = logging.getLogger("tollgate.worker")

_PAUSES_S = (5, 15, 60, 300, 900, 3600)


async def order_runs(app: App) -> int:
    due = await list_due_schedules(app.database, app.clock.now(), LIMITS.job_batch)
    await run_each(due, partial(fall_due, app))
    await retire_schedules(app.database, LIMITS.job_batch)
    return len(due)


async def pay_runs(app: App) -> int:
    return await run_jobs(app, make_run, put_off_run, topic=RUN_TOPIC)


async def put_off_run(app: App, job: Job, failures: int) -> None:
    pause_s = await pause(app, job, _PAUSES_S, failures=failures)
    told = {"schedule": job.subject_id, "run": job.id, "again_in_s": pause_s}
    _log.warning("payment of a schedule not made yet", extra=told)
