"""Schedules by the clock: what has fallen due is ordered, and what is ordered is paid. How is told in the flows."""

from __future__ import annotations

import logging
from functools import partial

from tollgate.catalog import LIMITS
from tollgate.flows import fall_due, make_run
from tollgate.payments import RUN_TOPIC
from tollgate.steps import House
from tollgate.store import Job, lease_due, list_due_schedules, postpone_job, retire_schedules
from tollgate.values import SECOND, make_id
from tollgate.workers.loop import run_each

_log = logging.getLogger("tollgate.worker")

_BACKOFF_S = (5, 15, 60, 300, 900, 3600)
_RUNS_AT_ONCE = 16
"""Only as many are leased as are run at once, so that no lease runs out while its job waits for its turn."""


async def order_runs(house: House) -> int:
    due = await list_due_schedules(house.database, house.clock.now(), LIMITS.job_batch)
    await run_each(due, partial(fall_due, house))
    await retire_schedules(house.database, LIMITS.job_batch)
    return len(due)


async def pay_runs(house: House) -> int:
    jobs = await lease_due(
        house.database,
        now=house.clock.now(),
        wall_now=house.clock.wall(),
        owner=make_id(house.chance),
        lease_s=house.patience_s,
        limit=_RUNS_AT_ONCE,
        topic=RUN_TOPIC,
    )
    await run_each(jobs, partial(_pay_one, house))
    return len(jobs)


async def _pay_one(house: House, job: Job) -> None:
    is_done = False
    try:
        is_done = await make_run(house, job)
    finally:
        # One that breaks waits like one that is not decided yet, or else it would come again with every lease.
        if not is_done:
            wait_s = _BACKOFF_S[min(job.tries, len(_BACKOFF_S)) - 1]
            told = {"schedule": job.subject_id, "run": job.id, "again_in_s": wait_s}
            _log.warning("payment of a schedule not made yet", extra=told)
            await postpone_job(house.database, job, house.clock.now() + wait_s * SECOND)
