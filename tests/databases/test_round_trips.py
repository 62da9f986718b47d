"""The round trips of a payment and of its follow-ups on PostgreSQL, counted on the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from postgres import PostgresCluster
from tollgate import wiring
from tollgate.config import Settings
from tollgate.store.opening import open_database
from tollgate.web.parsing import HeadReader
from tollgate.web.server import Gateway

pytestmark = pytest.mark.anyio

APPROVED = "000.100.110"
_WAITED_FOR = frozenset(b"SHQ")
"""Sync, Flush and Query: the messages after which the client waits for the server."""
CARD = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.holder": "Jane Jones",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "123",
}
PAYMENT, FOLLOW_UP = 2, 3
"""A payment writes twice. A follow-up reads once before; a key is looked up first, which is one more of either."""


class Relay:
    """Forwards bytes to the server and counts the messages for which the client waits."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.round_trips = 0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)

        async def send() -> None:
            # What comes first has no kind: the request for TLS, which the server refuses, and the parameters.
            for _ in range(2):
                size = await reader.readexactly(4)
                server_writer.write(size + await reader.readexactly(int.from_bytes(size) - 4))
            while head := await reader.readexactly(5):
                self.round_trips += head[0] in _WAITED_FOR
                server_writer.write(head + await reader.readexactly(int.from_bytes(head[1:]) - 4))

        async def receive() -> None:
            while chunk := await server_reader.read(65536):
                writer.write(chunk)

        ends = [asyncio.ensure_future(send()), asyncio.ensure_future(receive())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for each in ends:
            each.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        writer.close()
        server_writer.close()


@dataclass
class Shop:
    """A merchant who asks a gateway in this process, which has no workers, so that nothing else is counted."""

    gateway: Gateway
    relay: Relay
    entity_id: str
    access_token: str

    async def send(self, path: str, key: str = "", **fields: str) -> dict[str, Any]:
        body = urlencode({"entityId": self.entity_id, **fields}).encode()
        lines = [f"POST {path} HTTP/1.1", f"Authorization: Bearer {self.access_token}"]
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        lines += [f"Idempotency-Key: {key}"] if key else []
        reader = HeadReader()
        reader.feed("\r\n".join([*lines, "", ""]).encode(), 0)
        context = self.gateway.admit(reader.read(), "127.0.0.1", is_secure=False)
        assert context.refused is None
        reply = await self.gateway.answer(context, body)
        answer: dict[str, Any] = json.loads(reply.body)
        return answer

    async def count(self, path: str, key: str = "", **fields: str) -> tuple[str, int]:
        """Returns the id of what was approved, and the round trips of its request."""
        before = self.relay.round_trips
        answer = await self.send(path, key, **fields)
        assert answer["result"]["code"] == APPROVED, answer
        return answer["id"], self.relay.round_trips - before

    async def warm_up(self) -> None:
        """A statement is prepared the first time that its connection runs it, which takes more."""
        for key in ("", "warm-"):
            debit, _ = await self.pay("DB", key and f"{key}debit")
            await self.follow(debit, "RF", "1.00", key and f"{key}refund")

    def pay(self, payment_type: str, key: str = "") -> Awaitable[tuple[str, int]]:
        return self.count("/v1/payments", key, paymentType=payment_type, **CARD)

    def follow(
        self, payment_id: str, payment_type: str, amount: str = "", key: str = "", **fields: str
    ) -> Awaitable[tuple[str, int]]:
        sent = {"amount": amount, "currency": "EUR"} if amount else {}
        return self.count(f"/v1/payments/{payment_id}", key, paymentType=payment_type, **sent, **fields)


@pytest.fixture
async def shop(cluster: PostgresCluster, postgres_template: str, tmp_path: Path) -> AsyncIterator[Shop]:
    url = cluster.create_database(postgres_template)
    relay = Relay(cluster.port)
    server = await asyncio.start_server(relay.carry, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = Settings(data=str(tmp_path), database=url.replace(f":{cluster.port}/", f":{port}/"))
    database = await open_database(url)
    await wiring.prepare_keyring(settings, database)
    await database.close()
    host = await wiring.open_host(settings, exclusive=True)
    try:
        app = host.app
        greeting = await wiring.make_greeting(app.database, app.keyring, settings.base_url, app.clock)
        shown = json.loads(greeting.json)
        shop = Shop(host.gateway, relay, shown["entityId"], shown["accessToken"])
        await shop.warm_up()
        yield shop
    finally:
        await host.close()
        server.close()
        cluster.drop_database(url)


async def test_a_payment_takes_two_round_trips(shop: Shop) -> None:
    assert [(await shop.pay(each))[1] for each in ("DB", "PA")] == [PAYMENT] * 2


async def test_a_refund_a_capture_and_a_reversal_take_three(shop: Shop) -> None:
    debit, reversed_debit, hold, void_hold = [(await shop.pay(each))[0] for each in ("DB", "DB", "PA", "PA")]

    capture, captured = await shop.follow(hold, "CP", "40.00")
    _, final = await shop.follow(hold, "CP", "10.00", sequence="FINAL")
    others = [
        (await shop.follow(debit, "RF", "40.00"))[1],
        (await shop.follow(debit, "RF", "52.00"))[1],
        (await shop.follow(capture, "RF", "40.00"))[1],
        (await shop.follow(reversed_debit, "RV"))[1],
        (await shop.follow(void_hold, "RV"))[1],
        (await shop.follow(debit, "RB", "1.00"))[1],
    ]

    assert [captured, final, *others] == [FOLLOW_UP] * 8


async def test_a_refused_follow_up_takes_three(shop: Shop) -> None:
    debit, _ = await shop.pay("DB")
    before = shop.relay.round_trips

    refused = await shop.send(f"/v1/payments/{debit}", paymentType="CP", amount="1.00", currency="EUR")

    assert refused["result"]["code"] == "700.400.510"
    assert shop.relay.round_trips - before == FOLLOW_UP


async def test_an_idempotency_key_is_looked_up_first(shop: Shop) -> None:
    debit, paid = await shop.pay("DB", key="pay-1")
    refund, refunded = await shop.follow(debit, "RF", "40.00", key="refund-1")
    again, repeated = await shop.follow(debit, "RF", "40.00", key="refund-1")

    assert (paid, refunded, repeated) == (PAYMENT + 1, FOLLOW_UP + 1, 1)
    assert again == refund
