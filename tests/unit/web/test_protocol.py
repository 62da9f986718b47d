"""One connection: requests in order, bounds in size and time, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.values import Refusal
from tollgate.web.callers import Proxies
from tollgate.web.connections import Connections
from tollgate.web.parsing import Head
from tollgate.web.protocol import HttpConnection, _block
from tollgate.web.request import Reply, RequestContext

pytestmark = pytest.mark.anyio

GET = b"GET /a HTTP/1.1\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\n"


class Line(asyncio.Transport):
    """Records what was written and how it ended; may pretend that nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.events: list[str] = []
        self.unsent = 0

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.written += bytes(data)

    def write_eof(self) -> None:
        self.events.append("eof")

    def close(self) -> None:
        self.events.append("closed")

    def abort(self) -> None:
        self.events.append("aborted")

    def pause_reading(self) -> None:
        self.events.append("paused")

    def resume_reading(self) -> None:
        self.events.append("resumed")

    def is_closing(self) -> bool:
        return bool({"closed", "aborted"} & set(self.events))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert (high, low) == (1, 0)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in self.written.split(b"HTTP/1.1 ")[1:]]


@dataclass
class Echo:
    """Answers with the body it got; a path it refuses is /no, and requests may be held back."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    bodies: list[bytes] = field(default_factory=list)
    concluded: list[int | None] = field(default_factory=list)

    def admit(self, head: Head, peer: str, *, is_secure: bool) -> RequestContext:
        context = RequestContext(peer, "", head.method, head.path, head=head, is_secure=is_secure, body_bytes_max=100)
        if head.path == "/no":
            context.refused = Reply(404, b"no")
        elif head.body_length > 100:
            context.refused = Reply(413, b"large", is_last=True)
        return context

    async def answer(self, context: RequestContext, body: bytes) -> Reply:
        assert context.refused is None
        await self.gate.wait()
        self.bodies.append(body)
        return Reply(200, body)

    def refuse(self, refusal: Refusal, context: RequestContext | None) -> Reply:  # noqa: ARG002
        return Reply(refusal.status, b"refused", is_last=True)

    def conclude(self, context: RequestContext, reply: Reply | None) -> None:  # noqa: ARG002
        self.concluded.append(reply.status if reply else None)


@dataclass
class World:
    line: Line
    echo: Echo
    connections: Connections
    connection: HttpConnection

    async def send(self, data: bytes, step: int = LIMITS.read_block_bytes) -> None:
        for start in range(0, len(data), step):
            part = data[start : start + step]
            _block[: len(part)] = part
            self.connection.buffer_updated(len(part))
        await self.complete()

    async def complete(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    def check_after(self, seconds: float) -> None:
        self.connections.check(asyncio.get_running_loop().time() + seconds)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    connections, echo, line = Connections(10, Proxies()), Echo(), Line()
    echo.gate.set()
    peer = connections.enter("192.0.2.1", 0.0)
    assert peer is not None
    connection = HttpConnection(echo, connections, peer, "192.0.2.1", is_secure=False)
    connection.connection_made(line)
    yield World(line, echo, connections, connection)
    echo.gate.set()
    await asyncio.sleep(0)


@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_requests_are_answered_one_after_the_other_however_they_are_cut(world: World, step: int) -> None:
    for number in range(3):
        await world.send(POST + b"a=%d&&" % number, step)
    await world.send(GET, step)

    assert world.echo.bodies == [b"a=0&&", b"a=1&&", b"a=2&&", b""]
    assert world.line.statuses == [200] * 4
    assert not world.line.is_closing()


async def test_a_pipelined_request_waits_unread_until_the_one_ahead_is_answered(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET * 3000)

    assert world.line.events == ["paused"]
    assert world.line.written == b""
    world.echo.gate.set()
    for _ in range(3000):
        await world.complete()
    assert world.line.statuses == [200] * 3000
    assert len(world.echo.bodies) == 3000
    assert world.line.events[-1] == "resumed"


async def test_refusals_of_a_pipeline_share_the_loop_with_others(world: World) -> None:
    turns = 0

    def count() -> None:
        nonlocal turns
        turns += 1
        if len(world.line.statuses) < 100:
            asyncio.get_running_loop().call_soon(count)

    count()
    await world.send(b"GET /no HTTP/1.1\r\n\r\n" * 100)
    for _ in range(20):
        await world.complete()

    assert world.line.statuses == [404] * 100
    assert turns >= 100


async def test_answers_do_not_pile_up_for_a_client_that_does_not_read(world: World) -> None:
    world.line.unsent = 50_000
    world.connection.pause_writing()
    await world.send(GET * 10)
    assert world.line.statuses == [200]

    world.line.unsent = 0
    world.connection.resume_writing()
    for _ in range(10):
        await world.complete()
    assert world.line.statuses == [200] * 10


async def test_a_client_that_takes_too_little_of_its_answer_is_cut_off(world: World) -> None:
    world.line.unsent = 50_000
    world.connection.pause_writing()

    world.line.unsent -= LIMITS.write_progress_bytes
    world.check_after(LIMITS.write_timeout_s + 1)
    assert "aborted" not in world.line.events
    world.line.unsent -= 1
    world.check_after(2 * LIMITS.write_timeout_s + 2)
    assert "aborted" in world.line.events


async def test_upgrade_is_no_reason_to_read_a_body_as_a_request(world: World) -> None:
    inner = b"POST /evil HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"

    await world.send(b"POST /a HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (upgrade, len(inner), inner) + GET)

    assert world.echo.bodies == [inner, b""]


async def test_a_client_that_expects_100_continue_gets_it(world: World) -> None:
    head = POST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    await world.send(head)
    assert world.line.statuses == [100]

    await world.send(b"a=1&&")
    assert world.line.statuses == [100, 200]
    await world.send(head + b"a=2&&")
    assert world.line.statuses == [100, 200, 200]


async def test_who_asks_first_and_is_refused_sends_no_body(world: World) -> None:
    await world.send(POST.replace(b"/a", b"/no").replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))

    assert world.line.statuses == [404]
    assert b"connection: close" in world.line.written
    assert world.line.events == ["eof"]


async def test_a_body_that_nobody_wants_is_read_to_its_end_and_the_next_request_is_served(world: World) -> None:
    await world.send(POST.replace(b"/a", b"/no") + b"a=")
    assert world.line.statuses == []

    await world.send(b"1&&" + GET)
    await world.complete()
    assert world.line.statuses == [404, 200]
    assert world.echo.bodies == [b""]


async def test_a_body_that_is_too_large_is_refused_and_the_client_may_read_why(world: World) -> None:
    await world.send(b"POST /a HTTP/1.1\r\nContent-Length: 101\r\n\r\n")
    assert (world.line.statuses, world.line.events) == ([413], ["eof"])

    await world.send(b"x" * 101)
    world.check_after(LIMITS.linger_s + 1)
    assert (world.line.statuses, world.line.events) == ([413], ["eof", "closed"])


async def test_chunks_that_grow_too_large_are_refused(world: World) -> None:
    await world.send(b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n")

    assert (world.line.statuses, world.echo.concluded) == ([413], [413])


async def test_head_is_answered_without_a_body(world: World) -> None:
    await world.send(b"HEAD /a HTTP/1.1\r\nContent-Length: 5\r\n\r\na=1&&")

    assert b"content-length: 5\r\n" in world.line.written
    assert world.line.written.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("head", [b"GET /a HTTP/1.0\r\n\r\n", b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n"])
async def test_the_last_request_of_a_connection_is_answered_and_closed(world: World, head: bytes) -> None:
    await world.send(head + GET)

    assert world.line.statuses == [200]
    assert b"connection: close" in world.line.written
    assert "closed" in world.line.events


@pytest.mark.parametrize("sent", [b"", GET[:10], GET])
async def test_a_silent_client_is_sent_away(world: World, sent: bytes) -> None:
    await world.send(sent)
    limit = LIMITS.keep_alive_s if sent == GET else LIMITS.read_timeout_s
    answered = world.line.written

    world.check_after(limit - 1)
    assert world.line.events == []
    world.check_after(limit + 1)
    assert (world.line.written, world.line.events) == (answered, ["closed"])


async def test_a_slow_body_is_refused(world: World) -> None:
    await world.send(POST + b"a")
    world.check_after(LIMITS.read_timeout_s + 1)

    assert (world.line.statuses, world.echo.concluded) == ([400], [400])


async def test_a_slow_answer_is_waited_for(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET)
    world.check_after(10 * LIMITS.read_timeout_s)
    assert world.line.events == []

    world.echo.gate.set()
    await world.complete()
    assert world.line.statuses == [200]


async def test_nonsense_is_refused_and_nothing_behind_it_is_read(world: World) -> None:
    await world.send(b"nonsense\r\n\r\n" + GET)

    assert (world.line.statuses, world.line.events) == ([400], ["eof"])
    assert not world.connection.eof_received()


async def test_nonsense_behind_a_request_ends_the_connection_after_its_answer(world: World) -> None:
    await world.send(POST + b"a=1&&" + b"\xc3\xa9")

    assert (world.line.statuses, world.echo.bodies) == ([200], [b"a=1&&"])
    assert b"connection: close" in world.line.written


async def test_a_stop_answers_what_is_in_flight_and_closes(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET)
    world.connections.stop()
    assert world.line.events == []

    world.echo.gate.set()
    await world.complete()
    assert b"connection: close" in world.line.written
    assert world.line.events == ["closed"]


async def test_a_stop_closes_idle_connections_at_once(world: World) -> None:
    await world.send(GET)
    world.connections.stop()

    assert world.line.events == ["closed"]


async def test_a_request_goes_on_although_its_client_is_gone_and_a_stop_waits_for_it(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET)
    world.connection.connection_lost(None)
    assert world.connections.open

    world.echo.gate.set()
    await world.connections.wait_until_empty()
    assert world.echo.concluded == [200]


async def test_half_a_request_of_a_client_that_is_gone_is_given_up(world: World) -> None:
    await world.send(POST + b"a")
    world.connection.connection_lost(None)

    assert (world.echo.concluded, world.connections.open) == ([None], set())


async def test_a_client_that_closed_its_side_still_gets_its_answer(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET)
    assert world.connection.eof_received()

    world.echo.gate.set()
    await world.complete()
    assert (world.line.statuses, world.line.events) == ([200], ["closed"])


async def test_a_client_that_says_no_more_does_not_keep_a_stopping_host_open(world: World) -> None:
    world.echo.gate.clear()
    await world.send(GET + GET)
    world.connections.stop()
    assert world.connection.eof_received()

    world.echo.gate.set()
    await world.complete()
    assert (world.line.statuses, world.line.events[-1]) == ([200], "closed")
