"""Upkeep: what is only remembered for a while goes when its while is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.store.simulated_sessions import SimulatedSession, find_simulated_session, insert_simulated_session
from tollgate.values import FixedClock
from tollgate.workers import WORKERS
from unit.app_fixture import NOW, ScriptedWire, open_app

RUNS = {worker.name: worker.run for worker in WORKERS}


pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


async def test_simulated_sessions_are_forgotten_after_thirty_days(app: App) -> None:
    session = SimulatedSession(id="8a01", status="open", created_at=NOW, body="{}")
    await insert_simulated_session(app.database, session)
    assert isinstance(app.clock, FixedClock)

    app.clock.at = NOW + LIMITS.simulated_session_memory
    assert await RUNS["simulated sessions"](app) == 0
    app.clock.at += 1
    assert await RUNS["simulated sessions"](app) == 1

    assert await find_simulated_session(app.database, "8a01") is None
