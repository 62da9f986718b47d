"""Merchants and channels made as an operator makes them: with the command, beside the running server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep

from gateway import Client, GatewayProcess


def wait_until(is_so: Callable[[], bool], *, within_s: float = 15.0) -> None:
    deadline = monotonic() + within_s
    while not is_so():
        if monotonic() > deadline:
            raise AssertionError(f"it did not happen within {within_s:g} seconds")
        sleep(0.05)


def add_merchant(gateway: GatewayProcess, name: str, *flags: str) -> Client:
    """A merchant with a channel and a token; whether the server knows of it already is for the caller to wait for."""
    merchant_id = gateway.run("merchant", "add", name, *flags).stdout.strip()
    entity_id = gateway.run("channel", "add", merchant_id, name, *flags).stdout.strip()
    token = gateway.run("token", "add", merchant_id, *flags).stdout.strip()
    return Client(gateway.base_url, token, entity_id)


def add_channel(gateway: GatewayProcess, client: Client, name: str, *flags: str) -> Client:
    """The same merchant on one more channel, once the running server knows of it."""
    channels = gateway.run("channel", "list").stdout.splitlines()
    merchant_id = next(line for line in channels if line.startswith(client.entity_id)).split()[2]
    entity_id = gateway.run("channel", "add", merchant_id, name, *flags).stdout.strip()
    added = replace(client, entity_id=entity_id)
    wait_until(lambda: added.get("/v1/query/none").code == "700.400.580")
    return added
