"""The worker that derives what a new rule counts of older payments runs until it is stopped, and then goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tollgate.flows.sighting_history import write_history
from tollgate.operations.app import App
from tollgate.operations.risk_rules import add_rule
from tollgate.store.schema import risk_sightings
from tollgate.store.statements import Statement
from tollgate.values import DAY, HOUR, FixedClock, MerchantId
from tollgate.workers import WORKERS, Loop
from tollgate.workers import sightings as workers
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, open_app
from unit.flows.chains import begin

pytestmark = pytest.mark.anyio

DAYS = 4
HISTORY = [worker for worker in WORKERS if worker.name == "sighting history"]
COUNT = Statement(sa.select(sa.func.count()).select_from(risk_sightings))


@pytest.fixture
async def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[App]:
    """A store with a payment a day, and a rule that was added after them."""
    monkeypatch.setattr(workers, "_HISTORY_PAUSE_S", 0.001)
    monkeypatch.setattr(workers, "_HISTORY_EVERY_S", 0.001)
    app = await open_app(tmp_path, ScriptedWire())
    assert isinstance(app.clock, FixedClock)
    for day in range(DAYS):
        app.clock.at = NOW + day * DAY
        await begin(app)
    sent = {"kind": "count", "attribute": "card", "window": "30d", "count": "9"}
    await add_rule(app.database, MERCHANT.id, sent, by="test", now=NOW, new_id="8a" + "7" * 30)
    await app.merchants.refresh(app.database)
    app.clock.at += HOUR
    yield app
    await app.database.close()


async def count_sightings(app: App) -> int:
    [[found]] = await app.database.fetch(COUNT, {})
    return int(found)


async def run_until(app: App, count: int) -> None:
    """Runs the worker until so many sightings are written."""
    loop = Loop(app, HISTORY)
    loop.start()
    try:
        async with asyncio.timeout(60):
            while await count_sightings(app) < count:
                # The worker waits until every process knows the rule.
                assert isinstance(app.clock, FixedClock)
                app.clock.at += HOUR // 60
                await asyncio.sleep(0.01)
    finally:
        await loop.stop()


async def test_the_worker_derives_the_sightings_of_all_older_payments(app: App) -> None:
    await run_until(app, DAYS)

    assert await count_sightings(app) == DAYS


async def test_a_worker_that_was_stopped_goes_on_where_it_was(app: App) -> None:
    await run_until(app, 1)
    await run_until(app, DAYS)

    assert await count_sightings(app) == DAYS


async def test_a_fault_delays_the_worker_and_does_not_end_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = iter([ValueError("the first time")])

    async def fail_once(app: App, merchant_id: MerchantId) -> bool:
        for fault in faults:
            raise fault
        return await write_history(app, merchant_id)

    monkeypatch.setattr(workers, "write_history", fail_once)
    await run_until(app, DAYS)

    assert await count_sightings(app) == DAYS
    assert next(faults, None) is None
