"""A notifier and the receivers it meets: honest, hostile, dead, or where it must not go."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.hosting.listener import get_local_certificate
from tollgate.values import SystemClock
from tollgate.wire import Forbidden, HttpNotifier, Silent, Unsent
from tollgate.wire.addresses import CLOSED, Closed

pytestmark = pytest.mark.anyio

SOON_S = 60.0
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """Answers every request as the test chose."""

    answer: bytes | Answering = OK
    heads: list[bytes] = field(default_factory=list)
    callers: list[str] = field(default_factory=list)
    """The local address that each caller connected to."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.callers.append(writer.get_extra_info("sockname")[0])
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
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
    answer: bytes | Answering = OK, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    receiver = Receiver(answer)
    server = await asyncio.start_server(receiver.meet, host, 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@pytest.fixture
async def notifier() -> AsyncIterator[HttpNotifier]:
    notifier = HttpNotifier(is_live=False)
    yield notifier
    await notifier.close()


@pytest.fixture
async def live_notifier() -> AsyncIterator[HttpNotifier]:
    notifier = HttpNotifier(is_live=True)
    yield notifier
    await notifier.close()


async def test_the_notifier_returns_the_status_and_sends_its_name_and_little_else(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        assert await notifier.get(f"{receiver.url}/back?order=1&sig=a%2Fb+c%7E/&id=X#part", SOON_S) == 200

    lines = receiver.heads[0].decode().split("\r\n")
    assert lines[0] == "GET /back?order=1&sig=a%2Fb+c%7E/&id=X HTTP/1.1"
    names = {line.partition(":")[0].lower() for line in lines[1:] if line}
    assert names <= {"host", "user-agent", "accept", "accept-encoding", "connection"}
    assert "User-Agent: Tollgate" in lines


async def test_what_no_request_line_may_hold_is_escaped(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        await notifier.get(f"{receiver.url}/a b\r\nX-Evil: 1?q=\t", SOON_S)
        await notifier.get(f"{receiver.url}/münze?q=ö", SOON_S)

    assert receiver.heads[0].split(b"\r\n")[0] == b"GET /a%20b%0D%0AX-Evil:%201?q=%09 HTTP/1.1"
    assert receiver.heads[1].split(b"\r\n")[0] == b"GET /m%C3%BCnze?q=%C3%B6 HTTP/1.1"
    assert b"\r\nX-Evil" not in receiver.heads[0]


async def test_a_redirect_is_not_followed_and_a_cookie_not_kept(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        receiver.answer = (
            f"HTTP/1.1 302 Found\r\nlocation: {receiver.url}/elsewhere\r\nset-cookie: a=b; Path=/\r\n"
            "content-length: 0\r\n\r\n"
        ).encode()
        statuses = [await notifier.get(receiver.url, SOON_S) for _ in range(2)]

    assert statuses == [302, 302]
    assert len(receiver.heads) == 2
    assert b"ookie" not in receiver.heads[1]


async def test_an_endless_answer_is_read_to_the_limit_only(notifier: HttpNotifier) -> None:
    sent = 0
    was_left_alone = asyncio.Event()

    async def pour(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
                sent += 65_536
        finally:
            was_left_alone.set()

    async with receiving(pour) as receiver, asyncio.timeout(60):
        assert await notifier.get(receiver.url, SOON_S) == 200
        await was_left_alone.wait()
    assert sent < 100 * LIMITS.receiver_reply_bytes_max


@pytest.mark.parametrize(
    "answer",
    [b"", b"SSH-2.0-hello\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", b"HTTP/1.1 200 OK\r\nx: "],
    ids=["nothing", "another protocol", "half a body", "half a head"],
)
async def test_an_answer_that_is_none_is_silence(notifier: HttpNotifier, answer: bytes) -> None:
    async with receiving(answer) as receiver:
        with pytest.raises(Silent):
            await notifier.get(receiver.url, SOON_S)


async def test_a_receiver_that_says_nothing_is_left_after_the_time_given(notifier: HttpNotifier) -> None:
    async def hang(writer: asyncio.StreamWriter) -> None:
        await writer.wait_closed()

    async with receiving(hang) as receiver, asyncio.timeout(60):
        with pytest.raises(Silent):
            await notifier.get(receiver.url, 1.0)
    assert len(receiver.heads) == 1


async def test_a_receiver_that_trickles_is_left_after_the_time_given(notifier: HttpNotifier) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with receiving(trickle) as receiver, asyncio.timeout(60):
        with pytest.raises(Silent):
            await notifier.get(receiver.url, 0.3)


async def test_a_closed_port_and_an_unknown_name_mean_unsent(notifier: HttpNotifier) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for address in (f"http://127.0.0.1:{taken.getsockname()[1]}/", "http://nobody.invalid/"):
            with pytest.raises(Unsent) as fault:
                await notifier.get(address, SOON_S)
            assert fault.type is Unsent


async def test_a_name_server_that_never_answers_means_unsent(
    notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is not silence: a lookup that hangs has sent nothing to the shop."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(*_arguments: Any, **_named: Any) -> list[Any]:
        asyncio.run_coroutine_threadsafe(over.wait(), loop).result()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with pytest.raises(Unsent):
        await notifier.get("http://slow.example/", 0.4)
    over.set()


async def test_a_certificate_that_nobody_vouches_for_means_unsent(notifier: HttpNotifier, tmp_path: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*get_local_certificate(tmp_path, SystemClock().now()))
    async with receiving(tls=tls) as receiver:
        with pytest.raises(Unsent):
            await notifier.get(receiver.url.replace("http:", "https:"), SOON_S)
    assert receiver.heads == []


ODD = (
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "shop://order/1",
    "javascript:alert(1)",
    "//127.0.0.1/",
    "/back",
    "",
    "http:///back",
    "http://",
    "http://shop.example:99999/",
    "http://[::1/",
    "http://user:password@127.0.0.1/",
    "http://user@127.0.0.1/",
    "http://:password@127.0.0.1/",
)


@pytest.mark.parametrize("url", ODD)
@pytest.mark.parametrize("is_live", [True, False])
async def test_only_a_plain_web_address_is_notified(url: str, is_live: bool) -> None:
    notifier = HttpNotifier(is_live=is_live)
    with pytest.raises(Forbidden):
        await notifier.get(url, SOON_S)
    await notifier.close()


INWARD = (
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://127.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://0.0.0.0:{port}/",
    "http://0:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://①②⑦.0.0.1:{port}/",
    "http://10.0.0.1:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/",
)


@pytest.mark.parametrize("pattern", INWARD)
async def test_a_live_host_is_sent_inward_by_no_spelling(live_notifier: HttpNotifier, pattern: str) -> None:
    async with receiving() as receiver:
        with pytest.raises(Forbidden):
            await live_notifier.get(pattern.format(port=receiver.port), 1.0)
    assert receiver.heads == []


def answer_lookups(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """One answer for each lookup; the names that were looked up are returned."""
    asked: list[str] = []
    script = list(answers)

    def look_up(host: str, port: int, *_arguments: Any, **_named: Any) -> list[Any]:
        asked.append(host)
        families = [(socket.AF_INET6 if ":" in address else socket.AF_INET, address) for address in script.pop(0)]
        return [(family, socket.SOCK_STREAM, 6, "", (address, port)) for family, address in families]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("inward", ["127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "::ffff:127.0.0.1"])
async def test_a_name_that_leads_inward_is_forbidden_on_a_live_host(
    live_notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch, inward: str
) -> None:
    asked = answer_lookups(monkeypatch, [inward])
    async with receiving() as receiver:
        with pytest.raises(Forbidden):
            await live_notifier.get(f"http://inward.example:{receiver.port}/", 1.0)
    assert (asked, receiver.heads) == (["inward.example"], [])


async def test_a_name_is_looked_up_once_so_that_its_second_answer_cannot_differ(
    notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with receiving() as receiver:
        asked = answer_lookups(monkeypatch, ["127.0.0.1"])
        assert await notifier.get(f"http://shop.example:{receiver.port}/", SOON_S) == 200
    assert asked == ["shop.example"]
    assert f"Host: shop.example:{receiver.port}".encode() in receiver.heads[0]


async def test_of_a_names_addresses_only_the_open_ones_are_connected_to(
    live_notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here 127.0.0.1 plays the open internet, and its neighbour, where the same shop listens, the inside."""
    asked: list[str] = []

    def find_closed(address: str, *, is_live: bool) -> Closed | None:
        asked.append(address)
        return CLOSED[0] if is_live and address != "127.0.0.1" else None

    monkeypatch.setattr("tollgate.wire.notifier.find_closed", find_closed)
    answer_lookups(monkeypatch, ["127.0.0.2", "127.0.0.1"], ["127.0.0.2"])
    async with receiving(host="0.0.0.0") as receiver:
        assert await live_notifier.get(f"http://mixed.example:{receiver.port}/", SOON_S) == 200
        with pytest.raises(Forbidden):
            await live_notifier.get(f"http://inner.example:{receiver.port}/", SOON_S)
    assert asked == ["127.0.0.2", "127.0.0.1", "127.0.0.2"]
    assert receiver.callers == ["127.0.0.1"]
