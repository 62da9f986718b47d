"""Every test of a flow gets an app of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.operations.app import App
from unit.app_fixture import ScriptedWire, open_app


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    app = await open_app(tmp_path, wire)
    yield app
    await app.database.close()
