"""Every test of a flow gets an app of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tollgate.operations.app import App
from tollgate.vault import passwords
from unit.app_fixture import ScriptedWire, open_app


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    app = await open_app(tmp_path, wire)
    yield app
    await app.database.close()


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of passwords that take a thousandth of their usual time."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)
    nobody = quick.hash("no user has this password")
    monkeypatch.setattr(passwords, "_hash_nobody", lambda: nobody)
