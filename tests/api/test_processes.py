"""Processes: several on PostgreSQL, one on an embedded file, and how they end."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from api.chains import list_payments
from api.merchants import wait_until
from api.sockets import connect
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

DELAY = "customParameters[simulatorDelay]"


def test_two_processes_share_the_work_on_postgresql(cluster: PostgresCluster, tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, cluster.create_database(), arguments=["--workers", "2"], is_cold=True) as gateway:
        client = gateway.client()
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: client.pay(), range(100)))
        assert {answer.code for answer in answers} == {"000.100.110"}
        assert len({answer.json["id"] for answer in answers}) == 100
        assert len(list_children(gateway)) >= 2

        check_one_race(client)
        check_that_all_tell_the_same(client)
        check_that_a_dead_process_is_replaced(gateway, client)

        assert gateway.stop() == 0


def check_one_race(client: Client) -> None:
    """An idempotency key is used once, whichever process a request meets."""
    with ThreadPoolExecutor(30) as pool:
        raced = list(pool.map(lambda _: client.pay({"Idempotency-Key": "across"}, **{DELAY: "200"}), range(30)))
    assert len({answer.json["id"] for answer in raced if answer.status == 200}) == 1
    assert {answer.status for answer in raced} <= {200, 409}


def check_that_all_tell_the_same(client: Client) -> None:
    received = client.post("/sandbox/clock", {"advance": str(400 * 24 * 3600)}).json["now"]
    wait_until(lambda: all(client.send("GET", "/sandbox/clock").json["now"] >= received for _ in range(20)))

    def count_paid() -> int:
        text = client.send("GET", "/metrics").body.decode()
        series = 'tollgate_requests_total{operation="create_payment",status="200"} '
        return int(float(next(line for line in text.splitlines() if line.startswith(series)).split()[-1]))

    wait_until(lambda: count_paid() >= 101)


def check_that_a_dead_process_is_replaced(gateway: GatewayProcess, client: Client) -> None:
    before = list_servers(gateway)
    os.kill(before[0], signal.SIGKILL)

    wait_until(lambda: len(list_servers(gateway)) == 2 and list_servers(gateway) != before)
    wait_until(lambda: pays(client))


def pays(client: Client) -> bool:
    try:
        return client.pay().status == 200
    except OSError:
        return False


def list_children(gateway: GatewayProcess) -> list[int]:
    assert gateway.process is not None
    pid = gateway.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def list_servers(gateway: GatewayProcess) -> list[int]:
    """Returns the children that serve; Python keeps one more beside them that only tracks resources."""
    servers = []
    for child in list_children(gateway):
        # A child may end while it is looked at.
        with suppress(OSError):
            if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                servers.append(child)
    return servers


def test_several_processes_on_an_embedded_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="--workers above 1 needs PostgreSQL"):
        GatewayProcess(tmp_path, arguments=["--workers", "2"]).start()


@pytest.mark.parametrize("gateway", ["sqlite"], indirect=True)
def test_a_second_server_on_an_embedded_file_is_refused(
    gateway: GatewayProcess, client: Client, tmp_path: Path
) -> None:
    second = GatewayProcess(tmp_path, f"sqlite:///{gateway.data}/tollgate.db", is_cold=True)
    (tmp_path / "keys.json").write_bytes((gateway.data / "keys.json").read_bytes())
    (tmp_path / "keys.json").chmod(0o600)

    with pytest.raises(RuntimeError, match="another server uses") as refused:
        second.start()

    assert "Traceback" not in str(refused.value)
    assert client.pay().status == 200


def test_a_port_in_use_is_reported_in_one_line(gateway: GatewayProcess, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f"cannot listen on 127.0.0.1 port {gateway.port}"):
        start_on(gateway.port, tmp_path)


def start_on(port: int, folder: Path) -> None:
    host = GatewayProcess(folder, port=port)
    # The port answers already, so readiness says nothing: what counts is that this process ends.
    host.start()
    assert host.process is not None
    host.process.wait(timeout=300)
    raise RuntimeError(host.log_path.read_text())


def test_a_stop_finishes_what_is_in_flight_and_takes_nothing_new(gateway: GatewayProcess, client: Client) -> None:
    client.pay()
    with ThreadPoolExecutor(8) as pool:
        in_flight = [
            pool.submit(client.pay, None, merchantTransactionId="in-flight", **{DELAY: "1500"}) for _ in range(8)
        ]
        wait_until(lambda: len(list_payments(client, "in-flight")) == 8)
        with connect(client) as idle:
            assert gateway.stop() == 0
            assert idle.recv(1) == b""
        answers = [future.result() for future in in_flight]

    assert {answer.code for answer in answers} == {"000.100.110"}
    with pytest.raises(ConnectionRefusedError):
        client.pay()
    gateway.start()
    for answer in answers:
        # A restart may be a release, so the build may differ; the payment may not.
        again = client.get(f"/v1/payments/{answer.json['id']}").json
        assert {**again, "buildNumber": ""} == {**answer.json, "buildNumber": ""}
