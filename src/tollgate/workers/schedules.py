"""Schedules by the clock: what has fallen due is ordered, and what is ordered is paid. How is told in the flows."""

from __future__ import annotations

import logging
from functools import partial

from tollgate.catalog import LIMITS
from tollgate.flows import fall_due, make_run
from tollgate.payments import RUN_TOPIC
from tollgate.steps import House
from tollgate.store import Job, list_due_schedules, retire_schedules
from tollgate.workers.jobs import pause, run_jobs
from tollgate.workers.loop import run_each

_log = logging.getLogger("tollgate.worker")

_PAUSES_S = (5, 15, 60, 300, 900, 3600)


async def order_runs(house: House) -> int:
    due = await list_due_schedules(house.database, house.clock.now(), LIMITS.job_batch)
    await run_each(due, partial(fall_due, house))
    await retire_schedules(house.database, LIMITS.job_batch)
    return len(due)


async def pay_runs(house: House) -> int:
    return await run_jobs(house, make_run, put_off_run, topic=RUN_TOPIC)


async def put_off_run(house: House, job: Job, failures: int) -> None:
    pause_s = await pause(house, job, _PAUSES_S, failures=failures)
    told = {"schedule": job.subject_id, "run": job.id, "again_in_s": pause_s}
    _log.warning("payment of a schedule not made yet", extra=told)
