"""Payments, stored answers and checkouts that were changed in the database are answered as breakage."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import pytest
import sqlalchemy as sa

from api.checking_out import ask, prepare, submit
from api.registration_requests import ask_store
from api.server import SharedServer
from gateway import Answer, Client
from tollgate.store.statements import Statement, Write

BROKEN = "999.999.999"
BACK = "https://shop.example/back"


@pytest.fixture(scope="module")
def server(embedded_server: SharedServer) -> SharedServer:
    """One database suffices, because the others read and write the same bytes."""
    return embedded_server


def change(server: SharedServer, sql: str, values: Mapping[str, str]) -> None:
    step = Write(Statement(sa.text(sql), is_write=True), dict(values), rows=1)
    assert ask_store(server.gateway, lambda database: database.write([step], label="test"))


def double(server: SharedServer, payment_id: str) -> None:
    change(server, "UPDATE payments SET amount = amount * 2 WHERE id = :id", {"id": payment_id})


def check_broken(answer: Answer) -> None:
    assert (answer.status, answer.code) == (500, BROKEN)
    assert set(answer.json) == {"result", "buildNumber", "timestamp", "ndc"}


@pytest.mark.parametrize("path", ["/v1/payments/{}", "/v1/query/{}", "/v3/query/{}"])
def test_a_changed_payment_is_not_answered(server: SharedServer, client: Client, path: str) -> None:
    payment_id = client.pay().json["id"]
    assert client.get(path.format(payment_id)).status == 200

    double(server, payment_id)

    check_broken(client.get(path.format(payment_id)))


@pytest.mark.parametrize("path", ["/v1/query", "/v3/query"])
def test_a_list_goes_on_without_a_changed_payment(server: SharedServer, client: Client, path: str) -> None:
    name = f"changed-{uuid4().hex}"
    first, second = (client.pay(merchantTransactionId=name).json["id"] for _ in range(2))
    double(server, first)

    answer = client.get(path, {"merchantTransactionId": name})

    rows = answer.json.get("payments") or answer.json["records"]
    assert [row["id"] for row in rows] == [second]


def test_a_changed_answer_is_not_replayed(server: SharedServer, client: Client) -> None:
    key = uuid4().hex
    first = client.pay({"Idempotency-Key": key})
    assert client.pay({"Idempotency-Key": key}).body == first.body
    change(server, "UPDATE idempotency_keys SET status = 400 WHERE key = :key", {"key": key})

    check_broken(client.pay({"Idempotency-Key": key}))


def test_a_checkout_answers_no_changed_payment_and_none_of_another_checkout(
    server: SharedServer, client: Client
) -> None:
    paid, other = prepare(client), prepare(client)
    for checkout_id in (paid, other):
        assert submit(client, checkout_id, BACK).status == 200
    swap = "UPDATE checkouts SET subject_id = (SELECT c.subject_id FROM checkouts c WHERE c.id = :other) WHERE id = :id"
    change(server, swap, {"id": paid, "other": other})
    check_broken(ask(client, paid))

    lower = "UPDATE payments SET amount = 1 WHERE id = (SELECT c.subject_id FROM checkouts c WHERE c.id = :id)"
    change(server, lower, {"id": other})
    check_broken(ask(client, other))
