"""Accepting connections: within the caps, behind TLS, and given back however a handshake ends."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from tollgate.catalog.limits import LIMITS
from tollgate.hosting.certificate import get_local_certificate
from tollgate.hosting.listener import Listener, Redirector
from tollgate.values import SystemClock
from tollgate.web.callers import Proxies
from tollgate.web.connections import Connections
from tollgate.web.parsing import Head
from tollgate.web.request import Reply, RequestContext

ROOM = 3
Visit = Callable[[int, Connections], Awaitable[None]]


class Flood(Redirector):
    """Answers every request with more than fits into the buffers of a connection."""

    def admit(self, head: Head, peer: str, *, is_secure: bool) -> RequestContext:
        visit = super().admit(head, peer, is_secure=is_secure)
        visit.refused = Reply(200, b"x" * 32 * 1024 * 1024)
        return visit


def serve(visit: Visit, tls: ssl.SSLContext | None = None, application: Redirector | None = None) -> None:
    """Runs a listener in the loop of a real host while it is visited."""

    async def run() -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        connections = Connections(ROOM, Proxies())
        served = application or Redirector("https://pay.example")
        listener = Listener(listening, served, connections, tls)
        listener.open()
        try:
            await asyncio.wait_for(visit(listening.getsockname()[1], connections), timeout=50)
        finally:
            listener.close()

    uvloop.run(run())


async def wait_for(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*get_local_certificate(tmp_path, SystemClock().wall()))
    return context


def has_room(connections: Connections) -> bool:
    entered = [connections.enter("192.0.2.1", 0.0) for _ in range(ROOM)]
    for peer in filter(None, entered):
        connections.leave(peer)
    return None not in entered


def test_a_connection_beyond_the_cap_is_closed_and_room_comes_back() -> None:
    async def visit(port: int, connections: Connections) -> None:
        lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(ROOM)]
        await wait_for(lambda: len(connections.open) == ROOM)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
        for _, line in lines:
            line.close()
        await wait_for(lambda: has_room(connections))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 307 ")
        writer.close()

    serve(visit)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05"])
def test_a_handshake_that_fails_gives_its_room_back(tls: ssl.SSLContext, sent: bytes) -> None:
    async def visit(port: int, connections: Connections) -> None:
        lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(ROOM)]
        for _, line in lines:
            line.write(sent)
        if not sent:
            await wait_for(lambda: not has_room(connections))
        for _, line in lines:
            line.close()
        await wait_for(lambda: has_room(connections))
        assert not connections.open

    serve(visit, tls)


@pytest.mark.parametrize("is_secure", [True, False])
def test_a_client_that_never_reads_is_cut_off(tls: ssl.SSLContext, is_secure: bool) -> None:
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE

    async def visit(port: int, connections: Connections) -> None:
        loop = asyncio.get_running_loop()
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024, ssl=blind if is_secure else None)
        writer.write(b"GET / HTTP/1.1\r\n\r\n" * 3)
        await wait_for(lambda: len(connections.open) == 1)
        late = loop.time()
        while connections.open:
            # Each look is as much later as a client has time to read.
            late += LIMITS.write_timeout_s + 1
            connections.check(late)
            await asyncio.sleep(0.05)
        assert has_room(connections)
        writer.transport.abort()

    serve(visit, tls if is_secure else None, Flood("https://pay.example"))


def test_a_handshake_that_never_ends_is_given_up(tls: ssl.SSLContext) -> None:
    patience = LIMITS.read_timeout_s
    object.__setattr__(LIMITS, "read_timeout_s", 0.2)
    try:

        async def visit(port: int, connections: Connections) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.read() == b""
            writer.close()
            await wait_for(lambda: has_room(connections))

        serve(visit, tls)
    finally:
        object.__setattr__(LIMITS, "read_timeout_s", patience)
