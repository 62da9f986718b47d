"""Sealed bytes that were moved to another row open nowhere: the answer is a bare breakage, and nothing is charged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
import sqlalchemy as sa

from api.registration_requests import ask_store, change, pay_with, read, register
from gateway import CARD, Answer, Client, GatewayProcess
from tollgate.store.database import Database
from tollgate.store.statements import Statement, Write

pytestmark = pytest.mark.both_databases

BROKEN = "999.999.999"

_read = Statement(sa.text("SELECT sealed_account FROM registrations WHERE id = :id"))
_read_of_payment = Statement(sa.text("SELECT sealed_account FROM payments WHERE id = :id"))
_put = Statement(sa.text("UPDATE registrations SET sealed_account = :sealed WHERE id = :id"), is_write=True)


def read_sealed(gateway: GatewayProcess, statement: Statement, row_id: str) -> bytes:
    async def fetch(database: Database) -> bytes:
        row = await database.fetch_one(statement, {"id": row_id})
        assert row is not None
        assert isinstance(row[0], bytes)
        return row[0]

    return ask_store(gateway, fetch)


@contextmanager
def put_in(gateway: GatewayProcess, registration_id: str, sealed: bytes) -> Iterator[None]:
    """Puts other sealed bytes into a row for a while."""
    own = read_sealed(gateway, _read, registration_id)
    put_sealed(gateway, registration_id, sealed)
    yield
    put_sealed(gateway, registration_id, own)


def put_sealed(gateway: GatewayProcess, registration_id: str, sealed: bytes) -> None:
    step = Write(_put, {"id": registration_id, "sealed": sealed}, rows=1)
    assert ask_store(gateway, lambda database: database.write([step], label="test"))


def check_nothing_leaks(answer: Answer) -> None:
    assert answer.status == 500
    assert set(answer.json) == {"result", "buildNumber", "timestamp", "ndc"}
    assert answer.code == BROKEN
    for secret in (b"seal", b"owner", b"envelope", b"4200000000000000", b"4111111111111111", b"Traceback"):
        assert secret not in answer.body


@pytest.fixture
def stored(client: Client) -> str:
    return register(client)


@pytest.fixture(params=["another row", "another merchant", "a payment", "a part of itself"])
def foreign(
    request: pytest.FixtureRequest, gateway: GatewayProcess, client: Client, stranger: Client, stored: str
) -> bytes:
    """The account is sealed by this host, for another row."""
    match request.param:
        case "another row":
            return read_sealed(gateway, _read, register(client, {**CARD, "card.number": "4111111111111111"}))
        case "another merchant":
            return read_sealed(gateway, _read, register(stranger))
        case "a payment":
            return read_sealed(gateway, _read_of_payment, client.pay().json["id"])
        case _:
            return read_sealed(gateway, _read, stored)[:-1]


def test_nobody_pays_with_an_account_that_was_moved(
    gateway: GatewayProcess, client: Client, stored: str, foreign: bytes
) -> None:
    name = f"moved-{uuid4().hex}"
    with put_in(gateway, stored, foreign):
        answer = pay_with(client, stored, {"merchantTransactionId": name})

    check_nothing_leaks(answer)
    assert client.get("/v1/query", {"merchantTransactionId": name}).code == "700.400.580"
    assert pay_with(client, stored).status == 200


def test_an_account_that_was_moved_is_not_sealed_anew(
    gateway: GatewayProcess, client: Client, stored: str, foreign: bytes
) -> None:
    """A change that did so would make it this row's own."""
    with put_in(gateway, stored, foreign):
        answer = change(client, stored, {"card.holder": "Jim Jones"})
        kept = read_sealed(gateway, _read, stored)
        shown = read(client, stored)

    check_nothing_leaks(answer)
    assert kept == foreign
    assert shown.json["card"]["holder"] == "Jane Jones"
