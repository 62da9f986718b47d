"""Upkeep: what is only remembered for a while goes when its while is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.catalog import LIMITS
from tollgate.steps import House
from tollgate.store import SimulatedSession, find_simulated_session, insert_simulated_session
from tollgate.values import FixedClock
from tollgate.workers.upkeep import purge_old_sessions
from unit.premises import NOW, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = await open_house(tmp_path, ScriptedWire())
    yield house
    await house.database.close()


async def test_simulated_sessions_are_forgotten_after_thirty_days(house: House) -> None:
    session = SimulatedSession(id="8a01", status="open", created_at=NOW, body="{}")
    await insert_simulated_session(house.database, session)
    assert isinstance(house.clock, FixedClock)

    house.clock.at = NOW + LIMITS.simulated_session_memory
    assert await purge_old_sessions(house) == 0
    house.clock.at += 1
    assert await purge_old_sessions(house) == 1

    assert await find_simulated_session(house.database, "8a01") is None
