"""Risk rules count the payments of every process of a host, and those of a process that was killed."""

from __future__ import annotations

from pathlib import Path

from api.merchants import find_merchant_id, run_command, wait_until
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

REFUSED = "800.120.103"
COUNT = ("--kind", "count", "--attribute", "email", "--window", "24h", "--count", "3", "--mode", "active")


def pay(client: Client, email: str = "jane@example.com") -> str:
    return client.pay(None, customer__email=email, customer__givenName="Jane", customer__surname="Jones").code


def add_rule(gateway: GatewayProcess, client: Client) -> None:
    """Adds the rule, and waits until it counts; the payments of somebody else show it."""
    run_command(gateway, "risk", "add", find_merchant_id(gateway, client), *COUNT)
    wait_until(lambda: pay(client, "joe@example.com") == REFUSED)


def test_a_process_that_was_killed_loses_no_payment(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as gateway:
        client = gateway.client()
        add_rule(gateway, client)
        for _ in range(3):
            assert pay(client) == "000.100.110"
        gateway.kill()
        gateway.start()

        wait_until(lambda: pay(client) == REFUSED)
        assert pay(client) == REFUSED


def test_two_processes_count_each_others_payments(tmp_path: Path, cluster: PostgresCluster) -> None:
    with GatewayProcess(tmp_path, cluster.create_database(), arguments=["--workers", "2"], is_cold=True) as gateway:
        client = gateway.client()
        add_rule(gateway, client)

        # Each request has a connection of its own, and each process takes some of them.
        wait_until(lambda: {pay(client) for _ in range(12)} == {REFUSED})
