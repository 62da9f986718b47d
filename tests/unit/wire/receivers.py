"""Receivers of notifications on a real port, and look-ups that follow a script. No test lives here."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tollgate.wire import Guard, HttpNotifier
from tollgate.wire.names import LookUp

SOON_S = 60.0
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
PORTS = frozenset({443, 8443})

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """Answers every request as the test chose."""

    answer: bytes | Answering = OK
    requests_max: int = 1
    """A connection is closed after so many answers."""
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            for _ in range(self.requests_max):
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(int(length[1]) if length else 0))
                if isinstance(self.answer, bytes):
                    writer.write(self.answer)
                    await writer.drain()
                else:
                    await self.answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(
    answer: bytes | Answering = OK, *, tls: ssl.SSLContext | None = None, requests_max: int = 1
) -> AsyncIterator[Receiver]:
    receiver = Receiver(answer, requests_max)
    server = await asyncio.start_server(receiver.meet, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@asynccontextmanager
async def notifying(
    *, is_live: bool = False, ports: frozenset[int] = PORTS, look_up: LookUp | None = None, ca_file: str = ""
) -> AsyncIterator[HttpNotifier]:
    notifier = HttpNotifier(Guard(is_live=is_live, ports=ports), look_up=look_up, ca_file=ca_file)
    try:
        yield notifier
    finally:
        await notifier.close()


@dataclass
class ScriptedNames:
    """Answers look-ups from the front of the script, whatever the name."""

    script: list[Sequence[str]]
    asked: list[str] = field(default_factory=list)

    async def look_up(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if not self.script:
            raise socket.gaierror(socket.EAI_NONAME, "the script is over")
        return self.script.pop(0)
