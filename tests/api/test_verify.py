"""The audit beside a running server: traffic from every side is no finding, and what a hand did is one all the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from time import sleep
from typing import Any

import apsw
import pytest
from click.testing import CliRunner

from api.registration_requests import change, pay_with, register, remove
from gateway import Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.cli.program import program

pytestmark = pytest.mark.both_databases

SHOPS = 3
AUDITS = 3
BREATH_S = 0.01


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def busy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server of its own, because a hand will be at its store."""
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    with GatewayProcess(tmp_path_factory.mktemp("busy"), database) as gateway:
        yield gateway


@pytest.fixture
def run_sql(busy: GatewayProcess, request: pytest.FixtureRequest) -> Callable[[str], object]:
    """The hand."""
    if busy.database:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        return lambda sql: cluster.run_sql(sql, busy.database.rpartition("/")[2])

    def run(sql: str) -> None:
        connection = apsw.Connection(str(busy.data / "tollgate.db"))
        connection.set_busy_timeout(5_000)
        connection.execute(sql)
        connection.close()

    return run


def verify(gateway: GatewayProcess) -> Any:
    store = ["--data", str(gateway.data), *(["--database", gateway.database] if gateway.database else [])]
    done = CliRunner().invoke(program, ["verify", "--json", *store], catch_exceptions=False)
    report = json.loads(done.stdout)
    assert done.exit_code == (1 if report["findings_count"] else 0)
    return report


@contextmanager
def keep_busy(*works: Callable[[], None]) -> Iterator[None]:
    """Each again and again in a thread of its own; what fails in one fails the test."""
    is_over = Event()

    def repeat(work: Callable[[], None]) -> None:
        while not is_over.is_set():
            work()
            sleep(BREATH_S)

    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(repeat, work) for work in works]
        try:
            yield
        finally:
            is_over.set()
        for each in running:
            each.result()


def make_shop(client: Client, hot_id: str) -> Callable[[], None]:
    """Makes one round of everything: on payments of its own, and on one that all shops use."""

    def follow(payment_id: str, payment_type: str, amount: str | None = None, **fields: str) -> str:
        money = {"amount": amount, "currency": "EUR"} if amount else {}
        answer = client.post(f"/v1/payments/{payment_id}", {"paymentType": payment_type, **money, **fields})
        assert answer.status in (200, 400), answer.body
        made: str = answer.json.get("id", "")
        return made

    def do_a_round() -> None:
        authorised = client.pay(paymentType="PA").json["id"]
        captured = follow(authorised, "CP", "30.00")
        follow(hot_id, "CP", "0.01")
        follow(captured, "RF", "10.00")
        follow(authorised, "CP", "20.00", sequence="FINAL")
        follow(authorised, "CP", "999.00")
        debited = client.pay().json["id"]
        follow(debited, "RB", "5.00")
        follow(debited, "RV")
        follow(hot_id, "RF", "0.01")

    return do_a_round


def make_stall(client: Client, hot_id: str) -> Callable[[], None]:
    """Makes one round of registrations: accounts of its own, and one that all shops pay with and change."""

    def do_a_round() -> None:
        made = client.pay(createRegistration="true").json["registrationId"]
        client.pay(createRegistration="true", **{"customParameters[forceResultCode]": "800.100.151"})
        for stored in (made, hot_id, register(client)):
            assert pay_with(client, stored).status == 200
            assert change(client, stored, {"card.holder": f"Jane {stored}"}).status == 200
        assert remove(client, made).status == 200

    return do_a_round


def test_an_audit_beside_traffic_finds_nothing(busy: GatewayProcess) -> None:
    client = busy.client()
    hot_id = client.pay(paymentType="PA", numberOfCaptures="98").json["id"]
    walked = []

    with keep_busy(*[make_shop(client, hot_id)] * SHOPS):
        for _ in range(AUDITS):
            report = verify(busy)
            assert report["findings"] == []
            walked.append(report["rows"].get("payments", 0))
    quiet = verify(busy)

    assert quiet["findings"] == []
    # There was traffic while the first of them looked, however slow the machine.
    assert walked == sorted(walked)
    assert walked[0] < quiet["rows"]["payments"]
    assert quiet["rows"]["payments"] == quiet["rows"]["outbox"]


def test_an_audit_beside_those_who_store_finds_nothing(busy: GatewayProcess) -> None:
    client = busy.client()
    stall = make_stall(client, register(client))

    with keep_busy(*[stall] * SHOPS):
        reports = [verify(busy) for _ in range(AUDITS)]

    quiet = verify(busy)

    assert [report["findings"] for report in (*reports, quiet)] == [[]] * (AUDITS + 1)
    # There was traffic while the first of them looked.
    assert reports[0]["rows"].get("registrations", 0) < quiet["rows"]["registrations"]


def test_an_audit_beside_traffic_finds_what_a_hand_did(busy: GatewayProcess, run_sql: Callable[[str], object]) -> None:
    client = busy.client()
    victim = client.pay(paymentType="PA").json["id"]
    client.post(f"/v1/payments/{victim}", {"paymentType": "CP", "amount": "30.00", "currency": "EUR"})
    run_sql(f"UPDATE payments SET drawn = 0 WHERE id = '{victim}'")

    with keep_busy(make_shop(client, victim)):
        report = verify(busy)
    run_sql(f"UPDATE payments SET drawn = drawn + 3000 WHERE id = '{victim}'")

    assert {finding["row_id"] for finding in report["findings"]} == {victim}
    assert {finding["proof"] for finding in report["findings"]} == {"balance", "ledger"}
    assert verify(busy)["findings"] == []
