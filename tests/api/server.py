"""A server that many tests share, and the callers that were made for it; or one that a file has for itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from api.merchants import add_channel, add_merchant, wait_until
from api.recording import RecordingAcquirer
from gateway import Client, GatewayProcess
from postgres import PostgresCluster


@dataclass
class SharedServer:
    """A running server; its callers are made once, however often tests change from one database to the other."""

    gateway: GatewayProcess
    acquirer: RecordingAcquirer

    @cached_property
    def client(self) -> Client:
        return self.gateway.client()

    @cached_property
    def stranger(self) -> Client:
        stranger = add_merchant(self.gateway, "Second merchant")
        wait_until(lambda: stranger.get("/v1/query/none").code == "700.400.580")
        return stranger

    @cached_property
    def external(self) -> Client:
        return add_channel(self.gateway, self.client, "External", "--require-cvv", "--test-url", self.acquirer.url)


@contextmanager
def open_own_server(
    request: pytest.FixtureRequest, folder: Path, acquirer: RecordingAcquirer
) -> Iterator[SharedServer]:
    """Runs a server for one file or a few, on the database that the fixture's parameter names."""
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    with GatewayProcess(folder, database) as gateway:
        yield SharedServer(gateway, acquirer)
