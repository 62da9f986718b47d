"""Times, references and requests of the host at the edges: nothing is sent too late, or taken for what it is not."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tollgate.connectors.exchange import WireRequest
from tollgate.connectors.iso8583 import codec, network
from tollgate.connectors.iso8583.codec import Message
from tollgate.wire import Silent, Unsent, framed
from unit.wire.iso8583_hosts import (
    AT,
    BRIEF_S,
    SOON_S,
    Visit,
    answer,
    approve_all,
    frame,
    limit,
    make_message,
    make_request,
    read_forever,
    send,
    wired,
)

pytestmark = pytest.mark.anyio


def ask_as_host(code: network.NetworkCode) -> bytes:
    return frame(codec.encode(network.make_request(code, stan=77, at=AT, terminal="TERM0001")))


async def test_the_time_that_connecting_took_is_not_waited_for_an_answer() -> None:
    """After that time another process may reverse the payment, and nobody undoes what is approved still later."""

    async def sign_on_late(visit: Visit) -> None:
        await asyncio.sleep(BRIEF_S)
        await read_forever(visit)

    async with wired(sign_on_late) as (_, wire):
        with pytest.raises(Silent) as silence:
            await send(wire, 1, timeout_s=4 * BRIEF_S)

    waited_s = float(silence.value.reason.removeprefix("no answer within ").removesuffix(" s"))
    assert waited_s < 3.5 * BRIEF_S


async def test_the_late_answer_of_another_payment_with_the_same_trace_number_is_dropped() -> None:
    asked: list[Message] = []

    async def answer_both_late(visit: Visit) -> None:
        asked.append(await visit.read())
        asked.append(await visit.read())
        await visit.write(answer(asked[0]))
        await visit.write(answer(asked[1], f39="51"))
        await read_forever(visit)

    def make(reference: str) -> WireRequest:
        return WireRequest(path="0100", body=codec.encode(make_message(1, f37=reference)), key=reference)

    async with wired(answer_both_late) as (_, wire):
        with pytest.raises(Silent):
            await wire.send(make("00000000000A"), BRIEF_S)
        received = codec.decode((await wire.send(make("00000000000B"), SOON_S)).body)

    assert (received.fields[37], received.fields[39]) == ("00000000000B", "51")


async def test_a_host_that_asks_without_end_and_reads_nothing_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_write_timeout_s=SOON_S)
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    theirs.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours)
    connection = framed.FramedConnection(reader, writer)
    sending = asyncio.create_task(connection.send(make_request(1).body, queue_s=SOON_S, timeout_s=SOON_S))
    await asyncio.sleep(0)
    asked = ask_as_host(network.NetworkCode.ECHO) * 5000

    await asyncio.get_running_loop().sock_sendall(theirs, asked + answer(make_message(1)))
    await sending
    kept = writer.transport.get_write_buffer_size()
    connection.close("the test ends")
    theirs.close()

    assert kept < len(asked) / 5


async def test_a_host_that_signs_off_gets_no_further_message_on_that_connection() -> None:
    async def sign_off(visit: Visit) -> None:
        if len(visit.host.visits) > 1:
            await approve_all(visit)
        request = await visit.read()
        await visit.write(ask_as_host(network.NetworkCode.SIGN_OFF))
        assert (await visit.read()).mti == "0810"
        await visit.write(answer(request))
        await read_forever(visit)

    async with wired(sign_off) as (host, wire):
        assert (await send(wire, 1)).fields[39] == "00"
        assert (await send(wire, 2)).fields[39] == "00"

    assert len(host.visits) == 2
    assert host.list_codes() == ["001", "0100", "002", "001", "0100", "002"]


async def test_a_key_that_the_host_sends_by_itself_is_not_answered_as_accepted() -> None:
    answered: list[Message] = []

    async def change_key(visit: Visit) -> None:
        request = await visit.read()
        await visit.write(ask_as_host(network.NetworkCode.KEY_EXCHANGE))
        answered.append(await visit.read())
        await visit.write(answer(request))
        await read_forever(visit)

    async with wired(change_key) as (_, wire):
        await send(wire, 1)

    assert answered[0].fields[39] != network.APPROVED


async def test_a_message_that_waits_for_a_connection_while_the_host_closes_was_never_sent() -> None:
    async def say_nothing(visit: Visit) -> None:
        await visit.reader.read()

    async with wired(say_nothing) as (host, wire):
        sending = asyncio.create_task(wire.send(make_request(1), SOON_S))
        while not host.visits:
            await asyncio.sleep(0.001)
        await wire.close()
        with pytest.raises(Unsent):
            await sending
