"""Finishes what was left open: attempts past their deadline, reversals, inquiries and network tokens that are owed.

How each is finished is told in the flows.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from tollgate.catalog import LIMITS
from tollgate.flows import follow_token, run_errand, settle_overdue
from tollgate.payments import TOKEN_TOPIC, Errand
from tollgate.steps import House
from tollgate.store import Job, lease_due, list_overdue, postpone_job
from tollgate.values import SECOND, make_id
from tollgate.workers.loop import run_each

_log = logging.getLogger("tollgate.worker")

RunJob = Callable[[House, Job], Awaitable[bool]]
"""True: it is done, and the job is gone."""

_BACKOFF_S = (1, 2, 5, 15, 30, 60, 120, 300, 900, 3600)
_LONGEST_WAITS_S: dict[str, int] = {Errand.INQUIRE: 300}
"""Somebody may be waiting for what an inquiry finds out, such as a shopper who paid and never came back."""
_PATIENT = frozenset({Errand.INQUIRE, TOKEN_TOPIC})
"""Where not being done is the ordinary case: somebody has not decided yet, or nobody waits for it."""
_JOBS_AT_ONCE = 16
"""Only as many are leased as are run at once, so that no lease runs out while its job waits for its turn."""


async def reconcile(house: House) -> int:
    overdue = await list_overdue(house.database, house.clock.wall(), LIMITS.reconcile_batch)
    await run_each(overdue, partial(settle_overdue, house))
    return len(overdue)


async def run_errands(house: House) -> int:
    return await run_jobs(house, run_errand)


async def follow_tokens(house: House) -> int:
    return await run_jobs(house, follow_token, topic=TOKEN_TOPIC)


async def run_jobs(house: House, run_one: RunJob, *, topic: str | None = None) -> int:
    """Those of one topic that are due, all at once; how many there were."""
    jobs = await lease_due(
        house.database,
        now=house.clock.now(),
        wall_now=house.clock.wall(),
        owner=make_id(house.chance),
        lease_s=house.patience_s,
        limit=_JOBS_AT_ONCE,
        topic=topic,
    )
    await run_each(jobs, partial(_run_one, house, run_one))
    return len(jobs)


async def _run_one(house: House, run_one: RunJob, job: Job) -> None:
    is_done = False
    try:
        is_done = await run_one(house, job)
    finally:
        # One that breaks waits like one that got no answer, or else it would come again with every lease, for ever.
        if not is_done:
            await _postpone(house, job)


async def _postpone(house: House, job: Job) -> None:
    wait_s = _BACKOFF_S[min(job.tries, len(_BACKOFF_S)) - 1]
    wait_s = min(wait_s, _LONGEST_WAITS_S.get(job.topic, wait_s))
    level = logging.INFO if job.topic in _PATIENT else logging.WARNING
    told = {"errand": job.topic, "subject": job.subject_id, "again_in_s": wait_s}
    _log.log(level, "errand not done yet", extra=told)
    await postpone_job(house.database, job, house.clock.now() + wait_s * SECOND)
