"""A notifier and the receivers it meets: honest, hostile or dead. Where it must not go is tested with the guard."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.wire import Forbidden, HttpNotifier, Outgoing, Received, Silent, Unsent
from unit.wire.receivers import OK, SOON_S, ScriptedNames, notifying, receiving

pytestmark = pytest.mark.anyio

KEPT = LIMITS.receiver_reply_kept_bytes_max


@pytest.fixture
async def notifier() -> AsyncIterator[HttpNotifier]:
    async with notifying() as notifier:
        yield notifier


async def test_the_notifier_returns_the_answer_and_sends_its_name_and_little_else(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        url = f"{receiver.url}/back?order=1&sig=a%2Fb+c%7E/&id=X#part"
        assert await notifier.send(Outgoing(url), SOON_S) == Received(200, b"ok", None)

    lines = receiver.heads[0].decode().split("\r\n")
    assert lines[0] == "GET /back?order=1&sig=a%2Fb+c%7E/&id=X HTTP/1.1"
    names = {line.partition(":")[0].lower() for line in lines[1:] if line}
    assert names <= {"host", "user-agent", "accept", "accept-encoding", "connection"}
    assert "User-Agent: Tollgate" in lines


async def test_a_post_carries_its_body_and_headers(notifier: HttpNotifier) -> None:
    async with receiving(requests_max=2) as receiver:
        headers = {"Content-Type": "text/plain", "X-Initialization-Vector": "00FF"}
        await notifier.send(Outgoing(receiver.url, "POST", headers, b"0a\x00b"), SOON_S)
        await notifier.send(Outgoing(receiver.url, "POST"), SOON_S)

    lines = receiver.heads[0].decode().split("\r\n")
    assert lines[0] == "POST / HTTP/1.1"
    assert {"Content-Type: text/plain", "X-Initialization-Vector: 00FF", "User-Agent: Tollgate"} <= set(lines)
    assert receiver.bodies == [b"0a\x00b", b""]
    assert b"content-type" not in receiver.heads[1].lower()


async def test_what_no_request_line_may_hold_is_escaped(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        await notifier.send(Outgoing(f"{receiver.url}/a b\r\nX-Evil: 1?q=\t"), SOON_S)
        await notifier.send(Outgoing(f"{receiver.url}/münze?q=ö"), SOON_S)

    assert receiver.heads[0].split(b"\r\n")[0] == b"GET /a%20b%0D%0AX-Evil:%201?q=%09 HTTP/1.1"
    assert receiver.heads[1].split(b"\r\n")[0] == b"GET /m%C3%BCnze?q=%C3%B6 HTTP/1.1"
    assert b"\r\nX-Evil" not in receiver.heads[0]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_a_cookie_not_kept(
    notifier: HttpNotifier, status: int, method: str
) -> None:
    async with receiving(requests_max=2) as receiver:
        receiver.answer = (
            f"HTTP/1.1 {status} Elsewhere\r\nlocation: {receiver.url}/elsewhere\r\nset-cookie: a=b; Path=/\r\n"
            "content-length: 0\r\n\r\n"
        ).encode()
        statuses = [(await notifier.send(Outgoing(receiver.url, method), SOON_S)).status for _ in range(2)]

    assert statuses == [status, status]
    assert len(receiver.heads) == 2
    assert b"ookie" not in receiver.heads[1]


@pytest.mark.parametrize(
    ("sent", "read"),
    [("120", "120"), ("Wed, 21 Oct 2026 07:28:00 GMT",) * 2, ("9" * 65, None), ("½", None), ("9" * 64,) * 2],
)
async def test_retry_after_is_returned_as_sent_if_it_is_short(
    notifier: HttpNotifier, sent: str, read: str | None
) -> None:
    answer = f"HTTP/1.1 503 Busy\r\nretry-after: {sent}\r\ncontent-length: 0\r\n\r\n".encode()
    async with receiving(answer) as receiver:
        assert await notifier.send(Outgoing(receiver.url, "POST"), SOON_S) == Received(503, b"", read)


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
        assert await notifier.send(Outgoing(receiver.url), SOON_S) == Received(200, b"x" * KEPT)
        await was_left_alone.wait()
    assert sent < 100 * LIMITS.receiver_reply_bytes_max


@pytest.mark.parametrize("length", [KEPT - 1, KEPT, KEPT + 1, LIMITS.receiver_reply_bytes_max])
async def test_a_long_answer_is_read_to_its_end_and_its_beginning_is_returned(
    notifier: HttpNotifier, length: int
) -> None:
    """The connection is kept, which shows that the receiver was not cut off."""
    body = bytes(index % 251 for index in range(length))
    async with receiving(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % length + body, requests_max=2) as receiver:
        answers = [await notifier.send(Outgoing(receiver.url, "POST"), SOON_S) for _ in range(2)]

    assert answers == [Received(200, body[:KEPT])] * 2
    assert receiver.connections == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "connection closed without an answer"),
        (b"HTTP/1.1 200 OK\r\nx: ", "connection closed without an answer"),
        (b"SSH-2.0-hello\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n", "the answer is not HTTP"),
    ],
    ids=["nothing", "half a head", "another protocol", "an endless head"],
)
async def test_an_answer_that_is_none_is_silence(notifier: HttpNotifier, answer: bytes, reason: str) -> None:
    async with receiving(answer) as receiver:
        with pytest.raises(Silent) as fault:
            await notifier.send(Outgoing(receiver.url, "POST"), SOON_S)
    assert fault.value.reason == reason
    assert len(receiver.heads) == 1


async def test_a_reset_is_silence(notifier: HttpNotifier) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def reset_hard(writer: asyncio.StreamWriter) -> None:
        own: socket.socket = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    reasons = []
    for answer in (reset, reset_hard):
        async with receiving(answer) as receiver:
            with pytest.raises(Silent) as fault:
                await notifier.send(Outgoing(receiver.url, "POST", body=b"secret"), SOON_S)
        reasons.append(fault.value.reason)
    assert reasons == ["connection closed without an answer", "connection reset by peer"]


async def hang(writer: asyncio.StreamWriter) -> None:
    await writer.wait_closed()


async def test_a_receiver_that_says_nothing_is_left_after_the_time_given(notifier: HttpNotifier) -> None:
    async with receiving(hang) as receiver, asyncio.timeout(60):
        with pytest.raises(Silent) as fault:
            await notifier.send(Outgoing(receiver.url), 1.5)
    assert fault.value.reason == "no answer within 1.5 s"
    assert len(receiver.heads) == 1


async def test_a_head_that_drips_is_left_after_the_time_given(notifier: HttpNotifier) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with receiving(drip) as receiver, asyncio.timeout(60):
        with pytest.raises(Silent):
            await notifier.send(Outgoing(receiver.url), 0.3)


async def test_the_status_counts_although_the_body_never_ends(notifier: HttpNotifier) -> None:
    """One receiver drips, and the other stalls. Both are left at the same time, which is long enough for a head."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 Broken\r\ncontent-length: 1000000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort")
        await hang(writer)

    async with receiving(drip) as dripping, receiving(stall) as stalling, asyncio.timeout(60):
        dripped, stalled = await asyncio.gather(
            *(notifier.send(Outgoing(receiver.url, "POST"), 5.0) for receiver in (dripping, stalling))
        )
    assert (dripped.status, set(dripped.body)) == (500, set(b"x"))
    assert stalled == Received(200, b"short")


@pytest.mark.parametrize("status", [200, 500])
async def test_the_status_counts_although_the_body_breaks_off(notifier: HttpNotifier, status: int) -> None:
    async with receiving(f"HTTP/1.1 {status} Said\r\ncontent-length: 9\r\n\r\nshort".encode()) as receiver:
        assert await notifier.send(Outgoing(receiver.url, "POST"), SOON_S) == Received(status, b"short")


async def test_a_connection_is_used_again(notifier: HttpNotifier) -> None:
    async with receiving(requests_max=100) as receiver:
        for _ in range(5):
            await notifier.send(Outgoing(receiver.url, "POST", body=b"{}"), SOON_S)
    assert (receiver.connections, len(receiver.heads)) == (1, 5)


async def test_a_connection_that_the_receiver_closed_is_not_used_again(notifier: HttpNotifier) -> None:
    """The receiver ends the connection after its answer, and learns that the notifier has ended it too."""
    ended: asyncio.Queue[bytes] = asyncio.Queue()

    async def answer_and_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        writer.write_eof()
        await ended.put(await reader.read())
        writer.close()

    server = await asyncio.start_server(answer_and_end, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with asyncio.timeout(60):
        for _ in range(3):
            assert (await notifier.send(Outgoing(url, "POST"), SOON_S)).status == 200
            assert await ended.get() == b""
    server.close()


async def test_a_request_that_a_kept_connection_lost_is_sent_again_over_another(notifier: HttpNotifier) -> None:
    """The receiver answers one request on each connection, and closes it when it has read the second."""

    async def answer_first(writer: asyncio.StreamWriter) -> None:
        if len(receiver.heads) != 2:
            writer.write(OK)

    async with receiving(answer_first, requests_max=2) as receiver, asyncio.timeout(60):
        request = Outgoing(receiver.url, "POST")
        assert [(await notifier.send(request, SOON_S)).status for _ in range(2)] == [200, 200]
    assert (receiver.connections, len(receiver.heads)) == (2, 3)


async def test_a_kept_connection_is_not_led_elsewhere_by_its_name() -> None:
    """The name leads to this machine once; its second answer is only read when another connection is made."""
    names = ScriptedNames([["127.0.0.1"], ["169.254.169.254"]])
    async with notifying(look_up=names.look_up) as notifier, receiving(requests_max=2) as receiver:
        url = f"http://shop.example:{receiver.port}/"
        await notifier.send(Outgoing(url, "POST"), SOON_S)
        receiver.answer = OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        await notifier.send(Outgoing(url, "POST"), SOON_S)
        with pytest.raises(Forbidden, match=r"address 169\.254\.169\.254 is link-local"):
            await notifier.send(Outgoing(url, "POST"), SOON_S)
    assert names.asked == ["shop.example"] * 2
    assert (receiver.connections, len(receiver.heads)) == (1, 2)
    assert f"Host: shop.example:{receiver.port}".encode() in receiver.heads[0]


async def test_a_closed_port_and_an_unknown_name_mean_unsent() -> None:
    reasons = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for url in (f"http://127.0.0.1:{taken.getsockname()[1]}/?token=secret", "http://nobody.example/?token=secret"):
            async with notifying(look_up=ScriptedNames([]).look_up) as notifier:
                with pytest.raises(Unsent) as fault:
                    await notifier.send(Outgoing(url), SOON_S)
            assert fault.type is Unsent
            reasons.append(fault.value.reason)
    assert reasons == ["connection refused", "name not found"]


async def test_a_name_without_an_address_means_unsent() -> None:
    async with notifying(look_up=ScriptedNames([[]]).look_up) as notifier:
        with pytest.raises(Unsent, match="name not found") as fault:
            await notifier.send(Outgoing("http://empty.example/"), SOON_S)
    assert fault.type is Unsent


async def test_the_system_looks_up_names(notifier: HttpNotifier) -> None:
    async with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", "localhost")
        assert (await notifier.send(Outgoing(url), SOON_S)).status == 200


async def test_a_name_server_that_never_answers_means_unsent_and_takes_one_thread(
    notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is not silence: a lookup that hangs has sent nothing to the shop."""
    over = threading.Event()
    asked: list[str] = []

    def hang_up(host: str, *_arguments: Any, **_named: Any) -> list[Any]:
        asked.append(host)
        over.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "late")

    monkeypatch.setattr(socket, "getaddrinfo", hang_up)
    try:
        sends = [notifier.send(Outgoing("http://slow.example/"), 0.4) for _ in range(5)]
        faults = await asyncio.gather(*sends, return_exceptions=True)
    finally:
        over.set()
    assert [(type(fault), str(fault)) for fault in faults] == [(Unsent, "no connection within 0.2 s")] * 5
    assert asked == ["slow.example"]


async def test_a_failing_name_server_is_named_as_the_reason(
    notifier: HttpNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any, **_named: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_AGAIN, "again")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(Unsent, match="the name server does not answer"):
        await notifier.send(Outgoing("http://shop.example/"), SOON_S)
