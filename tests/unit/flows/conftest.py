"""A house of its own for every story."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.steps import House
from unit.premises import ScriptedWire, open_house


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def house(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[House]:
    house = await open_house(tmp_path, wire)
    yield house
    await house.database.close()
