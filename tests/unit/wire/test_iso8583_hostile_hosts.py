"""Hosts that close, break off, send garbage, dribble or read nothing: messages in flight are silent, and no more."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.wire import Silent, Unsent, framed
from unit.wire.iso8583_hosts import (
    BRIEF_S,
    SOON_S,
    Visit,
    answer,
    approve_all,
    frame,
    limit,
    make_request,
    read_forever,
    send,
    wired,
    write_bytewise,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "garbage",
    [
        frame(b"HTTP/1.1 400 Bad Request"),
        frame(b"\xff" * 40),
        frame(b""),
        b"\xff\xff" + b"0110" * 10,
        (LIMITS.iso8583_message_bytes_max + 1).to_bytes(2, "big"),
    ],
)
async def test_garbage_leaves_all_in_flight_silent_and_the_next_message_connects_again(garbage: bytes) -> None:
    async def answer_garbage(visit: Visit) -> None:
        if len(visit.host.visits) > 1:
            await approve_all(visit)
        for _ in range(3):
            await visit.read()
        await visit.write(garbage)
        await read_forever(visit)

    async with wired(answer_garbage) as (host, wire):
        ended = await asyncio.gather(*(send(wire, stan) for stan in range(3)), return_exceptions=True)
        assert [type(each) for each in ended] == [Silent] * 3
        assert (await send(wire, 4)).fields[39] == "00"

    assert len(host.visits) == 2


@pytest.mark.parametrize("is_half", [True, False])
async def test_a_host_that_closes_leaves_all_in_flight_silent(*, is_half: bool) -> None:
    async def close_once(visit: Visit) -> None:
        if len(visit.host.visits) > 1:
            await approve_all(visit)
        await visit.read()
        await visit.read()
        if is_half:
            visit.writer.write_eof()
            await visit.reader.read()
        else:
            visit.writer.transport.abort()

    async with wired(close_once) as (host, wire):
        ended = await asyncio.gather(send(wire, 1), send(wire, 2), return_exceptions=True)
        assert [type(each) for each in ended] == [Silent, Silent]
        assert (await send(wire, 3)).fields[39] == "00"

    assert len(host.visits) == 2


async def test_an_answer_that_breaks_off_is_silence() -> None:
    async def break_off(visit: Visit) -> None:
        await visit.write(answer(await visit.read())[:-5])
        visit.writer.close()

    async with wired(break_off) as (_host, wire):
        with pytest.raises(Silent):
            await send(wire)


async def test_one_byte_at_a_time_is_an_answer() -> None:
    async def answer_slowly(visit: Visit) -> None:
        while True:
            await write_bytewise(visit, answer(await visit.read()))

    async with wired(answer_slowly) as (host, wire):
        for stan in (1, 2):
            assert (await send(wire, stan)).fields[39] == "00"

    assert len(host.visits) == 1


async def test_two_answers_in_one_piece_are_two_answers() -> None:
    async def answer_together(visit: Visit) -> None:
        first, second = await visit.read(), await visit.read()
        await visit.write(answer(first) + answer(second))
        await read_forever(visit)

    async with wired(answer_together) as (_host, wire):
        assert len(await asyncio.gather(send(wire, 1), send(wire, 2))) == 2


async def test_a_host_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_write_timeout_s=BRIEF_S)
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    connection = framed.FramedConnection(*await asyncio.open_connection(sock=ours))
    sends = [
        connection.send(make_request(stan).body, queue_s=SOON_S, timeout_s=SOON_S)
        for stan in range(LIMITS.iso8583_in_flight_max)
    ]
    faults = await asyncio.gather(*sends, return_exceptions=True)
    theirs.close()

    # Some were handed to the socket before it was full, and others never.
    assert {type(each) for each in faults} == {Silent, Unsent}
    assert not connection.is_open
