"""`tollgate check` warns of settings of PostgreSQL by which acknowledged payments may be lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from postgres import PostgresCluster, PostgresStandby
from tollgate.cli.program import program
from tollgate.store import replication
from tollgate.store.opening import open_database

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresCluster]:
    with PostgresCluster(fsync=True) as primary:
        yield primary


@pytest.fixture(scope="module")
def standby(primary: PostgresCluster) -> Iterator[PostgresStandby]:
    with PostgresStandby(primary, fsync=True) as standby:
        yield standby


@pytest.fixture
def _waits_for_standby(primary: PostgresCluster, standby: PostgresStandby) -> Iterator[None]:
    set_names(primary, standby.NAME)
    yield
    set_names(primary, "")


def set_names(primary: PostgresCluster, names: str) -> None:
    primary.run_sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    primary.run_sql("SELECT pg_reload_conf()")
    # A server takes a new value within the next round of its loop.
    while primary.run_sql("SHOW synchronous_standby_names") != names or (
        names == "standby" and not is_watched(primary)
    ):
        pass


def is_watched(primary: PostgresCluster) -> bool:
    return primary.run_sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"


async def list_risks(url: str) -> list[str]:
    db = await open_database(url)
    try:
        return await db.list_risks()
    finally:
        await db.close()


@pytest.mark.usefixtures("_waits_for_standby")
async def test_a_primary_with_a_synchronous_standby_loses_nothing(primary: PostgresCluster) -> None:
    assert await list_risks(primary.dsn()) == []


@pytest.mark.usefixtures("standby")
async def test_a_primary_that_waits_for_no_standby_is_reported(primary: PostgresCluster) -> None:
    assert await list_risks(primary.dsn()) == [replication.NO_STANDBY]


async def test_a_synchronous_standby_that_is_not_connected_is_reported(primary: PostgresCluster) -> None:
    await list_risks(primary.dsn())
    set_names(primary, "nobody")
    try:
        db = await open_database(primary.dsn(), must_exist=True)
        assert await db.list_risks() == [replication.NOT_CONNECTED]
        await db.close()
    finally:
        set_names(primary, "")


@pytest.mark.usefixtures("_waits_for_standby")
async def test_a_role_that_may_not_see_the_standbys_is_told_what_it_needs(primary: PostgresCluster) -> None:
    primary.run_sql("CREATE ROLE clerk LOGIN")
    primary.run_sql("CREATE DATABASE shop OWNER clerk")
    url = primary.dsn("shop").replace("postgres@", "clerk@")
    assert await list_risks(url) == [replication.NOT_VISIBLE]

    primary.run_sql("GRANT pg_monitor TO clerk")
    assert await list_risks(url) == []


@pytest.mark.parametrize("value", ["off", "local"])
@pytest.mark.usefixtures("_waits_for_standby")
async def test_a_commit_that_waits_for_too_little_is_reported(primary: PostgresCluster, value: str) -> None:
    url = primary.create_database()
    primary.run_sql(f"ALTER DATABASE {url.rpartition('/')[2]} SET synchronous_commit = {value}")

    [risk] = await list_risks(url)
    assert f"synchronous_commit={value}" in risk


async def test_a_server_that_does_not_wait_for_its_disk_is_reported(cluster: PostgresCluster) -> None:
    risks = await list_risks(cluster.create_database())

    assert [risk.partition(":")[0] for risk in risks[:2]] == [
        "PostgreSQL has fsync=off",
        "PostgreSQL has full_page_writes=off",
    ]
    assert risks[2:] == [replication.NO_STANDBY]


def test_check_warns_and_the_host_is_ready_all_the_same(cluster: PostgresCluster, postgres_template: str) -> None:
    url = cluster.create_database(postgres_template)

    done = CliRunner().invoke(program, ["check", "--database", url], catch_exceptions=False)

    assert f"warning: {replication.NO_STANDBY}" in done.output
    assert "ready: test host" in done.output
    assert done.exit_code == 0
