"""Deliveries by several processes: none is lost when one is killed, and a stop ends what is under way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from api import shoppers
from api.endpoints import Endpoint, add_endpoint, advance
from api.merchants import wait_until
from api.test_processes import list_servers
from gateway import Client, GatewayProcess
from postgres import PostgresCluster
from receiving import HANG, RESET, Receiver

MANNERS: dict[str, Callable[[int], int]] = {
    "healthy": lambda _: 200,
    "hanging": lambda _: HANG,
    "failing": lambda _: 500,
    "resetting": lambda _: RESET,
}
IN_ORDER = "healthy"
RESULTS = ("delivered", "failed")
STOPPED_WITHIN_S = 20.0
"""A stop takes up to 10 seconds; a receiver that hangs would hold it up for 30."""


@dataclass
class Load:
    gateway: GatewayProcess
    client: Client
    receivers: dict[str, Receiver]
    endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def list_event_ids(self) -> set[str]:
        return {event.id for event in next(iter(self.endpoints.values())).list_events()}


@pytest.fixture
def load(cluster: PostgresCluster, tmp_path: Path) -> Iterator[Load]:
    """Three processes that know four endpoints from their start."""
    database = cluster.create_database()
    with ExitStack() as stack:
        receivers = {name: stack.enter_context(Receiver(choose)) for name, choose in MANNERS.items()}
        with GatewayProcess(tmp_path, database) as first:
            client, port = first.client(), first.port
            endpoints = {
                name: add_endpoint(first, client, receiver.url, is_ordered=name == IN_ORDER)
                for name, receiver in receivers.items()
            }
        gateway = GatewayProcess(tmp_path, database, arguments=["--workers", "3"], port=port, is_cold=True)
        stack.enter_context(gateway)
        wait_until(lambda: len(list_servers(gateway)) == 3)
        yield Load(gateway, client, receivers, endpoints)


def pay(client: Client, number: int) -> None:
    """Makes a payment; every fifth waits for its shopper first. A server may be killed meanwhile."""
    try:
        if number % 5:
            client.pay()
            return
        answer = shoppers.order(client, "PAYPAL")
        if answer.status == 200:
            shoppers.decide(client, answer, "approve")
    except (OSError, AssertionError):
        # What the caller was not told is an event all the same, if it was written.
        return


def make_load(load: Load, count: int) -> None:
    """Pays and kills one of the processes in the middle of it."""
    with ThreadPoolExecutor(8) as pool:
        paying = [pool.submit(pay, load.client, number) for number in range(count)]
        wait_until(lambda: sum(each.done() for each in paying) > count // 2)
        os.kill(list_servers(load.gateway)[0], signal.SIGKILL)
        for each in paying:
            each.result()
    wait_until(lambda: len(list_servers(load.gateway)) == 3)


def check_load(load: Load, count: int) -> None:
    make_load(load, count)
    healthy = load.receivers["healthy"]
    # An attempt that the killed process has begun may still be completed by a worker, and announced.
    wait_until(lambda: load.list_event_ids() == set(healthy.count_events()))
    assert len(load.list_event_ids()) > count // 2
    check_order(healthy)
    for name, receiver in load.receivers.items():
        if name != "healthy":
            assert receiver.list_calls(), name
            receiver.choose = lambda _: 200
            receiver.let_go()

    def has_all() -> bool:
        advance(load.client, 600)
        heard = [{call.event_id for call in each.list_calls() if call.answered == 200} for each in bad]
        return all(load.list_event_ids() == each for each in heard)

    bad = [receiver for name, receiver in load.receivers.items() if name not in ("healthy", "hanging")]
    wait_until(has_all)
    wait_until(lambda: load.list_event_ids() == set(load.receivers["hanging"].count_events()))
    wait_until(lambda: read_metric(load, "tollgate_webhook_oldest_undelivered_seconds") == 0)
    counted = {each: read_metric(load, f'tollgate_webhook_deliveries_total{{result="{each}"}}') for each in RESULTS}
    assert counted["delivered"] >= len(load.list_event_ids())
    assert counted["failed"] > 0
    assert load.gateway.stop() == 0


def read_metric(load: Load, series: str) -> float:
    """Reads a metric of all processes, while time passes."""
    advance(load.client, 60)
    lines = load.client.send("GET", "/metrics").body.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{series} "))


def check_order(receiver: Receiver) -> None:
    """The first delivery of each event of a payment comes after that of the event before."""
    first_heard: dict[str, list[int]] = {}
    for call in receiver.list_calls():
        sequences = first_heard.setdefault(call.event_id[16:], [])
        if call.sequence not in sequences:
            sequences.append(call.sequence)
    assert {tuple(each) for each in first_heard.values()} == {(1,), (1, 2)}


def test_every_change_is_delivered_to_each_endpoint_whatever_the_others_do(load: Load) -> None:
    check_load(load, 200)


@pytest.mark.prove
def test_every_change_of_a_thousand_payments_is_delivered(load: Load) -> None:
    check_load(load, 1000)


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_stop_lets_deliveries_end_and_cuts_off_those_that_hang(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = ""
    if database == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        url = cluster.create_database()
    with Receiver(lambda _: HANG) as slow, Receiver(lambda _: HANG) as hanging:
        with GatewayProcess(tmp_path, url) as gateway:
            client = gateway.client()
            ends, hangs = (add_endpoint(gateway, client, each.url) for each in (slow, hanging))
        gateway.start()
        assert client.pay().status == 200
        wait_until(lambda: bool(slow.list_calls() and hanging.list_calls()))
        assert gateway.process is not None

        begun = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        slow.let_go()
        assert gateway.stop() == 0

        assert time.monotonic() - begun < STOPPED_WITHIN_S
        events = ends.list_events()
        assert ends.count_states(events) == {"delivered": 1}
        assert hangs.count_states(events) == {"pending": 1}
        hanging.let_go()
        gateway.start()
        # The next process takes over at once what was given back.
        wait_until(lambda: hangs.count_states(events) == {"delivered": 1})
        gateway.stop()
    assert slow.count_events() == {events[0].id: 1}
    assert hanging.count_events() == {events[0].id: 2}
