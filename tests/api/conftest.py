"""One real server per database for the whole suite, the merchants that call it, and which cases run on both.

Tests that need a server of their own start it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.premises import Premises
from api.recording import ACQUIRER_TIMEOUT_S, RecordingAcquirer
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

SIDES = {False: "embedded_premises", True: "postgres_premises"}
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
def embedded_premises(acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), environment=ENVIRONMENT) as gateway:
        yield Premises(gateway, acquirer)


@pytest.fixture(scope="session")
def postgres_premises(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Premises]:
    folder = tmp_path_factory.mktemp("gateway")
    with GatewayProcess(folder, cluster.create_database(), environment=ENVIRONMENT) as gateway:
        yield Premises(gateway, acquirer)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def gateway(request: pytest.FixtureRequest) -> GatewayProcess:
    """The server most tests share.

    Both stay open, so that changing from one to the other costs nothing.
    """
    premises: Premises = request.getfixturevalue(SIDES[request.param == "postgresql"])
    return premises.gateway


@pytest.fixture(scope="session")
def premises(request: pytest.FixtureRequest, gateway: GatewayProcess) -> Premises:
    found: Premises = request.getfixturevalue(SIDES[bool(gateway.database)])
    return found


@pytest.fixture(scope="module")
def client(premises: Premises) -> Client:
    """The sandbox merchant on its strict channel.

    Callers are looked up once for every file, because a file may bring premises of its own.
    """
    return premises.client


@pytest.fixture(scope="module")
def lenient(client: Client) -> Client:
    """The same merchant on its lenient channel."""
    return replace(client, entity_id=client.lenient_entity_id)


@pytest.fixture(scope="module")
def stranger(premises: Premises) -> Client:
    """Another merchant."""
    return premises.stranger


@pytest.fixture(scope="module")
def external(premises: Premises) -> Client:
    """A channel that requires the CVV and has a processor's test system behind it."""
    return premises.external
