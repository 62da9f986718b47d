"""A store for acquirers that are part of the gateway, such as the SEPA queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from empty_store import open_empty_store
from tollgate.store.database import Database


@pytest.fixture(scope="session")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    database = await open_empty_store(Path(tmp_path_factory.mktemp("peers"), "store.db"))
    yield database
    await database.close()
