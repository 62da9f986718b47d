"""The host reports on itself: health, readiness, metrics, log lines. Its test clock is tested here too."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from api.merchants import run_command, wait_until
from gateway import Client, GatewayProcess

Events = list[dict[str, Any]]


@pytest.fixture(scope="session")
def greeting(gateway: GatewayProcess) -> frozenset[str]:
    """Returns the lines that the start prints for a person to read; everything else it writes is for machines."""
    return frozenset(["", *(line.strip() for line in run_command(gateway, "credentials").splitlines())])


def read_events(gateway: GatewayProcess, greeting: frozenset[str], since: int = 0) -> Events:
    """Returns the events of the log, or those after its first characters: other tests write to it too."""
    whole_lines = gateway.log_path.read_text()[since:].rpartition("\n")[0]
    return [json.loads(line) for line in whole_lines.splitlines() if line.strip() not in greeting]


@pytest.mark.both_databases
def test_a_host_reports_that_it_is_alive_and_ready(client: Client) -> None:
    alive, ready = client.send("GET", "/healthz"), client.send("GET", "/readyz")

    assert (alive.status, alive.json) == (200, {"status": "alive"})
    assert (ready.status, ready.json) == (200, {"status": "ready"})


def test_requests_and_payments_are_counted_for_prometheus(client: Client) -> None:
    def count(series: str) -> float:
        text = client.send("GET", "/metrics").body.decode()
        found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    paid = 'tollgate_requests_total{operation="create_payment",status="200"}'
    unknown = 'tollgate_requests_total{operation="unknown",status="404"}'
    declined = 'tollgate_payments_total{group="rejected_by_bank",kind="DB"}'
    before = {series: count(series) for series in (paid, unknown, declined)}

    client.pay()
    client.send("GET", "/invented/by/a/stranger")
    client.pay(None, **{"customParameters[forceResultCode]": "800.100.151"})

    # What an earlier test has sent and not waited for may be counted only now.
    wait_until(lambda: all(count(series) > counted for series, counted in before.items()))
    assert b"invented" not in client.send("GET", "/metrics").body


def test_every_request_has_a_log_line_with_its_ndc(
    gateway: GatewayProcess, client: Client, greeting: frozenset[str]
) -> None:
    answers = [
        client.pay(),
        client.pay(card__cvv="x"),
        client.send("GET", "/nowhere"),
        client.send("POST", "/v1/payments"),
    ]
    # The line is written after the answer went out.
    wait_until(lambda: all(answer.json["ndc"] in gateway.log_path.read_text() for answer in answers))
    events = {event["ndc"]: event for event in read_events(gateway, greeting) if event["event"] == "request"}

    for answer in answers:
        event = events[answer.json["ndc"]]
        assert event["status"] == answer.status
        assert {"time", "level", "method", "path", "operation", "ms"} <= set(event)


def test_log_lines_carry_no_query_no_token_and_no_card(
    gateway: GatewayProcess, client: Client, greeting: frozenset[str]
) -> None:
    since = gateway.log_path.read_text().rindex("\n") + 1
    client.get("/v1/query", {"merchantTransactionId": "searched-for-0001"})
    client.send("GET", "/v1/payments/4200000000000000", None, client.authorized())
    client.send("GET", "/v1/payments/4200-0000-0000-0000", None, client.authorized())
    last = client.pay(card__cvv="x", card__holder="Jane Unlogged")
    wait_until(lambda: last.json["ndc"] in gateway.log_path.read_text())

    logged = "\n".join(json.dumps(event) for event in read_events(gateway, greeting, since))

    for secret in (
        "searched-for-0001",
        "?",
        client.token,
        "4200000000000000",
        "4200-0000-0000-0000",
        "Unlogged",
    ):
        assert secret not in logged


def test_the_clock_moves_forward_only_and_for_whoever_has_a_token(client: Client) -> None:
    def read_clock() -> datetime:
        return datetime.fromisoformat(client.send("GET", "/sandbox/clock").json["now"])

    before = read_clock()
    answer = client.post("/sandbox/clock", {"advance": "3600"})

    assert (answer.status, set(answer.json)) == (200, {"now"})
    assert 3600 <= (read_clock() - before).total_seconds() < 3660
    hours = [read_clock().isoformat(" ")[:13], client.pay().json["timestamp"][:13], read_clock().isoformat(" ")[:13]]
    assert hours[1] in (hours[0], hours[2])
    assert client.send("POST", "/sandbox/clock", "advance=1").status == 401
    for refused in ("-1", "soon", "1.5", "", "99999999999", "٣"):
        answer = client.post("/sandbox/clock", {"advance": refused})
        assert (answer.status, list(answer.faults)) == (400, ["advance"])


def test_the_command_moves_the_clock_of_a_running_host(gateway: GatewayProcess, client: Client) -> None:
    received = datetime.fromisoformat(run_command(gateway, "clock", "--advance", "7200").strip())

    wait_until(lambda: datetime.fromisoformat(client.send("GET", "/sandbox/clock").json["now"]) >= received)
    assert (
        timedelta() <= datetime.fromisoformat(run_command(gateway, "clock").strip()) - received < timedelta(minutes=10)
    )
