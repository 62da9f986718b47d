"""Lanes: each endpoint has its own, of bounded width, with a breaker; what breaks or is stopped is given back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from prometheus_client import REGISTRY

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import Activity, App
from tollgate.payments.webhooks import DeliveryState, Webhook
from tollgate.store import deliveries
from tollgate.store.database import Unavailable
from tollgate.store.hot import HotWrite, Row
from tollgate.values import HOUR, MINUTE, SECOND
from tollgate.wire import Outgoing, Received
from tollgate.workers.deliveries import Breaker, Lanes, Pressure
from tollgate.workers.metrics import measure_oldest
from unit.app_fixture import NOW, ScriptedWire, open_app
from unit.flows.chains import begin
from unit.flows.delivering import RecordingNotifier, add_active, equip, move_to

pytestmark = pytest.mark.anyio

PATIENCE_S = 60
OLDEST = "tollgate_webhook_oldest_undelivered_seconds"
HANGING, HEALTHY = "https://hanging.example", "https://healthy.example"


@pytest.fixture
async def equipped(tmp_path: Path) -> AsyncIterator[tuple[App, RecordingNotifier]]:
    app = await open_app(tmp_path, ScriptedWire())
    yield equip(app)
    await app.database.close()


@asynccontextmanager
async def working(app: App) -> AsyncIterator[asyncio.Task[int]]:
    worker = asyncio.create_task(Lanes(app).run())
    try:
        yield worker
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


async def wait_until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.01)


async def wait_for_states(app: App, webhook: Webhook, ids: list[str], *states: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while sorted((await deliveries.list_states(app.database, webhook, ids)).values()) != sorted(states):
            await asyncio.sleep(0.01)


async def pay(app: App, count: int) -> list[str]:
    """Makes payments and returns the ids of their events."""
    return [f"{NOW:016x}{(await begin(app)).id}" for _ in range(count)]


def count_attempts(result: str) -> float:
    """Counts the attempts that this process has ended, by the metric."""
    return REGISTRY.get_sample_value("tollgate_webhook_deliveries_total", {"result": result}) or 0.0


# ---- the breaker ----


def test_a_breaker_opens_after_five_failures_in_a_row_and_probes_every_thirty_seconds() -> None:
    breaker = Breaker()
    changes = [breaker.note(NOW, is_success=each) for each in (False, False, False, False, True)]
    assert (any(changes), breaker.choose_width(NOW, 32)) == (False, 32)

    changes = [breaker.note(NOW, is_success=False) for _ in range(6)]

    assert changes == [False, False, False, False, True, False]
    widths = [breaker.choose_width(NOW + after, 32) for after in (0, 30 * SECOND - 1, 30 * SECOND, HOUR)]
    assert widths == [0, 0, 1, 1]
    assert not breaker.note(NOW + HOUR, is_success=False)
    assert breaker.choose_width(NOW + HOUR, 32) == 0
    assert breaker.note(NOW + 2 * HOUR, is_success=True)
    assert breaker.choose_width(NOW + 2 * HOUR, 32) == 32


async def test_an_endpoint_that_keeps_failing_gets_single_probes(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    ids = await pay(app, 8)
    notifier.script = [Received(500)] * 9
    before = count_attempts("failed")
    async with working(app):
        await wait_until(lambda: count_attempts("failed") == before + 8)
        move_to(app, NOW + MINUTE)
        await wait_until(lambda: count_attempts("failed") == before + 9)
        # Two looks for more work pass, and none of the others is sent, because the probe failed.
        await asyncio.sleep(0.5)
        assert len(notifier.sent) == 9
        move_to(app, NOW + MINUTE + 30 * SECOND)
        await wait_for_states(app, webhook, ids, *["delivered"] * 7, "pending")
    assert [each.headers["webhook-id"] for each in notifier.sent].count(notifier.sent[8].headers["webhook-id"]) == 2


# ---- lanes ----


async def test_an_endpoint_that_hangs_delays_no_other_and_has_a_bounded_number_under_way(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    hanging = (await add_active(app, url=HANGING)).webhook
    healthy = (await add_active(app, url=HEALTHY)).webhook
    may_answer, under_way, most = asyncio.Event(), 0, 0

    async def hang(outgoing: Outgoing) -> None:
        nonlocal under_way, most
        if outgoing.url == HANGING:
            under_way += 1
            most = max(most, under_way)
            await may_answer.wait()
            under_way -= 1

    notifier.meanwhile = hang
    ids = await pay(app, LIMITS.lane_width + 8)
    async with working(app):
        await wait_for_states(app, healthy, ids, *["delivered"] * len(ids))
        await wait_until(lambda: under_way == LIMITS.lane_width)
        may_answer.set()
        await wait_for_states(app, hanging, ids, *["delivered"] * len(ids))
    assert most == LIMITS.lane_width


async def test_one_delivery_that_hangs_does_not_hold_up_the_next_one_to_the_same_endpoint(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    never = asyncio.Event()

    async def hang_once(_outgoing: Outgoing) -> None:
        if len(notifier.sent) == 1:
            await never.wait()

    notifier.meanwhile = hang_once
    ids = await pay(app, 1)
    async with working(app):
        await wait_until(lambda: len(notifier.sent) == 1)
        ids += await pay(app, 1)
        await wait_for_states(app, webhook, ids, "delivered", "pending")
        never.set()
        await wait_for_states(app, webhook, ids, "delivered", "delivered")


# ---- ends ----


async def test_a_stopped_worker_lets_what_is_under_way_end(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    may_answer = asyncio.Event()

    async def hang(_outgoing: Outgoing) -> None:
        await may_answer.wait()

    notifier.meanwhile = hang
    ids = await pay(app, 2)
    async with working(app) as worker:
        await wait_until(lambda: len(notifier.sent) == 2)
        worker.cancel()
        await asyncio.sleep(0.05)
        assert not worker.done()
        may_answer.set()
        await asyncio.gather(worker, return_exceptions=True)
    assert sorted((await deliveries.list_states(app.database, webhook, ids)).values()) == ["delivered"] * 2


async def test_a_stopped_worker_gives_back_what_does_not_end_in_time(
    equipped: tuple[App, RecordingNotifier], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tollgate.workers.deliveries._GRACE_S", 0.05)
    app, notifier = equipped
    webhook = (await add_active(app)).webhook

    async def hang(_outgoing: Outgoing) -> None:
        await asyncio.Event().wait()

    notifier.meanwhile = hang
    ids = await pay(app, 1)
    async with working(app):
        await wait_until(lambda: len(notifier.sent) == 1)
    notifier.meanwhile = None

    assert await deliveries.list_busy(app.database, NOW, NOW) == [(webhook.merchant_id, webhook.id)]
    async with working(app):
        await wait_for_states(app, webhook, ids, "delivered")


class Outage:
    """Stands before a database, and refuses the writes of one label while it lasts."""

    def __init__(self, app: App, label: str) -> None:
        self._database, self._label = app.database, label
        self.lasts = True

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    async def write(self, writes: list[object], *, label: str) -> bool:
        self._refuse(label)
        return await self._database.write(writes, label=label)  # type: ignore[arg-type]

    async def submit(self, hot: HotWrite[bool], row: Row, *, label: str) -> bool:
        self._refuse(label)
        return await self._database.submit(hot, row, label=label)

    def _refuse(self, label: str) -> None:
        if label == self._label and self.lasts:
            raise Unavailable("the database takes no writes")


async def test_a_delivery_whose_end_could_not_be_written_is_made_again(
    equipped: tuple[App, RecordingNotifier], caplog: pytest.LogCaptureFixture
) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    ids = await pay(app, 1)
    outage = Outage(app, "delivery ended")
    async with working(msgspec.structs.replace(app, database=outage)):
        await wait_until(lambda: "worker item failed" in caplog.text)
        outage.lasts = False
        [key] = [(webhook.merchant_id, webhook.id, event_id[16:], event_id) for event_id in ids]
        async with asyncio.timeout(PATIENCE_S):
            while (found := await deliveries.find_delivery(app.database, *key)) is None or found.lease_owner:
                await asyncio.sleep(0.01)
        assert (found.state, found.due_at, found.tries) == (DeliveryState.PENDING, NOW + MINUTE, 1)
        move_to(app, NOW + MINUTE)
        await wait_for_states(app, webhook, ids, "delivered")
    assert len(notifier.sent) == 2


async def test_a_fault_while_passing_on_does_not_end_the_lanes(
    equipped: tuple[App, RecordingNotifier], caplog: pytest.LogCaptureFixture
) -> None:
    app, _ = equipped
    webhook = (await add_active(app)).webhook
    ids = await pay(app, 1)
    outage = Outage(app, "events passed on")
    async with working(msgspec.structs.replace(app, database=outage)) as worker:
        await wait_until(lambda: "worker item failed" in caplog.text)
        assert not worker.done()
        outage.lasts = False
        await wait_for_states(app, webhook, ids, "delivered")


# ---- metrics ----


async def test_attempts_are_counted_and_the_oldest_event_is_measured(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    webhook = (await add_active(app)).webhook
    before = count_attempts("delivered"), count_attempts("failed")
    ids = await pay(app, 2)
    await measure_oldest(app)
    move_to(app, NOW + HOUR)
    await measure_oldest(app)
    assert REGISTRY.get_sample_value(OLDEST) == 3600
    notifier.script = [Received(500)]
    async with working(app):
        await wait_until(
            lambda: (count_attempts("delivered"), count_attempts("failed")) == (before[0] + 1, before[1] + 1)
        )
        move_to(app, NOW + 2 * HOUR)
        await wait_for_states(app, webhook, ids, "delivered", "delivered")
    await measure_oldest(app)

    assert REGISTRY.get_sample_value(OLDEST) == 0
    assert (count_attempts("delivered"), count_attempts("failed")) == (before[0] + 2, before[1] + 1)


# ---- pressure ----


def measure_pressure(*, completions: int, turn_s: float) -> bool:
    """Measures after a second in which so many payments were completed, on a loop whose turns take so long."""
    activity = Activity()
    times = iter([0.0, 1.0, 1.0 + 4 * turn_s])
    pressure = Pressure(activity, now=lambda: next(times))
    activity.completions = completions
    asyncio.run(pressure.measure())
    return pressure.is_high


@pytest.mark.parametrize(
    ("completions", "turn_s", "is_high"),
    [(1_000, 0.005, True), (1_000, 0.0001, False), (50, 0.005, False), (0, 0.1, False)],
)
def test_deliveries_step_back_only_while_many_payments_make_the_loop_slow(
    completions: int, turn_s: float, is_high: bool
) -> None:
    assert measure_pressure(completions=completions, turn_s=turn_s) is is_high
