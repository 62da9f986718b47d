"""Both databases under one name: every test that asks for `db` runs twice. Clusters are thrown away at the end."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from postgres import PostgresCluster
from tollgate.store.database import Database
from tollgate.store.opening import open_database

TEMPLATE = "tollgate_template"


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def postgres_template(cluster: PostgresCluster) -> str:
    """A database with all tables, because copying one is faster than migrating."""

    async def migrate() -> None:
        await (await open_database(cluster.dsn(TEMPLATE))).close()

    cluster.run_sql(f"CREATE DATABASE {TEMPLATE}")
    asyncio.run(migrate())
    return TEMPLATE


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables, for the same reason."""
    path = tmp_path_factory.mktemp("template") / "store.db"

    async def migrate() -> None:
        await (await open_database(str(path))).close()

    asyncio.run(migrate())
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def make_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Each call names a new empty database."""
    if request.param == "sqlite":
        files = iter(range(100))
        yield lambda: f"sqlite:///{tmp_path}/{next(files)}.db"
        return
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    made: list[str] = []

    def make() -> str:
        made.append(cluster.create_database())
        return made[-1]

    yield make
    for dsn in made:
        cluster.drop_database(dsn)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "store.db")
        yield f"sqlite:///{tmp_path}/store.db"
        return
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    dsn = cluster.create_database(request.getfixturevalue("postgres_template"))
    yield dsn
    cluster.drop_database(dsn)


@pytest.fixture
async def db(url: str) -> AsyncIterator[Database]:
    database = await open_database(url)
    yield database
    await database.close()
