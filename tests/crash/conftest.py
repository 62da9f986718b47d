"""Both databases, each with an acquirer beside it.

Their files outlive a process that is killed, in memory too; tests about durability have them on the disk, and flushed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.crash_runs import DATABASES, Batch, CrashRun, CrashRuns, GetCrashRuns, open_crash_runs
from crash.world import World, open_world
from postgres import PostgresCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def disk_cluster(disk: Path) -> Iterator[PostgresCluster]:
    with PostgresCluster(fsync=True, parent=disk) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def worlds(cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, World]]:
    """One on each database for all tests of a file."""
    sqlite_folder, postgres_folder = tmp_path_factory.mktemp("sqlite"), tmp_path_factory.mktemp("postgresql")
    with open_world(sqlite_folder, None) as on_sqlite, open_world(postgres_folder, cluster) as on_postgres:
        yield {"sqlite": on_sqlite, "postgresql": on_postgres}


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def world(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Opens a world on each database, for one test alone."""
    cluster = request.getfixturevalue("cluster") if database == "postgresql" else None
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


@pytest.fixture
def disk_world(database: str, request: pytest.FixtureRequest, disk_path: Path) -> Iterator[World]:
    """Opens a world on each database, for one test alone, with every commit flushed to the disk."""
    cluster = request.getfixturevalue("disk_cluster") if database == "postgresql" else None
    with open_world(disk_path, cluster) as world:
        yield world


@pytest.fixture
def postgres_disk_world(disk_cluster: PostgresCluster, disk_path: Path) -> Iterator[World]:
    with open_world(disk_path, disk_cluster) as world:
        yield world


@pytest.fixture(scope="module")
def get_crash_runs(
    request: pytest.FixtureRequest, cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GetCrashRuns[Any, Any]]:
    """Makes the batches of a file with the file's own `run_share`."""
    with open_crash_runs(request.module.run_share, cluster, tmp_path_factory) as get_crash_runs:
        yield get_crash_runs


@pytest.fixture
def crash_runs(batch: Batch[Any], get_crash_runs: GetCrashRuns[Any, Any]) -> CrashRuns[Any, Any]:
    return get_crash_runs(batch)


@pytest.fixture
def crash_run(database: str, crash_runs: CrashRuns[Any, Any]) -> CrashRun[Any, Any]:
    return crash_runs[database]
