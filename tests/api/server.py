"""A server that many tests share, and the callers that were made for it. A test that needs its own starts it itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from api.merchants import add_channel, add_merchant, wait_until
from api.recording import RecordingAcquirer
from gateway import Client, GatewayProcess


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
