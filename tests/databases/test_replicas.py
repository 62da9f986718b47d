"""A real primary with a streaming standby: how far it is behind, and what is read from it when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import cast

import pytest

from postgres import PostgresCluster, PostgresStandby
from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Envelope
from tollgate.operations import reading
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.store import replicas
from tollgate.store.opening import add_to_setting, get_setting, open_database, put_setting
from tollgate.store.postgres import PostgresDatabase
from tollgate.store.replicas import ReadingDatabase, Replica, Source
from tollgate.values import DAY, NotFound, SystemClock
from tollgate.vault.keyring import make_keyring
from unit.app_fixture import ScriptedWire

pytestmark = pytest.mark.anyio

LAG_MAX_S = 10.0
WAIT_S = 120.0


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresCluster]:
    with PostgresCluster() as primary:
        yield primary


@pytest.fixture(scope="module")
def standby(primary: PostgresCluster) -> Iterator[PostgresStandby]:
    with PostgresStandby(primary) as standby:
        yield standby


class Hand:
    """A clock that a test moves."""

    at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
async def database(primary: PostgresCluster) -> AsyncIterator[PostgresDatabase]:
    url = primary.create_database()
    database = cast(PostgresDatabase, await open_database(url))
    yield database
    await database.close()


@pytest.fixture
async def replica(
    database: PostgresDatabase, standby: PostgresStandby, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Replica]:
    # A machine that does other work is slow.
    monkeypatch.setattr(replicas, "MEASURE_S", WAIT_S)
    replica = Replica(standby.dsn(await get_name(database)), database, LAG_MAX_S, hand)
    yield replica
    monkeypatch.setattr(replicas, "MEASURE_S", 2.0)
    await replica.close()


async def get_name(database: PostgresDatabase) -> str:
    return str(await database.pool.fetchval("SELECT current_database()"))


async def follow(replica: Replica, trouble: str = "") -> None:
    """Measures until the replica has this trouble."""
    async with asyncio.timeout(WAIT_S):
        while trouble not in replica.trouble or bool(replica.trouble) != bool(trouble):
            await replica.measure()
            await asyncio.sleep(0.01)


@pytest.fixture
def app(database: PostgresDatabase, replica: Replica) -> App:
    """An app that reads from the standby; it needs nothing else."""
    wire = ScriptedWire([])
    return App(
        database=database,
        merchants=MerchantCache(),
        keyring=make_keyring(),
        clock=SystemClock(),
        envelope=Envelope("build"),
        is_live=False,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=DAY,
        find_wire=lambda _address, _account=None: wire,
        replica=replica,
    )


async def read_name(app: App, source: Source | None) -> tuple[str, Source | None]:
    return await get_setting(app.database, "name"), source


async def test_reads_go_to_the_standby_and_writes_to_the_primary(app: App, replica: Replica, hand: Hand) -> None:
    await put_setting(app.database, "name", "first")
    await follow(replica)
    hand.at += 1.5

    assert await reading.read(app, read_name) == ("first", Source(1.5))

    database = replica.get_database()
    assert isinstance(database, ReadingDatabase)
    await put_setting(database, "name", "second")
    assert await get_setting(app.database, "name") == "second"
    assert await add_to_setting(database, "number", 5) == 5


async def test_a_standby_that_is_too_far_behind_is_not_read_until_it_has_caught_up(
    app: App, replica: Replica, standby: PostgresStandby, hand: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    await put_setting(app.database, "name", "old")
    await follow(replica)
    standby.pause()
    try:
        await put_setting(app.database, "name", "new")
        hand.at += LAG_MAX_S
        await replica.measure()
        # It is as old as the limit allows, and its rows are.
        assert await reading.read(app, read_name) == ("old", Source(LAG_MAX_S))

        hand.at += 1.0
        await replica.measure()
        assert replica.lag_s == LAG_MAX_S + 1
        assert await reading.read(app, read_name) == ("new", Source(None, "it is 11 s behind"))
    finally:
        standby.resume()

    await follow(replica)
    assert (await reading.read(app, read_name))[0] == "new"
    told = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [record.getMessage() for record in told] == ["reading from the primary instead of the replica"]


async def test_a_standby_that_nobody_measures_any_more_is_not_read(app: App, replica: Replica, hand: Hand) -> None:
    await put_setting(app.database, "name", "value")
    await follow(replica)

    hand.at += LAG_MAX_S + 1

    assert await reading.read(app, read_name) == ("value", Source(None, "it is 11 s behind"))


async def test_a_standby_that_is_gone_is_found_out_by_a_read_and_used_again_when_it_is_back(
    app: App, replica: Replica, standby: PostgresStandby
) -> None:
    await put_setting(app.database, "name", "value")
    await follow(replica)
    standby.stop()
    try:
        value, source = await reading.read(app, read_name)
        assert value == "value"
        assert source is not None
        assert source.lag_s is None
        await follow(replica, "it cannot be read")
    finally:
        standby.start()

    await follow(replica)


async def test_a_read_that_hangs_on_a_lost_standby_is_read_from_the_primary(
    app: App, replica: Replica, standby: PostgresStandby, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put_setting(app.database, "name", "value")
    await follow(replica)
    monkeypatch.setattr(replicas, "MEASURE_S", 0.2)
    standby.freeze()
    try:
        task = asyncio.create_task(reading.read(app, read_name))
        await replica.measure()
        value, source = await task
    finally:
        standby.thaw()

    assert (value, source) == ("value", Source(None, "it cannot be read (TimeoutError)"))


async def test_a_server_that_is_no_standby_of_the_primary_is_never_read(
    database: PostgresDatabase, primary: PostgresCluster, hand: Hand
) -> None:
    name = await get_name(database)
    with PostgresCluster() as other:
        other.run_sql(f"CREATE DATABASE {name}")
        await (await open_database(other.dsn(name))).close()
        for url in (other.dsn(name), primary.dsn(name)):
            wrong = Replica(url, database, LAG_MAX_S, hand)
            await wrong.measure()
            assert wrong.trouble == "it is no standby of the primary"
            await wrong.close()
    empty = Replica(primary.dsn(), database, LAG_MAX_S, hand)
    await empty.measure()
    assert empty.trouble == "it cannot be read (NoTables)"
    await empty.close()


async def test_another_database_of_the_same_standby_is_never_read(
    database: PostgresDatabase, primary: PostgresCluster, standby: PostgresStandby, hand: Hand
) -> None:
    other = await open_database(primary.create_database())
    wrong = Replica(standby.dsn(await get_name(cast(PostgresDatabase, other))), database, LAG_MAX_S, hand)
    async with asyncio.timeout(WAIT_S):
        # The standby does not know the other database before it has replayed its creation.
        while wrong.trouble != "it is no standby of the primary":
            await wrong.measure()
            await asyncio.sleep(0.01)
    await wrong.close()
    await other.close()


async def test_a_standby_follows_the_primary_that_took_over_and_counts_for_no_other(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "MEASURE_S", WAIT_S)
    # A standby cannot be copied from one whose primary writes no full pages.
    with PostgresCluster(fsync=True) as old:
        url = old.create_database()
        await (await open_database(url)).close()
        with PostgresStandby(old) as new, PostgresStandby(new) as standby:
            left = await open_database(url)
            new.promote()
            name = url.rpartition("/")[2]
            taken = await open_database(new.dsn(name))
            await put_setting(taken, "name", "new")

            follower = Replica(standby.dsn(name), taken, LAG_MAX_S, hand)
            await follow(follower)
            assert await get_setting(follower.get_database(), "name") == "new"
            # It is further than the old primary, in a history which is not its own.
            stranger = Replica(standby.dsn(name), left, LAG_MAX_S, hand)
            await follow(stranger, "it is no standby of the primary")

            for each in (follower, stranger, left, taken):
                await each.close()


async def test_a_primary_that_does_not_answer_makes_its_standby_fall_behind(
    replica: Replica, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    await follow(replica)
    hand.at += 3.0
    monkeypatch.setattr(replicas, "_WHERE_PRIMARY", "SELECT 1 / 0")

    await replica.measure()

    assert replica.make_source() == Source(3.0)


async def test_a_refusal_is_no_fault_of_the_standby(app: App, replica: Replica) -> None:
    await follow(replica)

    async def refuse(_app: App, _source: Source | None) -> None:
        raise NotFound(get_result(codes.INVALID_REQUEST))

    with pytest.raises(NotFound):
        await reading.read(app, refuse)
    assert not replica.trouble


async def test_a_user_without_special_rights_can_measure(
    database: PostgresDatabase, primary: PostgresCluster, standby: PostgresStandby, hand: Hand
) -> None:
    name = await get_name(database)
    primary.run_sql("DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN")
    for right in ("SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public", "USAGE ON SCHEMA public"):
        primary.run_sql(f"GRANT {right} TO plain", name)
    plain = cast(
        PostgresDatabase, await open_database(primary.dsn(name).replace("postgres@", "plain@"), must_exist=True)
    )
    replica = Replica(standby.dsn(name).replace("postgres@", "plain@"), plain, LAG_MAX_S, hand)
    await follow(replica)
    await replica.close()
    await plain.close()
