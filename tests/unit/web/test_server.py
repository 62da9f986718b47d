"""The application itself: how many requests it takes on at once, and which headers it takes twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.web.api import ROUTES
from tollgate.web.callers import Proxies
from tollgate.web.parsing import HeadReader
from tollgate.web.request import Access, Reply, Request, RequestContext, RouteRow
from tollgate.web.server import Gateway
from tollgate.web.throttling import Throttles, configure_throttles
from unit.app_fixture import ScriptedWire, open_app

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    opened = await open_app(tmp_path, ScriptedWire())
    yield opened
    await opened.database.close()


class Waiting:
    """An endpoint whose requests stay until they are let go."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def answer(self, _request: Request, _app: App) -> Reply:
        await self.gate.wait()
        return Reply(200, b"{}")

    def row(self) -> RouteRow:
        return RouteRow(method="GET", path="/wait", operation="wait", access=Access.OPEN, handler=self.answer)


async def ask(
    gateway: Gateway,
    headers: Sequence[tuple[bytes, bytes]] = (),
    *,
    method: str = "GET",
    path: str = "/wait",
    address: str = "",
) -> Reply:
    context = admit(gateway, headers, method=method, path=path, address=address)
    reply = context.refused or await gateway.answer(context, b"")
    gateway.conclude(context, reply)
    return reply


def admit(
    gateway: Gateway, headers: Sequence[tuple[bytes, bytes]], *, method: str, path: str, address: str = ""
) -> RequestContext:
    reader = HeadReader()
    lines = [f"{method} {path} HTTP/1.1".encode(), *(b"%b: %b" % header for header in headers)]
    reader.feed(b"\r\n".join([*lines, b"", b""]), 0)
    return gateway.admit(reader.read(), address, is_secure=False)


async def test_more_requests_than_a_process_takes_are_answered_with_retry_after(app: App) -> None:
    waiting = Waiting()
    gateway = Gateway(app, [waiting.row()], Throttles([], app.clock, app.keyring, None))
    served = [asyncio.create_task(ask(gateway)) for _ in range(LIMITS.requests_in_flight_max)]
    await asyncio.sleep(0)

    refused = await ask(gateway)

    assert (refused.status, dict(refused.headers)[b"retry-after"]) == (503, b"1")
    assert json.loads(refused.body)["result"]["code"] == "800.800.800"
    waiting.gate.set()
    assert {reply.status for reply in await asyncio.gather(*served)} == {200}
    assert (await ask(gateway)).status == 200


@pytest.mark.parametrize("name", [b"authorization", b"idempotency-key", b"content-type"])
async def test_a_header_that_decides_something_is_not_taken_twice(app: App, name: bytes) -> None:
    gateway = Gateway(app, [Waiting().row()], Throttles([], app.clock, app.keyring, None))

    reply = await ask(gateway, [(name, b"one"), (name, b"two")])

    assert reply.status == 400
    assert "must not be repeated" in json.loads(reply.body)["result"]["description"]


async def test_other_headers_may_come_twice(app: App) -> None:
    waiting = Waiting()
    waiting.gate.set()
    gateway = Gateway(app, [waiting.row()], Throttles([], app.clock, app.keyring, None))

    assert (await ask(gateway, [(b"accept", b"a"), (b"accept", b"b")])).status == 200


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("in_flight_max", [0, 10])
async def test_no_log_line_has_a_shopper_token(
    app: App, monkeypatch: pytest.MonkeyPatch, method: str, in_flight_max: int
) -> None:
    """This holds for an unknown method and for a request that there was no room for."""
    received: list[str] = []
    monkeypatch.setattr("tollgate.web.server.log_access", lambda context, *_: received.append(context.path))
    monkeypatch.setattr("tollgate.web.server.LIMITS", replace(LIMITS, requests_in_flight_max=in_flight_max))
    gateway = Gateway(app, ROUTES, Throttles([], app.clock, app.keyring, None))

    await ask(gateway, method=method, path="/v1/shopper/8a01")

    assert received == ["/v1/shopper/{token}"]


def make_open_row() -> RouteRow:
    """Answers the origin of the request; for scripts of any shop's page."""

    async def answer(request: Request, _app: App) -> Reply:
        return Reply(200, request.address.encode())

    return RouteRow(
        method="GET",
        path="/wait",
        operation="submit_checkout",
        access=Access.OPEN,
        handler=answer,
        is_for_any_origin=True,
    )


async def test_a_shops_script_can_read_that_it_shall_come_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollgate.web.server.LIMITS", replace(LIMITS, requests_in_flight_max=0))

    reply = await ask(Gateway(app, [make_open_row()], Throttles([], app.clock, app.keyring, None)))

    assert reply.status == 503
    assert (b"access-control-allow-origin", b"*") in reply.headers


@pytest.mark.parametrize("is_live", [False, True])
async def test_only_a_test_host_names_parameters_that_nobody_reads(app: App, is_live: bool) -> None:
    row = msgspec.structs.replace(make_open_row(), takes_parameters=True)
    host = msgspec.structs.replace(app, is_live=is_live)

    reply = await ask(
        Gateway(host, [row], Throttles([], app.clock, app.keyring, None)), path="/wait?merchantTransactonId=order-0001"
    )

    assert (b"tollgate-warning" in dict(reply.headers)) is not is_live


async def test_a_live_host_counts_submissions_by_the_network_they_come_from(app: App) -> None:
    rows = configure_throttles("submit_checkout=2/60", is_live=True)
    gateway = Gateway(app, [make_open_row()], Throttles(rows, app.clock, app.keyring, None))
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

    answered = [await ask(gateway, address=address) for address, _ in callers]

    assert [reply.status for reply in answered] == [status for _, status in callers]
    assert (b"access-control-allow-origin", b"*") in answered[2].headers
    assert (await ask(gateway)).status == 200


async def test_an_address_is_passed_on_as_it_is_usually_spelled(app: App) -> None:
    gateway = Gateway(app, [make_open_row()], Throttles([], app.clock, app.keyring, None))
    sent = ["2001:DB8::0:1", "::ffff:192.0.2.1", "fe80::1%eth0", "192.0.2.1", "unknown", "192.0.2.1, 192.0.2.2"]

    received = [(await ask(gateway, address=address)).body.decode() for address in sent]

    assert received == ["2001:db8::1", "192.0.2.1", "fe80::1", "192.0.2.1", "", ""]


def make_form_row(access: Access) -> RouteRow:
    async def take(_request: Request, *_: object) -> Reply:
        return Reply(200, b"{}")

    return RouteRow(method="POST", path="/form", operation="form", access=access, handler=take)


@pytest.mark.parametrize(
    ("access", "headers", "length", "status"),
    [
        (Access.ENTITY, [(b"authorization", b"Bearer guess")], 10, 403),
        (Access.ENTITY, [(b"authorization", b"Basic guess")], 10, 401),
        (Access.ENTITY, [(b"authorization", b"Bearer guess")], LIMITS.body_bytes_max, 403),
        (Access.TOKEN, [], LIMITS.unauthorized_body_bytes_max + 1, 401),
        (Access.TOKEN, [], LIMITS.body_bytes_max + 1, 413),
        (Access.OPEN, [], LIMITS.unauthorized_body_bytes_max + 1, 413),
        (Access.OPEN, [(b"authorization", b"Bearer guess")], LIMITS.unauthorized_body_bytes_max, None),
        (Access.ENTITY, [], LIMITS.unauthorized_body_bytes_max, None),
    ],
)
async def test_a_body_is_read_for_known_tokens_and_small_ones_for_others(
    app: App, access: Access, headers: list[tuple[bytes, bytes]], length: int, status: int | None
) -> None:
    gateway = Gateway(app, [make_form_row(access)], Throttles([], app.clock, app.keyring, None))

    context = admit(gateway, [*headers, (b"content-length", str(length).encode())], method="POST", path="/form")

    assert (context.refused.status if context.refused else None) == status


LIVE = "https://pay.example"


@pytest.mark.parametrize(
    ("address", "scheme", "path", "status"),
    [
        ("10.0.0.5", b"https", "/wait", 200),
        ("10.0.0.5", b"http", "/wait", 307),
        ("10.0.0.5", b"", "/wait", 307),
        ("10.0.0.5", b"", "/healthz", 200),
        ("10.0.0.5", b"http", "/healthz", 200),
        ("10.0.0.6", b"https", "/wait", 403),
        ("10.0.0.6", b"", "/healthz", 403),
        ("", b"https", "/wait", 403),
    ],
)
async def test_a_live_host_behind_a_proxy_is_reached_through_it_by_https_alone(
    app: App, address: str, scheme: bytes, path: str, status: int
) -> None:
    app = msgspec.structs.replace(app, base_url=LIVE)
    proxies = Proxies("10.0.0.5")
    rows = [make_open_row(), *(row for row in ROUTES if row.path == "/healthz")]
    gateway = Gateway(app, rows, Throttles([], app.clock, app.keyring, None), proxies, requires_tls=True)

    reply = await ask(gateway, [(b"x-forwarded-proto", scheme)] if scheme else [], path=f"{path}?a=1", address=address)

    assert reply.status == status
    if status == 307:
        assert reply.headers[0] == (b"location", f"{LIVE}{path}?a=1".encode())
    if status == 403:
        assert json.loads(reply.body)["result"]["code"] == "800.900.300"


async def test_a_test_host_takes_plain_http_behind_a_proxy_too(app: App) -> None:
    gateway = Gateway(app, [make_open_row()], Throttles([], app.clock, app.keyring, None), Proxies("10.0.0.5"))

    assert (await ask(gateway, address="10.0.0.5")).status == 200
    assert (await ask(gateway, address="10.0.0.6")).status == 200


async def test_breakage_before_the_body_is_read_is_answered_too(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(app, [make_form_row(Access.ENTITY)], Throttles([], app.clock, app.keyring, None))
    monkeypatch.setattr("tollgate.web.server.find_credential", lambda *_: 1 / 0)

    reply = await ask(gateway, method="POST", path="/form")

    assert (reply.status, json.loads(reply.body)["result"]["code"]) == (500, "999.999.999")
    assert caplog.records[0].message == "unhandled error"
