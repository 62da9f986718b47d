"""The wire to an ISO 8583 host: what never left is told from what was never answered."""

from __future__ import annotations

import asyncio
from itertools import count

import msgspec
import pytest

from ports import find_free_port
from tollgate.connectors.exchange import WireRequest
from tollgate.connectors.iso8583 import codec, transcript
from tollgate.connectors.masking import mask_members
from tollgate.wire import Forbidden, Silent, Unsent
from unit.wire.iso8583_hosts import (
    BRIEF_S,
    SOON_S,
    Visit,
    answer,
    approve_all,
    frame,
    hosting,
    limit,
    make_request,
    make_wire,
    read_forever,
    send,
    wired,
)

pytestmark = pytest.mark.anyio


async def test_the_first_message_connects_and_signs_on_and_later_ones_share_the_connection() -> None:
    async with wired(approve_all) as (host, wire):
        assert host.visits == []
        for stan in (1, 2, 3):
            assert (await send(wire, stan)).fields[39] == "00"

    assert len(host.visits) == 1
    assert host.list_codes() == ["001", "0100", "0100", "0100", "002"]


async def test_an_answer_says_what_it_is_so_that_the_journal_can_mask_it() -> None:
    async with wired(approve_all) as (_, wire):
        request = msgspec.structs.replace(make_request(), content_type=transcript.CONTENT_TYPE)
        reply = await wire.send(request, SOON_S)

    assert mask_members(reply.body, reply.content_type)["39 response code"] == "00 (approved)"


async def test_answers_in_another_order_find_their_requests() -> None:
    async def answer_backwards(visit: Visit) -> None:
        messages = [await visit.read() for _ in range(20)]
        for message in reversed(messages):
            await visit.write(answer(message, f38=f"A{message.fields[11][-5:]}"))
        await read_forever(visit)

    async with wired(answer_backwards) as (host, wire):
        answers = await asyncio.gather(*(send(wire, stan) for stan in range(20)))

    assert [each.fields[38] for each in answers] == [f"A{stan:05d}" for stan in range(20)]
    assert len(host.visits) == 1


async def test_the_same_trace_number_of_two_terminals_is_two_messages() -> None:
    async def answer_both(visit: Visit) -> None:
        first, second = await visit.read(), await visit.read()
        await visit.write(answer(second, f38="SECOND") + answer(first, f38="FIRST "))
        await read_forever(visit)

    async with wired(answer_both) as (_host, wire):
        answers = await asyncio.gather(send(wire, 7, terminal="TERM0001"), send(wire, 7, terminal="TERM0002"))

    assert {each.fields[41]: each.fields[38] for each in answers} in (
        {"TERM0001": "FIRST ", "TERM0002": "SECOND"},
        {"TERM0001": "SECOND", "TERM0002": "FIRST "},
    )


async def test_a_second_message_with_the_same_trace_number_waits_for_the_first() -> None:
    may_answer = asyncio.Event()

    async def hold(visit: Visit) -> None:
        for number in count(1):
            message = await visit.read()
            await may_answer.wait()
            await visit.write(answer(message, f38=f"NO{number:04d}"))

    async with wired(hold) as (host, wire):
        first = asyncio.create_task(send(wire, 7))
        while "0100" not in host.list_codes():
            await asyncio.sleep(0.001)
        second = asyncio.create_task(send(wire, 7, mti="0420"))
        await asyncio.sleep(0.02)
        assert "0420" not in host.list_codes()
        may_answer.set()

        assert [(await each).fields[38] for each in (first, second)] == ["NO0001", "NO0002"]


async def test_a_message_that_could_not_wait_that_long_was_never_sent() -> None:
    async with wired(read_forever) as (host, wire):
        first = asyncio.create_task(send(wire, 7))
        while "0100" not in host.list_codes():
            await asyncio.sleep(0.001)
        with pytest.raises(Unsent):
            await send(wire, 7, BRIEF_S)
        first.cancel()

    assert host.list_codes().count("0100") == 1


async def test_nobody_there_means_that_nothing_was_sent() -> None:
    wire = make_wire(find_free_port())
    with pytest.raises(Unsent):
        await send(wire)
    await wire.close()


@pytest.mark.parametrize("address", ["tcp://", "tcp://host:notaport", "tcp://127.0.0.1:99999", "tls://"])
async def test_an_address_without_a_host_is_sent_nothing(address: str) -> None:
    wire = make_wire(address)
    with pytest.raises(Unsent):
        await send(wire)
    await wire.close()


async def test_a_closed_wire_connects_to_nobody() -> None:
    async with hosting(approve_all) as host:
        wire = make_wire(host, is_open=False)
        with pytest.raises(Forbidden):
            await send(wire)
        await wire.close()

    assert host.visits == []


async def test_a_message_that_cannot_be_read_is_not_sent() -> None:
    async with wired(approve_all) as (host, wire):
        with pytest.raises(Unsent):
            await wire.send(WireRequest(path="", body=b"\x00\x01", key="k"), SOON_S)

    assert set(host.list_codes()) <= {"001", "002"}


async def test_a_host_that_refuses_the_sign_on_is_sent_no_payment() -> None:
    async with wired(approve_all, response="91") as (host, wire):
        with pytest.raises(Unsent):
            await send(wire)

    assert host.list_codes() == ["001"]


async def test_a_host_that_never_answers_the_sign_on_is_sent_no_payment(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_network_timeout_s=BRIEF_S)
    async with wired(read_forever, answers=()) as (host, wire):
        with pytest.raises(Unsent):
            await send(wire)

    assert host.list_codes() == ["001"]


async def test_silence_is_silence_and_the_connection_lives_on(caplog: pytest.LogCaptureFixture) -> None:
    async def answer_late(visit: Visit) -> None:
        first = await visit.read()
        second = await visit.read()
        await visit.write(answer(first, f38="LATE  ") + answer(second, f38="INTIME"))
        await read_forever(visit)

    async with wired(answer_late) as (host, wire):
        with pytest.raises(Silent):
            await send(wire, 1, BRIEF_S)
        assert (await send(wire, 2)).fields[38] == "INTIME"

    assert len(host.visits) == 1
    (record,) = [each for each in caplog.records if each.message == "acquirer answered late"]
    assert (vars(record)["stan"], vars(record)["mti"]) == ("000001", "0110")


async def test_a_late_answer_is_not_taken_for_that_of_a_reversal_with_the_same_trace_number() -> None:
    async def answer_late(visit: Visit) -> None:
        first = await visit.read()
        reversal = await visit.read()
        await visit.write(answer(first) + answer(reversal, f38="UNDONE"))
        await read_forever(visit)

    async with wired(answer_late) as (_host, wire):
        with pytest.raises(Silent):
            await send(wire, 1, BRIEF_S)
        undone = await send(wire, 1, mti="0420")

    assert (undone.mti, undone.fields[38]) == ("0430", "UNDONE")


async def test_the_second_of_two_answers_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def answer_twice(visit: Visit) -> None:
        while True:
            await visit.write(2 * answer(await visit.read()))

    async with wired(answer_twice) as (_host, wire):
        await send(wire, 1)
        await send(wire, 2)

    assert [each.message for each in caplog.records].count("acquirer answered late") == 2


async def test_an_idle_connection_is_kept_by_echoes(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_echo_after_s=0.01)
    async with wired(approve_all) as (host, wire):
        await send(wire)
        while host.list_codes().count("301") < 3:
            await asyncio.sleep(0.001)

    assert len(host.visits) == 1


async def test_an_echo_without_an_answer_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_echo_after_s=0.01, iso8583_network_timeout_s=BRIEF_S)
    async with wired(read_forever, answers=("001",)) as (host, wire):
        with pytest.raises(Silent, match="echo"):
            await send(wire)

    assert host.list_codes().count("301") == 1


async def test_a_connection_that_nobody_uses_is_signed_off(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_echo_after_s=0.01, iso8583_unused_s=0.02)
    async with wired(approve_all) as (host, wire):
        await send(wire, 1)
        while "002" not in host.list_codes():
            await asyncio.sleep(0.001)
        await send(wire, 2)

    assert len(host.visits) == 2


async def test_an_echo_of_the_host_is_answered() -> None:
    answered: list[codec.Message] = []

    async def ask_back(visit: Visit) -> None:
        message = await visit.read()
        echo = codec.Message("0800", {7: "0115080000", 11: "000009", 41: "TERM0001", 70: "301"})
        await visit.write(frame(codec.encode(echo)))
        answered.append(await visit.read())
        await visit.write(answer(message))
        await read_forever(visit)

    async with wired(ask_back) as (_host, wire):
        await send(wire)

    assert [(each.mti, each.fields[39], each.fields[11]) for each in answered] == [("0810", "00", "000009")]


async def test_what_is_in_flight_is_bounded_and_the_rest_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_in_flight_max=2, iso8583_queue_max=3)
    may_answer = asyncio.Event()

    async def hold(visit: Visit) -> None:
        while True:
            message = await visit.read()
            await may_answer.wait()
            await visit.write(answer(message))

    async with wired(hold) as (host, wire):
        await asyncio.wait([tasks := asyncio.create_task(send(wire, 0, BRIEF_S))])
        assert isinstance(tasks.exception(), Silent)
        sent = [asyncio.create_task(send(wire, stan)) for stan in range(1, 7)]
        refused, others = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
        assert [type(each.exception()) for each in refused] == [Unsent]
        may_answer.set()
        assert {(await each).fields[39] for each in others} == {"00"}

    assert host.list_codes().count("0100") == 6


async def test_closing_waits_for_messages_in_flight_and_signs_off() -> None:
    is_closing = asyncio.Event()

    async def hold(visit: Visit) -> None:
        message = await visit.read()
        await is_closing.wait()
        await visit.write(answer(message))
        await read_forever(visit)

    async with hosting(hold) as host:
        wire = make_wire(host)
        sent = asyncio.create_task(send(wire))
        while "0100" not in host.list_codes():
            await asyncio.sleep(0.001)
        closing = asyncio.create_task(wire.close())
        await asyncio.sleep(0.01)
        is_closing.set()
        await closing

        assert (await sent).fields[39] == "00"
    assert host.list_codes() == ["001", "0100", "002"]


async def test_closing_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_drain_s=0.01, iso8583_network_timeout_s=0.01)
    async with hosting(read_forever, answers=("001",)) as host:
        wire = make_wire(host)
        sent = asyncio.create_task(send(wire))
        while "0100" not in host.list_codes():
            await asyncio.sleep(0.001)
        await wire.close()

        with pytest.raises(Silent):
            await sent


async def test_pauses_between_tries_grow_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def note(seconds: float) -> None:
        slept.append(seconds)

    wire = make_wire(find_free_port())
    monkeypatch.setattr(asyncio, "sleep", note)
    for _ in range(8):
        with pytest.raises(Unsent):
            await send(wire)

    assert slept[0] <= 0
    assert slept[1:] == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0], abs=0.05)


async def test_a_message_that_waits_for_a_connection_gives_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, iso8583_pause_s=SOON_S, iso8583_pause_s_max=SOON_S)
    wire = make_wire(find_free_port())
    for _ in range(2):
        with pytest.raises(Unsent):
            await send(wire, 1, BRIEF_S)
    await wire.close()


def test_a_wire_survives_the_end_of_its_loop() -> None:
    wire = make_wire(find_free_port())

    async def pay() -> None:
        async with hosting(approve_all) as host:
            wire._address = make_wire(host)._address
            await send(wire)

    asyncio.run(pay())
    asyncio.run(pay())
    asyncio.run(wire.close())
