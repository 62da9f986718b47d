"""Jobs by the clock: leased, run, and put off where they are not done. What a job does is told in the flows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from tollgate.operations.app import App
from tollgate.store.jobs import Job, lease_due, postpone_job
from tollgate.values import SECOND, make_id
from tollgate.workers.loop import run_each

RunJob = Callable[[App, Job], Awaitable[bool]]
"""True: it is done, and the job is gone."""
PutOff = Callable[[App, Job, int], Awaitable[object]]
"""Postpones a job that is not done; the number is how often in a row it has failed by now."""

_AT_ONCE = 16
"""Only as many are leased as are run at once, so that no lease runs out while its job waits for its turn."""


async def run_jobs(app: App, run: RunJob, put_off: PutOff, *, topic: str | None = None) -> int:
    """Those of one topic that are due, all at once; how many there were. Without a topic they are recovery tasks."""
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
        # One that breaks waits like one that got no answer, or else it would come again with every lease, for ever.
        if not is_done:
            await put_off(app, job, failures)


async def pause(app: App, job: Job, pauses_s: Sequence[int], *, failures: int) -> int:
    """Postpones a job by the pause that is due after so many tries, and returns the pause."""
    pause_s = pauses_s[min(job.tries, len(pauses_s)) - 1]
    await postpone_job(app.database, job, app.clock.now() + pause_s * SECOND, failures)
    return pause_s
