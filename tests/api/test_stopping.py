"""A server that is asked to stop under load: what it began is answered and stored, and the rest has not happened."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import apsw
import pytest

from api.merchants import add_channel, wait_until
from api.recording import RecordingAcquirer
from api.sockets import connect, render, split_answers
from gateway import PAYMENT, STOP_S, Answer, Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.payments.payment import State

SHOPPERS = 24
AHEAD = (1, 1, 2, 3)
"""The numbers of payments that a shopper sends at once, before it reads the first answer."""
HELD = "held by the acquirer"
BEFORE_THE_STOP = 3
"""Every shopper has had that many answers when the server is asked to stop."""

STORED = f"""SELECT merchant_transaction_id, payments.id, state = {State.APPROVED:d},
 (SELECT count(*) FROM outbox WHERE outbox.merchant_id = payments.merchant_id AND subject_id = payments.id)
 FROM payments"""


class Shopper:
    """Pays over one connection until the server closes it."""

    def __init__(self, client: Client, name: str, ahead: int) -> None:
        self._client, self._name, self._ahead = client, name, ahead
        self._received = b""
        self.answers: dict[str, Answer] = {}
        """The whole answers, by the merchant's id of the payment."""

    def pay_until_closed(self) -> None:
        names = (f"{self._name}-{number}" for number in count())
        with connect(self._client) as connection:
            while True:
                sent = [next(names) for _ in range(self._ahead)]
                # A server that has closed the connection does not read it; an answer from before is there all the same.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.sendall(b"".join(map(self._render, sent)))
                for name in sent:
                    answer = self._read_answer(connection)
                    if answer is None:
                        return
                    self.answers[name] = answer

    def _render(self, name: str) -> bytes:
        body = urlencode({**PAYMENT, "entityId": self._client.entity_id, "merchantTransactionId": name}).encode()
        headers = self._client.authorized({"Content-Type": "application/x-www-form-urlencoded"})
        return render("POST", "/v1/payments", headers.items(), body, is_last=False)

    def _read_answer(self, connection: socket.socket) -> Answer | None:
        """Returns None if the connection is closed before the first byte of an answer."""
        while not (whole := _find_answer(self._received)):
            try:
                part = connection.recv(65536)
            except ConnectionResetError:
                part = b""
            if not part:
                assert self._received == b"", "an answer was cut off"
                return None
            self._received += part
        self._received = self._received[len(whole) :]
        return split_answers(whole)[0]


def _find_answer(received: bytes) -> bytes:
    """Returns the first answer as soon as all of it is there."""
    head, end, rest = received.partition(b"\r\n\r\n")
    lengths = [int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
    return head + end + rest[: lengths[0]] if end and len(rest) >= lengths[0] else b""


@pytest.fixture(params=["sqlite", "postgresql", "two processes"])
def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GatewayProcess]:
    if request.param == "sqlite":
        made = GatewayProcess(tmp_path)
    else:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        is_several = request.param == "two processes"
        arguments = ["--workers", "2"] if is_several else []
        made = GatewayProcess(tmp_path, cluster.create_database(), arguments, is_cold=is_several)
    with made:
        yield made


def read_store(gateway: GatewayProcess, request: pytest.FixtureRequest) -> set[tuple[str, str, bool, int]]:
    """Returns every payment by the merchant's id and ours, whether it was approved, and how many events it has."""
    if gateway.database:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        lines = cluster.run_sql(STORED, gateway.database.rpartition("/")[2]).splitlines()
        found = [tuple(line.split("|")) for line in lines]
        return {(name, made, is_approved == "t", int(events)) for name, made, is_approved, events in found}
    with closing(apsw.Connection(str(gateway.data / "tollgate.db"))) as store:
        return {(name, made, bool(is_approved), events) for name, made, is_approved, events in store.execute(STORED)}


def refuses_connections(gateway: GatewayProcess) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=10):
            return False
    except ConnectionRefusedError:
        return True


@pytest.mark.both_databases
def test_a_stop_under_load_loses_no_answered_payment_and_leaves_none_started(
    gateway: GatewayProcess, acquirer: RecordingAcquirer, request: pytest.FixtureRequest
) -> None:
    client = gateway.client()
    slow = add_channel(gateway, client, "External", "--require-cvv", "--test-url", acquirer.url)
    shoppers = [Shopper(client, f"shopper-{number}", AHEAD[number % len(AHEAD)]) for number in range(SHOPPERS)]
    wait_until(lambda: slow.get("/v1/query/none").code == "700.400.580")
    process, before = gateway.process, len(acquirer.received)
    assert process is not None

    with ThreadPoolExecutor(SHOPPERS + 1) as pool:
        with acquirer.hold():
            held = pool.submit(slow.pay, testMode="EXTERNAL", merchantTransactionId=HELD)
            paying = [pool.submit(shopper.pay_until_closed) for shopper in shoppers]
            wait_until(lambda: len(acquirer.received) > before)
            wait_until(lambda: all(len(shopper.answers) >= BEFORE_THE_STOP for shopper in shoppers))
            process.send_signal(signal.SIGTERM)
            # Others must learn at once that they have to go elsewhere, not when the last payment is answered.
            wait_until(lambda: refuses_connections(gateway))
            for each in paying:
                each.result(STOP_S)
            assert not held.done()
        answers = {HELD: held.result(STOP_S)}
    assert process.wait(timeout=STOP_S) == 0

    for shopper in shoppers:
        answers |= shopper.answers
    assert {answer.status for answer in answers.values()} == {200}
    # Equal sets: what is answered is stored, and what is not answered was not begun.
    assert read_store(gateway, request) == {(name, answer.json["id"], True, 1) for name, answer in answers.items()}
