"""Gateways behind a load balancer are restarted one after the other while callers pay: no call fails."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from api.balancing import Balancer, Payers
from api.changed_program import COLUMN_OF_PAYMENTS, ChangedGateway, Revision, change_program
from api.merchants import wait_until
from api.sockets import connect, read_all, render, split_answers
from gateway import STOP_S, GatewayProcess
from postgres import PostgresCluster
from tollgate.store.migrating import HEAD, Kind

pytestmark = pytest.mark.both_databases

DRAIN = ("--drain-s", "600")
"""Longer than any machine needs to notice; a test ends it by SIGINT as soon as it has seen what it waits for."""


@pytest.fixture
def gateways(cluster: PostgresCluster, tmp_path: Path) -> Iterator[tuple[GatewayProcess, GatewayProcess]]:
    shared = {"TOLLGATE_KEY_FILE": str(tmp_path / "keys.json")}
    database = cluster.create_database()
    first, second = [GatewayProcess(tmp_path / name, database, DRAIN, shared) for name in ("first", "second")]
    with first, second:
        yield first, second
        for gateway in (first, second):
            end_at_once(gateway)


def end_at_once(gateway: GatewayProcess) -> None:
    if gateway.process is not None:
        gateway.process.send_signal(signal.SIGINT)


def pay_through(balancer: Balancer, gateway: GatewayProcess) -> Payers:
    return Payers(replace(gateway.client(), base_url=f"http://127.0.0.1:{balancer.port}"))


def take_out(gateway: GatewayProcess, balancer: Balancer) -> None:
    """Stops a gateway as an operator does, who waits for the load balancer and not for a time."""
    process = gateway.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: balancer.has_left(gateway.port))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=STOP_S) == 0


def wait_until_taken(balancer: Balancer, gateway: GatewayProcess) -> None:
    wait_until(lambda: balancer.takes(gateway.port))


def wait_for_payments(payers: Payers, further: int = 40) -> None:
    before = len(payers.paid)
    wait_until(lambda: len(payers.paid) >= before + further or bool(payers.failed))


def test_no_call_fails_while_two_gateways_are_restarted_in_turn(
    gateways: tuple[GatewayProcess, GatewayProcess],
) -> None:
    with Balancer([gateway.port for gateway in gateways]) as balancer:
        wait_until(lambda: all(balancer.takes(gateway.port) for gateway in gateways))
        with pay_through(balancer, gateways[0]) as payers:
            wait_for_payments(payers)
            for gateway in gateways:
                take_out(gateway, balancer)
                gateway.start()
                wait_until_taken(balancer, gateway)
                wait_for_payments(payers)

    assert payers.failed == []
    assert len(set(payers.paid)) == len(payers.paid)
    assert gateways[0].run("verify").returncode == 0


NEXT_RELEASE = (
    Revision(Kind.EXPAND, ["ALTER TABLE payments ADD COLUMN holiday TEXT DEFAULT 'Easter'"]),
    Revision(
        Kind.CONTRACT,
        [
            "ALTER TABLE payments ALTER COLUMN holiday DROP DEFAULT",
            "ALTER TABLE payments ALTER COLUMN holiday SET NOT NULL",
        ],
    ),
)
"""Processes of the release before write payments without the column, and cannot any more when it is contracted."""


def test_no_call_fails_while_a_release_with_a_migration_replaces_another(
    gateways: tuple[GatewayProcess, GatewayProcess], tmp_path: Path
) -> None:
    variables = change_program(tmp_path / "next", COLUMN_OF_PAYMENTS, NEXT_RELEASE)
    nexts = [
        ChangedGateway(old.data, old.database, old.arguments, {**old.environment, **variables}, old.port, is_cold=True)
        for old in gateways
    ]
    expanding, contracting = (f"{int(HEAD) + place:04}" for place in (1, 2))
    with Balancer([gateway.port for gateway in gateways]) as balancer, ExitStack() as stack:
        wait_until(lambda: all(balancer.takes(gateway.port) for gateway in gateways))
        with pay_through(balancer, gateways[0]) as payers:
            wait_for_payments(payers)
            assert f"needs {expanding}: run `tollgate migrate`" in nexts[0].run("verify").stderr
            assert f"{contracting} waits: run `tollgate migrate --contract`" in nexts[0].run("migrate").stdout
            wait_for_payments(payers)
            refused = nexts[0].run("migrate", "--contract")
            assert f"processes that do not know revision {contracting}" in refused.stderr
            for old, new in zip(gateways, nexts, strict=True):
                take_out(old, balancer)
                stack.callback(end_at_once, stack.enter_context(new))
                wait_until_taken(balancer, new)
                wait_for_payments(payers)
            contracted = nexts[0].run("migrate", "--contract")
            assert (contracted.returncode, contracted.stdout) == (0, "the store is up to date\n")
            wait_for_payments(payers)

        assert payers.failed == []
        assert nexts[0].run("verify").returncode == 0
        before = ChangedGateway(gateways[0].data, gateways[0].database, environment=gateways[0].environment)
        assert f"use a release that knows revision {contracting}" in before.run("verify").stderr


@pytest.fixture(params=["sqlite", "postgresql", "two processes"])
def draining(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GatewayProcess]:
    if request.param == "sqlite":
        made = GatewayProcess(tmp_path, arguments=DRAIN)
    else:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        is_several = request.param == "two processes"
        workers = ["--workers", "2"] if is_several else []
        made = GatewayProcess(tmp_path, cluster.create_database(), [*DRAIN, *workers], is_cold=is_several)
    with made:
        yield made
        end_at_once(made)


def test_a_draining_host_fails_readiness_and_serves_until_it_is_told_to_end(draining: GatewayProcess) -> None:
    client, process = draining.client(), draining.process
    assert process is not None
    processes = 2 if "--workers" in draining.arguments else 1
    request = render("GET", "/readyz", is_last=False)
    with connect(client) as kept, connect(client) as late:
        kept.sendall(request)
        assert split_answers(kept.recv(65536))[0].headers.get("connection") is None

        wait_until(lambda: count_events(draining, "serving") == processes)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: count_events(draining, "draining") == processes)

        assert client.send("GET", "/readyz").json == {"status": "not ready", "reason": "the host is about to stop"}
        assert client.send("GET", "/healthz").status == 200
        assert client.pay().code == "000.100.110"
        kept.sendall(request)
        answers = split_answers(read_all(kept))
        assert [(answer.status, answer.headers["connection"]) for answer in answers] == [(503, "close")]
        # The second request has begun when the first is answered, and is completed after the end.
        late.sendall(request + request[:20])
        assert split_answers(late.recv(65536))[0].headers.get("connection") is None
        process.send_signal(signal.SIGINT)
        wait_until(lambda: refuses(draining.port))
        late.sendall(request[20:])
        assert split_answers(read_all(late))[0].headers["connection"] == "close"
    assert process.wait(timeout=STOP_S) == 0


def count_events(gateway: GatewayProcess, event: str) -> int:
    """Counts the processes that have logged this event; each logs it once."""
    return gateway.log_path.read_text().count(f'"event":"{event}"')


def refuses(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=STOP_S):
            return False
    except ConnectionRefusedError:
        return True


def test_a_drain_ends_by_itself_and_a_host_stops_at_once_without_one(tmp_path: Path) -> None:
    for arguments in (("--drain-s", "0.2"), ()):
        gateway = GatewayProcess(tmp_path, arguments=arguments)
        gateway.start()
        assert gateway.stop() == 0
        assert ("draining" in gateway.read_log()) is bool(arguments)
        gateway.log_path.unlink()
