"""Both databases, each with an acquirer beside it; the databases flush, because here they are killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.world import World, open_world
from postgres import PostgresCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster() as cluster:
        yield cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    cluster = request.getfixturevalue("cluster") if request.param == "postgresql" else None
    with open_world(tmp_path, cluster) as world:
        yield world


@pytest.fixture
def sqlite_world(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path, None) as world:
        yield world


@pytest.fixture
def postgres_world(cluster: PostgresCluster, tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path, cluster) as world:
        yield world
