"""One real server per database for the whole suite, and the merchants that call it.

Tests that need a server of their own start it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from api.merchants import add_channel, add_merchant, wait_until
from api.recording import ACQUIRER_TIMEOUT_S, RecordingAcquirer
from gateway import Client, GatewayProcess
from postgres import PostgresCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster(fsync=False) as cluster:
        yield cluster


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """The server most tests share; every test that asks for it runs on both databases."""
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    environment = {"TOLLGATE_ACQUIRER_TIMEOUT_S": str(ACQUIRER_TIMEOUT_S)}
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), database, environment=environment) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def client(gateway: GatewayProcess) -> Client:
    """The sandbox merchant on its strict channel."""
    return gateway.client()


@pytest.fixture(scope="session")
def lenient(client: Client) -> Client:
    """The same merchant on its lenient channel."""
    return replace(client, entity_id=client.lenient_entity_id)


@pytest.fixture(scope="session")
def stranger(gateway: GatewayProcess) -> Client:
    """Another merchant."""
    stranger = add_merchant(gateway, "Second merchant")
    wait_until(lambda: stranger.get("/v1/query/none").code == "700.400.580")
    return stranger


@pytest.fixture(scope="session")
def acquirer() -> Iterator[RecordingAcquirer]:
    with RecordingAcquirer() as acquirer:
        yield acquirer


@pytest.fixture(scope="session")
def external(gateway: GatewayProcess, client: Client, acquirer: RecordingAcquirer) -> Client:
    """A channel that requires the CVV and has a processor's test system behind it."""
    return add_channel(gateway, client, "External", "--require-cvv", "--test-url", acquirer.url)
