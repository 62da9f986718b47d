"""One checkout, and many who press the button in the same instant: it is paid once, at the acquirer and in reports."""

from __future__ import annotations

import contextlib
from pathlib import Path
from urllib.parse import urlencode

import pytest

from api.chains import PENDING, result_of
from api.checking_out import ask
from api.merchants import run_command
from api.paying_forms import BUSY, GONE, SCRIPT, TOO_MANY, begin_challenge, list_made, open_checkout, pass_challenge
from api.recording import RecordingAcquirer
from api.sockets import connect, read_all, render, split_answers
from gateway import CARD, Answer, Client, GatewayProcess
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

SHOTS = 64
PAID = (200, "000.100.110")


def fire(client: Client, checkout_id: str, shots: int = SHOTS) -> list[Answer]:
    """All of every request but its last byte is there before any of them is complete."""
    request = render("POST", f"/v1/checkouts/{checkout_id}/payment", SCRIPT.items(), urlencode(CARD).encode())
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(client, 30.0)) for _ in range(shots)]
        for connection in connections:
            connection.sendall(request[:-1])
        for connection in connections:
            connection.sendall(request[-1:])
        return [split_answers(read_all(connection))[0] for connection in connections]


def check_paid_once(answers: list[Answer], approved: tuple[int, str]) -> None:
    results = [result_of(answer) for answer in answers]
    assert results.count(approved) == 1
    assert set(results) <= {approved, BUSY, GONE}
    assert [("next" in answer.json) for answer in answers].count(True) == 1


def test_sixty_four_clicks_pay_once(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="clicked-often")

    answers = fire(client, checkout_id)

    check_paid_once(answers, PAID)
    assert [each["result"]["code"] for each in list_made(client, "clicked-often")] == ["000.100.110"]
    assert result_of(ask(client, checkout_id)) == PAID


def test_the_acquirer_receives_it_once(external: Client, acquirer: RecordingAcquirer) -> None:
    checkout_id = open_checkout(external, testMode="EXTERNAL", merchantTransactionId="heard-of-once")
    before = len(acquirer.received)

    answers = fire(external, checkout_id)

    check_paid_once(answers, (200, "000.100.112"))
    charges = [message for path, _, message in acquirer.received[before:] if path == "/v1/charges"]
    assert len(charges) == 1


def test_declined_clicks_never_run_beside_each_other(client: Client) -> None:
    """Each is refused or has its own attempt; ten at most."""
    checkout_id = open_checkout(
        client, merchantTransactionId="declined-often", **{"customParameters[forceResultCode]": "800.100.152"}
    )

    results = [result_of(answer) for answer in fire(client, checkout_id)]

    declined = results.count((400, "800.100.152"))
    assert 1 <= declined <= 10
    assert set(results) <= {(400, "800.100.152"), BUSY, (429, "800.120.100")}
    assert len(list_made(client, "declined-often")) == declined


def test_several_processes_pay_once_and_count_together(cluster: PostgresCluster, tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, cluster.create_database(), arguments=["--workers", "2"], is_cold=True) as gateway:
        client = gateway.client()
        asked = open_checkout(client)
        questions = [result_of(ask(client, asked)) for _ in range(12)]
        assert sorted(questions) == sorted([PENDING] * 2 + [TOO_MANY] * 10)
        for number in range(3):
            checkout_id = open_checkout(client, merchantTransactionId=f"processes-{number}")
            page = begin_challenge(client, checkout_id)
            check_paid_once(fire(client, checkout_id), PAID)
            pass_challenge(client, page)
            codes = sorted(each["result"]["code"] for each in list_made(client, f"processes-{number}"))
            assert codes == ["000.100.110", "800.110.100"]
        run_command(gateway, "verify")
