"""Answers in parts: one of them in memory at a time, an end that shows, and clients that do not read or leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.values import Refusal
from tollgate.web.callers import Proxies
from tollgate.web.connections import Connections
from tollgate.web.parsing import Head
from tollgate.web.protocol import HttpConnection
from tollgate.web.request import Reply, RequestContext
from tollgate.web.server import BrokenStream, guard_chunks

pytestmark = pytest.mark.anyio

GET = b"GET /a HTTP/1.1\r\n\r\n"
PART = b"x" * 65_536
MANY = 2_000
"""So many parts are more than any buffer of the system holds."""
PATIENCE_S = 60


@dataclass
class Parts:
    """Answers every request with a number of parts; it may break after them, or wait before the last."""

    count: int = 3
    part: bytes = b"part"
    is_broken: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    made: int = 0
    has_ended: asyncio.Event = field(default_factory=asyncio.Event)
    concluded: list[int | None] = field(default_factory=list)

    def admit(self, head: Head, peer: str, *, is_secure: bool) -> RequestContext:
        return RequestContext(peer, "", head.method, head.path, head=head, is_secure=is_secure, body_bytes_max=100)

    async def answer(self, context: RequestContext, body: bytes) -> Reply:  # noqa: ARG002
        return Reply(200, b"", b"text/csv", chunks=guard_chunks(self.make(), context))

    async def make(self) -> AsyncGenerator[bytes, None]:
        try:
            for _ in range(self.count):
                self.made += 1
                yield self.part
            await self.gate.wait()
            if self.is_broken:
                raise ValueError("broken in the middle")
            yield b""
            yield b"end"
        finally:
            self.has_ended.set()

    def refuse(self, refusal: Refusal, context: RequestContext | None) -> Reply:  # noqa: ARG002
        return Reply(refusal.status, b"refused", is_last=True)

    def conclude(self, context: RequestContext, reply: Reply | None) -> None:  # noqa: ARG002
        self.concluded.append(reply.status if reply else None)


@dataclass
class Host:
    parts: Parts
    connections: Connections
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read_head(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def read(self, end: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readuntil(end)

    async def wait_for_end(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.parts.has_ended.wait()


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    parts, connections = Parts(), Connections(10, Proxies())
    parts.gate.set()

    def connect() -> HttpConnection:
        peer = connections.enter("127.0.0.1", 0.0)
        assert peer is not None
        return HttpConnection(parts, connections, peer, "127.0.0.1", is_secure=False)

    server = await asyncio.get_running_loop().create_server(connect, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    yield Host(parts, connections, reader, writer)
    connections.abort()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    server.close()


async def test_parts_are_sent_as_chunks_and_the_connection_is_used_again(host: Host) -> None:
    for _ in range(2):
        host.writer.write(GET)
        head = await host.read_head()
        body = await host.read(b"0\r\n\r\n")

        assert b"transfer-encoding: chunked\r\n" in head
        assert b"content-length" not in head
        assert body == b"4\r\npart\r\n" * 3 + b"3\r\nend\r\n0\r\n\r\n"
    assert host.parts.concluded == [200, 200]


async def test_a_client_without_chunks_gets_the_bare_parts_and_the_end_of_the_connection(host: Host) -> None:
    host.writer.write(b"GET /a HTTP/1.0\r\n\r\n")

    head = await host.read_head()
    assert b"transfer-encoding" not in head
    assert await host.reader.read() == b"partpartpartend"


async def test_head_is_answered_without_making_a_single_part(host: Host) -> None:
    host.writer.write(b"HEAD /a HTTP/1.1\r\n\r\n" + b"HEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n")

    heads = await host.reader.read()
    assert heads.count(b"HTTP/1.1 200") == 2
    assert heads.endswith(b"\r\n\r\n")
    assert host.parts.made == 0
    assert host.parts.concluded == [200, 200]


async def test_a_fault_in_the_middle_resets_the_connection_so_that_no_cut_file_looks_whole(host: Host) -> None:
    host.parts.is_broken = True
    host.writer.write(GET)

    with pytest.raises(ConnectionResetError):
        await host.reader.read()
    assert host.parts.concluded == [None]


async def test_a_client_that_never_reads_holds_few_parts_in_memory_and_is_cut_off(host: Host) -> None:
    host.parts.count, host.parts.part = MANY, PART
    host.reader._transport.pause_reading()  # type: ignore[attr-defined]
    host.writer.write(GET)
    async with asyncio.timeout(PATIENCE_S):
        while not host.connections.open or next(iter(host.connections.open))._has_room.is_set():  # type: ignore[attr-defined]
            await asyncio.sleep(0.01)

    loop = asyncio.get_running_loop()
    host.connections.check(loop.time() + LIMITS.write_timeout_s + 1)
    await host.wait_for_end()
    assert 0 < host.parts.made < MANY
    assert host.parts.concluded == [None]


async def test_a_client_that_leaves_ends_the_work_for_it(host: Host) -> None:
    host.parts.count, host.parts.part = MANY, PART
    host.writer.write(GET)
    await host.read_head()
    host.writer.transport.abort()

    await host.wait_for_end()
    assert host.parts.made < MANY
    assert host.parts.concluded == [None]


async def test_a_host_that_stops_lets_an_answer_end_and_closes_the_connection(host: Host) -> None:
    host.parts.gate.clear()
    host.writer.write(GET)
    await host.read_head()
    host.connections.stop()
    host.parts.gate.set()

    assert (await host.reader.read()).endswith(b"3\r\nend\r\n0\r\n\r\n")
    assert host.parts.concluded == [200]


async def test_a_host_that_stops_waiting_cuts_an_answer_off_visibly(host: Host) -> None:
    host.parts.gate.clear()
    host.writer.write(GET)
    await host.read_head()
    host.connections.abort()

    got = b""
    with suppress(ConnectionResetError):
        got = await host.reader.read()
    assert not got.endswith(b"0\r\n\r\n")
    await host.wait_for_end()


async def test_an_error_is_logged_and_ends_the_body(caplog: pytest.LogCaptureFixture) -> None:
    parts = Parts(count=1, is_broken=True)
    parts.gate.set()
    with pytest.raises(BrokenStream):
        [chunk async for chunk in guard_chunks(parts.make(), RequestContext("", "8a01", "GET", "/a"))]
    assert [record.message for record in caplog.records] == ["unhandled error"]
