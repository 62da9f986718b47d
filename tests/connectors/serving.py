"""Serves a peer on a real port, over HTTP or as frames of ISO 8583, and spoils the bytes of one answer.

What must hold then is in the tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import StrEnum

from connectors.faults import Peer
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.iso8583 import codec, network
from tollgate.wire import Wire

LONG_S = 60.0
SHORT_S = 0.5
"""The time-out of a message that is never answered."""
_ENDLESS = b"x" * 65_536


class Manner(StrEnum):
    SLOW = "one byte at a time"
    HALF = "half of the answer, then the end"
    HANG_UP = "no answer, then the end"
    HALF_CLOSED = "the end of its own bytes, while it still reads"
    NOISE = "bytes of no protocol"
    ENDLESS = "an answer without an end"
    DEAF = "it never reads"
    LATE = "the answer, when nobody waits any more"


UNHEARD = frozenset({Manner.DEAF, Manner.LATE, Manner.HALF_CLOSED})
"""The manners after which nothing comes within a time-out, or nothing has to."""


class PeerServer:
    """Answers as the peer does, but for one message, which is counted from the beginning."""

    def __init__(self, peer: Peer, scheme: str) -> None:
        self._peer = peer
        self._serve_one = self._serve_frame if scheme == "tcp" else self._serve_http
        self._manner: Manner | None = None
        self._countdown = 0
        self._over = asyncio.Event()
        self.port = 0

    def spoil(self, manner: Manner | None, at: int = 0) -> None:
        """Spoils the message with this number; None lets go of everything that is held."""
        self._manner, self._countdown = manner, at
        if manner is None:
            self._over.set()

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[None]:
        meetings: set[asyncio.Task[None]] = set()

        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            meetings.add(task)
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    while await self._serve_one(reader, writer):
                        pass
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()

        server = await asyncio.start_server(meet, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            self._over.set()
            server.close()
            await asyncio.gather(*meetings)

    async def _serve_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        method, path, _ = head[0].split(" ")
        request = WireRequest(
            path=path,
            body=await reader.readexactly(int(headers.get("Content-Length", "0"))),
            key=headers["Idempotency-Key"],
            method=method,
            headers=headers,
        )

        async def answer() -> bytes:
            reply = await self._peer.answer(request)
            length = len(reply.body)
            return f"HTTP/1.1 {reply.status} OK\r\nContent-Length: {length}\r\n\r\n".encode() + reply.body

        return await self._write(writer, answer, b"HTTP/1.1 200 OK\r\n\r\n")

    async def _serve_frame(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        body = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
        message = codec.decode(body)
        if message.mti == "0800":
            writer.write(_frame(codec.encode(network.make_response(message))))
            return True

        async def answer() -> bytes:
            return _frame((await self._peer.answer(WireRequest(path=message.mti, body=body, key=""))).body)

        return await self._write(writer, answer, b"\xff\xff")

    async def _write(self, writer: asyncio.StreamWriter, act: Callable[[], Awaitable[bytes]], endless: bytes) -> bool:
        """Acts and answers; returns whether the connection goes on."""
        manner = self._manner if self._countdown == 0 else None
        self._countdown -= 1
        if manner is Manner.DEAF:
            await self._over.wait()
            return False
        data = await act()
        match manner:
            case Manner.SLOW:
                for byte in data:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0)
            case Manner.HALF:
                writer.write(data[: len(data) // 2])
            case Manner.HALF_CLOSED:
                writer.write_eof()
                await self._over.wait()
            case Manner.NOISE:
                writer.write(bytes(range(256)))
            case Manner.ENDLESS:
                writer.write(endless)
                while not self._over.is_set():
                    writer.write(_ENDLESS)
                    await writer.drain()
            case Manner.LATE:
                await self._over.wait()
                writer.write(data)
            case None:
                writer.write(data)
        return manner in (None, Manner.SLOW, Manner.LATE)


class RemotePeer:
    """A peer behind a real wire. One message may have a short time-out."""

    def __init__(self, peer: Peer, wire: Wire) -> None:
        self.declines = False
        self._wire = wire
        self._count = 0
        self._short_at: int | None = None
        self.decide_waiting = peer.decide_waiting
        self.alter_amount = peer.alter_amount
        self.names_payment = peer.names_payment
        self.read_position = peer.read_position

    async def answer(self, request: WireRequest) -> WireReply:
        number, self._count = self._count, self._count + 1
        return await self._wire.send(request, SHORT_S if number == self._short_at else LONG_S)

    def begin(self, short_at: int | None) -> None:
        """Counts the messages from here."""
        self._count, self._short_at = 0, short_at


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(2) + body
