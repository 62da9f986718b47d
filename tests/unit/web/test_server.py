"""The application itself: how many requests it takes on at once, and which headers it takes twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tollgate.catalog import LIMITS
from tollgate.steps import House
from tollgate.web import ROUTES, Access, Gateway, Reply, Request, RouteRow, Throttles, configure_throttles
from unit.premises import ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    opened = await open_house(tmp_path, ScriptedWire())
    yield opened
    await opened.database.close()


class Waiting:
    """An endpoint whose requests stay until they are let go."""

    def __init__(self, *headers: tuple[bytes, bytes]) -> None:
        self.gate = asyncio.Event()
        self.headers = headers

    async def answer(self, _request: Request, _house: House) -> Reply:
        await self.gate.wait()
        return Reply(200, b"{}", headers=self.headers)

    def row(self) -> RouteRow:
        return RouteRow(
            method="GET", path="/wait", operation="wait", summary="Waits.", access=Access.OPEN, handler=self.answer
        )


async def ask(
    gateway: Gateway,
    headers: list[tuple[bytes, bytes]] | None = None,
    *,
    method: str = "GET",
    path: str = "/wait",
    client: tuple[str, int] | None = None,
) -> list[dict[str, Any]]:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "scheme": "http", "client": client}
    await gateway({**scope, "headers": headers or []}, receive, send)
    return sent


async def test_more_requests_than_a_process_takes_on_are_told_to_come_back(house: House) -> None:
    waiting = Waiting()
    gateway = Gateway(house, [waiting.row()], Throttles([], house.clock))
    served = [asyncio.create_task(ask(gateway)) for _ in range(LIMITS.requests_in_flight_max)]
    await asyncio.sleep(0)

    start, body = await ask(gateway)

    assert (start["status"], dict(start["headers"])[b"retry-after"]) == (503, b"1")
    assert json.loads(body["body"])["result"]["code"] == "800.800.800"
    waiting.gate.set()
    answers = await asyncio.gather(*served)
    assert {start["status"] for start, _ in answers} == {200}
    assert (await ask(gateway))[0]["status"] == 200


@pytest.mark.parametrize("name", [b"authorization", b"idempotency-key", b"content-type"])
async def test_a_header_that_decides_something_is_not_taken_twice(house: House, name: bytes) -> None:
    gateway = Gateway(house, [Waiting().row()], Throttles([], house.clock))

    start, body = await ask(gateway, [(name, b"one"), (name, b"two")])

    assert start["status"] == 400
    assert "must not be repeated" in json.loads(body["body"])["result"]["description"]


async def test_other_headers_may_come_twice(house: House) -> None:
    waiting = Waiting()
    waiting.gate.set()
    gateway = Gateway(house, [waiting.row()], Throttles([], house.clock))

    assert (await ask(gateway, [(b"accept", b"a"), (b"accept", b"b")]))[0]["status"] == 200


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        ((), [b"max-age=0, no-cache, no-store"]),
        (((b"cache-control", b"public, immutable"),), [b"public, immutable"]),
    ],
)
async def test_an_answer_is_kept_by_nobody_unless_it_says_so(
    house: House, own: tuple[tuple[bytes, bytes], ...], sent: list[bytes]
) -> None:
    waiting = Waiting(*own)
    waiting.gate.set()
    start, _ = await ask(Gateway(house, [waiting.row()], Throttles([], house.clock)))

    assert [value for name, value in start["headers"] if name == b"cache-control"] == sent
    assert (b"pragma" in dict(start["headers"])) == (not own)


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("in_flight_max", [0, 10])
async def test_no_log_line_names_a_shoppers_ticket(
    house: House, monkeypatch: pytest.MonkeyPatch, method: str, in_flight_max: int
) -> None:
    """Neither of a method that the door does not know, nor of a visit that there was no room for."""
    told: list[str] = []
    monkeypatch.setattr("tollgate.web.server.tell_access", lambda visit, *_: told.append(visit.path))
    monkeypatch.setattr("tollgate.web.server.LIMITS", replace(LIMITS, requests_in_flight_max=in_flight_max))
    gateway = Gateway(house, ROUTES, Throttles([], house.clock))

    await ask(gateway, method=method, path="/v1/shopper/8a01")

    assert told == ["/v1/shopper/{ticket}"]


def make_open_row() -> RouteRow:
    """Tells where it was asked from; for scripts of any shop's page."""

    async def answer(request: Request, _house: House) -> Reply:
        return Reply(200, request.address.encode())

    return RouteRow(
        method="GET",
        path="/wait",
        operation="submit_checkout",
        summary="Tells.",
        access=Access.OPEN,
        handler=answer,
        is_for_any_origin=True,
    )


async def test_a_shops_script_can_read_that_it_shall_come_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollgate.web.server.LIMITS", replace(LIMITS, requests_in_flight_max=0))

    start, _ = await ask(Gateway(house, [make_open_row()], Throttles([], house.clock)))

    assert start["status"] == 503
    assert (b"access-control-allow-origin", b"*") in start["headers"]


async def test_a_live_host_counts_submissions_by_the_network_they_come_from(house: House) -> None:
    rows = configure_throttles("submit_checkout=2/60", is_live=True)
    gateway = Gateway(house, [make_open_row()], Throttles(rows, house.clock))
    callers = [
        ("2001:db8:1:2::1", 200),
        ("2001:db8:1:2:ffff::9", 200),
        ("2001:DB8:1:2:0:0:0:3", 429),
        ("2001:db8:1:3::1", 200),
        ("192.0.2.1", 200),
        ("::ffff:192.0.2.1", 200),
        ("192.0.2.1", 429),
        ("192.0.2.2", 200),
        *[(nobody, 200) for nobody in ("", "unknown", "/run/gate.sock") * 3],
    ]

    answered = [await ask(gateway, client=(address, 0)) for address, _ in callers]

    assert [start["status"] for start, _ in answered] == [status for _, status in callers]
    refused = answered[2][0]["headers"]
    assert (b"access-control-allow-origin", b"*") in refused
    assert (await ask(gateway))[0]["status"] == 200


async def test_an_address_is_told_on_as_it_is_usually_spelled(house: House) -> None:
    gateway = Gateway(house, [make_open_row()], Throttles([], house.clock))
    sent = ["2001:DB8::0:1", "::ffff:192.0.2.1", "fe80::1%eth0", "192.0.2.1", "unknown", "192.0.2.1, 192.0.2.2"]

    told = [(await ask(gateway, client=(address, 0)))[1]["body"].decode() for address in sent]

    assert told == ["2001:db8::1", "192.0.2.1", "fe80::1", "192.0.2.1", "", ""]
