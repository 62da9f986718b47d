"""Reminders by the clock: each in the minute that it has, whatever becomes of the others. How is told in the flow."""

from __future__ import annotations

from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.checkouts import remind
from tollgate.operations.app import App
from tollgate.payments.checkout import REMIND_TOPIC
from tollgate.store.jobs import Job
from tollgate.workers.jobs import lease, pause, run_or_put_off
from tollgate.workers.loop import run_as_they_come

_PAUSES_S = (1, 2, 3, 5, 10)
"""Between tries to reach a shop; there is a minute for all of them."""
_AT_ONCE = 100
"""So many may hang and the next is called all the same; only as many are leased as are under way."""
LEASE_S = LIMITS.notification_timeout_s + 5.0
"""The call itself and a short margin: what a killed process held has to be called by another within the minute."""


async def send_reminders(app: App) -> int:
    find = partial(lease, app, REMIND_TOPIC, LEASE_S)
    return await run_as_they_come(find, partial(run_or_put_off, app, remind, _put_off), at_once=_AT_ONCE)


async def _put_off(app: App, job: Job, failures: int) -> None:
    await pause(app, job, _PAUSES_S, failures=failures)
