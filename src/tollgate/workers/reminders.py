"""Reminders by the clock: each in the minute that it has, whatever becomes of the others. How is told in the flow."""

from __future__ import annotations

from functools import partial

from tollgate.catalog import LIMITS
from tollgate.flows import remind
from tollgate.payments import REMIND_TOPIC
from tollgate.steps import House
from tollgate.store import Job, lease_due, postpone_job
from tollgate.values import SECOND, make_id
from tollgate.workers.loop import run_as_they_come

_PAUSES_S = (1, 2, 3, 5, 10)
"""Between tries to reach a shop; there is a minute for all of them."""
_AT_ONCE = 100
"""So many may hang and the next is called all the same; only as many are leased as are under way."""
_MARGIN_S = 5.0
"""Beyond the call itself. Short, because what a killed process held has to be called by another within the minute."""


async def send_reminders(house: House) -> int:
    return await run_as_they_come(partial(_lease, house), partial(_remind_one, house), at_once=_AT_ONCE)


async def _lease(house: House, limit: int) -> list[Job]:
    return await lease_due(
        house.database,
        now=house.clock.now(),
        wall_now=house.clock.wall(),
        owner=make_id(house.chance),
        lease_s=LIMITS.notification_timeout_s + _MARGIN_S,
        limit=limit,
        topic=REMIND_TOPIC,
    )


async def _remind_one(house: House, job: Job) -> None:
    is_done = False
    try:
        is_done = await remind(house, job)
    finally:
        # One that breaks waits like one whose shop was not reached, or else it would come again with every lease.
        if not is_done:
            pause_s = _PAUSES_S[min(job.tries, len(_PAUSES_S)) - 1]
            await postpone_job(house.database, job, house.clock.now() + pause_s * SECOND)
