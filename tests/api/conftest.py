"""One real server per database for the whole suite, the merchants that call it, and which cases run on both.

Tests that need a server of their own start it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.front_page import Developer
from api.recording import ACQUIRER_TIMEOUT_S, RecordingAcquirer
from api.server import SharedServer, open_own_server
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from postgres import PostgresCluster
from stripe_process import LocalStripe, Proxy

SIDES = {False: "embedded_server", True: "postgres_server"}
HERE = Path(__file__).parent
ENVIRONMENT = {"TOLLGATE_ACQUIRER_TIMEOUT_S": str(ACQUIRER_TIMEOUT_S)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves to `make prove` what has run on SQLite and says nothing about databases.

    Locks, unique rows, lists, races, balances and pages do: such a test or file is marked with `both_databases`.
    """
    names = {item.nodeid for item in items}
    for item in items:
        twin = item.nodeid.replace("postgresql", "sqlite")
        is_repetition = twin != item.nodeid and twin in names and item.path.is_relative_to(HERE)
        if is_repetition and item.get_closest_marker("both_databases") is None:
            item.add_marker(pytest.mark.prove)


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    with PostgresCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def acquirer() -> Iterator[RecordingAcquirer]:
    with RecordingAcquirer() as acquirer:
        yield acquirer


@pytest.fixture(scope="session")
def embedded_server(acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), environment=ENVIRONMENT) as gateway:
        yield SharedServer(gateway, acquirer)


@pytest.fixture(scope="session")
def postgres_server(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedServer]:
    folder = tmp_path_factory.mktemp("gateway")
    with GatewayProcess(folder, cluster.create_database(), environment=ENVIRONMENT) as gateway:
        yield SharedServer(gateway, acquirer)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def gateway(request: pytest.FixtureRequest) -> GatewayProcess:
    """The server most tests share.

    Both stay open, so that changing from one to the other costs nothing.
    """
    server: SharedServer = request.getfixturevalue(SIDES[request.param == "postgresql"])
    return server.gateway


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, gateway: GatewayProcess) -> SharedServer:
    found: SharedServer = request.getfixturevalue(SIDES[bool(gateway.database)])
    return found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def own_server(
    request: pytest.FixtureRequest, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedServer]:
    """For a file that moves the clock or verifies its store: others change rows on the servers that all share."""
    with open_own_server(request, tmp_path_factory.mktemp("own"), acquirer) as server:
        yield server


@pytest.fixture(scope="module")
def own_gateway(own_server: SharedServer) -> GatewayProcess:
    return own_server.gateway


@pytest.fixture
def developer(own_gateway: GatewayProcess) -> Developer:
    """A browser on the machine of a server that only this file uses."""
    return Developer(own_gateway.base_url)


@pytest.fixture(scope="module")
def client(server: SharedServer) -> Client:
    """The sandbox merchant on its strict channel.

    Callers are looked up once for every file, because a file may bring a server of its own.
    """
    return server.client


@pytest.fixture(scope="module")
def lenient(client: Client) -> Client:
    """The same merchant on its lenient channel."""
    return replace(client, entity_id=client.lenient_entity_id)


@pytest.fixture(scope="module")
def stranger(server: SharedServer) -> Client:
    """Another merchant."""
    return server.stranger


@pytest.fixture(scope="module")
def external(server: SharedServer) -> Client:
    """A channel that requires the CVV and has a processor's test system behind it."""
    return server.external


@pytest.fixture(scope="module")
def office(gateway: GatewayProcess) -> OfficeClient:
    """The administrator of the sandbox, who signs in once for every file; tests that end a session have their own."""
    return enter_office(gateway)


@pytest.fixture(scope="module")
def processor() -> Iterator[LocalStripe]:
    """Runs a processor with the Stripe API, which is not ours."""
    with LocalStripe() as processor:
        yield processor


@pytest.fixture(scope="module")
def proxy(processor: LocalStripe) -> Iterator[Proxy]:
    """Stands between a gateway and that processor, and loses messages if a test asks for it."""
    with Proxy(processor) as proxy:
        yield proxy
