"""The life of a schedule under moody acquirers and sudden deaths: every time once, and never two charges for one.

The store is compared with the acquirer's own ledger after every step.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acquirer_ledger import Fate
from property.interruptions import MortalDatabase, bury
from property.moody_wire import MOOD, Killed, Mood, MoodyWire
from tollgate.operations.app import App
from tollgate.payments.cron import CronPlan, parse_plan
from tollgate.payments.schedule import Run, RunState, Schedule, make_run_payment_id
from tollgate.store.schedules import list_runs
from tollgate.values import DAY, HOUR, MINUTE, Instant
from tollgate.workers.jobs import order_runs, pay_runs, recover_payments, run_recovery_tasks
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, open_app
from unit.flows.scheduling import get_clock, plan_payments, register_card

TRIES_MAX = 5
ENDED = frozenset({RunState.MADE, RunState.FAILED, RunState.MISSED})
PLANS = (
    ({"dayOfMonth": "L", "hour": "10"}, CronPlan(day_of_month="L", hour="10")),
    ({"dayOfMonth": "*/10"}, CronPlan(day_of_month="*/10")),
    ({"dayOfWeek": "MON,THU"}, CronPlan(day_of_week="MON,THU")),
)
Worker = Callable[[App], Awaitable[int]]
WORKERS: tuple[Worker, ...] = (order_runs, pay_runs, run_recovery_tasks, recover_payments)


@dataclass(frozen=True)
class Write:
    pause: Instant
    mood: Mood
    writes_left: int | None
    """The process dies after so many writes; None lets it live."""
    turns: Sequence[Worker]
    """The workers in the order of their turns: no worker may rely on another's having been there."""


steps = st.builds(
    Write,
    pause=st.sampled_from((MINUTE, HOUR, DAY, 2 * DAY, 5 * DAY, 40 * DAY)),
    mood=st.sampled_from([mood for mood in Mood if mood is not Mood.OVERTAKEN]),
    writes_left=st.one_of(st.none(), st.none(), st.integers(0, 12)),
    turns=st.one_of(st.just(WORKERS), st.lists(st.sampled_from(WORKERS), min_size=1, max_size=4)),
)


class Life:
    def __init__(self, app: App, wire: MoodyWire, schedule: Schedule, plan: CronPlan) -> None:
        self.mortal = MortalDatabase(app.database)
        self.app = msgspec.structs.replace(app, database=self.mortal)
        self.wire, self.schedule, self.cron = wire, schedule, parse_plan(plan)

    async def live(self, step: Write) -> None:
        get_clock(self.app).at += step.pause
        MOOD.set(step.mood)
        self.mortal.writes_left = step.writes_left
        before = asyncio.all_tasks()
        try:
            for work in step.turns:
                await work(self.app)
        except Killed:
            await bury(before)
        self.mortal.writes_left = None
        self.wire.deliver_belated()
        await self.check()

    async def finish(self) -> None:
        """Everybody is in a good mood until nothing is open any more."""
        for _ in range(200):
            await self.live(Write(6 * HOUR, Mood.WILLING, None, WORKERS))
            runs = await self.list_runs()
            if {run.state for run in runs} <= ENDED and runs:
                break
        standing = self.count_charges()
        for run in await self.list_runs():
            assert run.state in ENDED
            expected = 1 if run.state is RunState.MADE else 0
            assert sum(standing[name] for name in self.name_tries(run)) == expected
            assert expected == 0 or standing[run.payment_id or ""] == 1

    async def check(self) -> None:
        runs = await self.list_runs()
        assert [run.due_at for run in runs] == self.list_times(runs[-1].due_at if runs else 0)
        standing = self.count_charges()
        for run in runs:
            assert run.tries <= TRIES_MAX
            assert sum(standing[name] for name in self.name_tries(run)) <= 1, run

    def name_tries(self, run: Run) -> list[str]:
        return [make_run_payment_id(self.schedule.id, run.due_at, attempt) for attempt in range(1, TRIES_MAX + 2)]

    def count_charges(self) -> Counter[str]:
        """Returns the charges that stand at the acquirer, by their names."""
        entries = self.wire.read_ledger()
        assert all(entry.executions <= 1 for entry in entries.values())
        return Counter(key for key, entry in entries.items() if entry.fate is Fate.APPROVED and not entry.original)

    def list_times(self, until: Instant) -> list[Instant]:
        times = [NOW]
        while (found := self.cron.next_after(times[-1])) is not None and found <= until:
            times.append(found)
        return times[1:]

    async def list_runs(self) -> list[Run]:
        return (await list_runs(self.app.database, MERCHANT.id, self.schedule.id, 10_000))[::-1]


async def live_through(folder: Path, number: int, story: Sequence[Write]) -> None:
    fields, plan = PLANS[number]
    wire = MoodyWire()
    app = await open_app(folder, ScriptedWire())
    app = msgspec.structs.replace(app, simulator=wire)
    try:
        await register_card(app)
        life = Life(app, wire, await plan_payments(app, fields), plan)
        for step in story:
            await life.live(step)
        await life.finish()
    finally:
        await app.database.close()


@pytest.mark.timeout(3600)
@settings(max_examples=min(settings().max_examples // 2, 500))
@given(number=st.integers(0, len(PLANS) - 1), story=st.lists(steps, min_size=1, max_size=25))
def test_every_due_time_is_announced_once_and_no_two_charges_for_it_ever_stand(number: int, story: list[Write]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live_through(Path(folder), number, story))
