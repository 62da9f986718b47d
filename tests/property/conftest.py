"""Both databases for lives of payments, each opened once: its tables are emptied between two lives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import PostgresCluster


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    with PostgresCluster() as cluster:
        yield cluster.create_database()
