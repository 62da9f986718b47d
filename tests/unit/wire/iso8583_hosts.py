"""ISO 8583 hosts on a real port that follow a script, and wires to them. No test lives here."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import AcquirerAccount, WireRequest
from tollgate.connectors.iso8583 import codec, network
from tollgate.connectors.iso8583.codec import Message
from tollgate.wire import ClientTls, Iso8583Wire, framed, iso8583

SOON_S = 60.0
ACCOUNT = AcquirerAccount(
    id="8a829418530df1d201531299e097175c",
    connector=ConnectorName.ISO8583,
    merchant_name="Jones and Daughters",
    terminal_id="TERM0001",
)
BRIEF_S = 0.2
"""A time-out that is meant to pass."""
AT = 1_800_000_000_000_000


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(2, "big") + body


def make_message(stan: int = 1, mti: str = "0100", terminal: str = "TERM0001", **more: str) -> Message:
    fields = {3: "000000", 4: "000000009200", 7: "0115080000", 11: f"{stan:06d}", 41: terminal, 49: "978"}
    return Message(mti, fields | {int(name.removeprefix("f")): text for name, text in more.items()})


def make_request(stan: int = 1, mti: str = "0100", terminal: str = "TERM0001") -> WireRequest:
    return WireRequest(path=mti, body=codec.encode(make_message(stan, mti, terminal)), key=f"key-{stan}")


def answer(request: Message, **changes: str) -> bytes:
    fields = {**request.fields, 39: "00"} | {int(name.removeprefix("f")): text for name, text in changes.items()}
    return frame(codec.encode(Message(codec.get_response_type(request.mti), fields)))


@dataclass
class Visit:
    """One connection of the wire to the host."""

    host: ScriptedHost
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    key: bytes | None = None

    async def read(self) -> Message:
        """Returns the next message; sign-ons, key exchanges and echoes are answered on the way."""
        while True:
            body = await self.reader.readexactly(int.from_bytes(await self.reader.readexactly(2), "big"))
            message = codec.decode(body)
            self.host.received.append(message)
            self.host.bodies.append(body)
            if message.mti == "0800" and message.fields[70] in self.host.answers:
                await self.host.manage(self, message)
            else:
                return message

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


Script = Callable[[Visit], Awaitable[None]]


@dataclass
class ScriptedHost:
    script: Script
    answers: tuple[str, ...] = ("001", "002", "101", "301")
    """The codes of the network messages that it answers."""
    response: str = "00"
    tags: Callable[[Visit], dict[str, str]] = lambda _visit: {}
    """The tags of its answer to a key exchange."""
    received: list[Message] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    port: int = 0

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = Visit(self, reader, writer)
        self.visits.append(visit)
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await self.script(visit)
        writer.close()

    async def manage(self, visit: Visit, message: Message) -> None:
        tags = self.tags(visit) if message.fields[70] == "101" else {}
        body = codec.encode(network.make_response(message, tags=tags, response=self.response))
        await visit.write(frame(body if visit.key is None or tags else network.add_mac(body, visit.key)))

    def list_codes(self) -> list[str]:
        """Lists the codes of the network messages, and the types of the others."""
        return [message.fields.get(70, message.mti) for message in self.received]


@asynccontextmanager
async def hosting(script: Script, *, tls: ssl.SSLContext | None = None, **how: Any) -> AsyncIterator[ScriptedHost]:
    host = ScriptedHost(script, **how)
    server = await asyncio.start_server(host.meet, "127.0.0.1", 0, ssl=tls)
    host.port = server.sockets[0].getsockname()[1]
    try:
        yield host
    finally:
        server.close()
        for visit in host.visits:
            visit.writer.transport.abort()


def make_wire(
    host: ScriptedHost | int | str,
    account: AcquirerAccount = ACCOUNT,
    scheme: str = "tcp",
    *,
    is_open: bool = True,
    folder: Path = Path(),
) -> Iso8583Wire:
    """Makes a wire to a host, a port or an address."""
    address = host if isinstance(host, str) else f"{scheme}://127.0.0.1:{host if isinstance(host, int) else host.port}"
    tls = ClientTls(account.tls, folder)
    return Iso8583Wire(address, account, tls, is_open=is_open, now=lambda: AT, roll=lambda: 0.0)


@asynccontextmanager
async def wired(
    script: Script, *, account: AcquirerAccount = ACCOUNT, **how: Any
) -> AsyncIterator[tuple[ScriptedHost, Iso8583Wire]]:
    async with hosting(script, **how) as host:
        wire = make_wire(host, account)
        try:
            yield host, wire
        finally:
            await wire.close()


async def approve_all(visit: Visit) -> None:
    while True:
        await visit.write(answer(await visit.read()))


async def write_bytewise(visit: Visit, data: Iterable[int]) -> None:
    for byte in data:
        await visit.write(bytes([byte]))
        await asyncio.sleep(0)


async def read_forever(visit: Visit) -> None:
    while True:
        await visit.read()


async def send(
    wire: Iso8583Wire, stan: int = 1, timeout_s: float = SOON_S, mti: str = "0100", terminal: str = "TERM0001"
) -> Message:
    return codec.decode((await wire.send(make_request(stan, mti, terminal), timeout_s)).body)


def limit(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Changes limits for the wire alone."""
    for module in (framed, iso8583):
        monkeypatch.setattr(module, "LIMITS", replace(LIMITS, **changes))
