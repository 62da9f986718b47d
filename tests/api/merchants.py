"""Merchants and channels made as an operator makes them: with the command, beside the running server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep

from click.testing import CliRunner

from gateway import Client, GatewayProcess
from tollgate.cli.program import program


def wait_until(is_so: Callable[[], bool], *, within_s: float = 300.0) -> None:
    deadline = monotonic() + within_s
    while not is_so():
        if monotonic() > deadline:
            raise AssertionError(f"it did not happen within {within_s:g} seconds")
        sleep(0.05)


def run_command(gateway: GatewayProcess, *command: str, given: str | None = None) -> str:
    """The command on the server's store, in this process: it says the same as in one of its own, and starts sooner."""
    store = ["--data", str(gateway.data), *(["--database", gateway.database] if gateway.database else [])]
    done = CliRunner().invoke(
        program, [*command, *store], input=given, env=dict(gateway.environment), catch_exceptions=False
    )
    if done.exit_code:
        raise RuntimeError(f"tollgate {' '.join(command)} failed: {done.output}")
    return done.stdout.strip()


def add_merchant(gateway: GatewayProcess, name: str, *flags: str) -> Client:
    """A merchant with a channel and a token; whether the server knows of it already is for the caller to wait for."""
    merchant_id = run_command(gateway, "merchant", "add", name)
    entity_id = run_command(gateway, "channel", "add", merchant_id, name, *flags)
    token = run_command(gateway, "token", "add", merchant_id)
    return Client(gateway.base_url, token, entity_id)


def add_channel(gateway: GatewayProcess, client: Client, name: str, *flags: str) -> Client:
    """The same merchant on one more channel, once the running server knows of it."""
    entity_id = run_command(gateway, "channel", "add", find_merchant_id(gateway, client), name, *flags)
    added = replace(client, entity_id=entity_id)
    wait_until(lambda: added.get("/v1/query/none").code == "700.400.580")
    return added


def find_merchant_id(gateway: GatewayProcess, client: Client) -> str:
    channels = run_command(gateway, "channel", "list").splitlines()
    return next(line for line in channels if line.startswith(client.entity_id)).split()[2]
