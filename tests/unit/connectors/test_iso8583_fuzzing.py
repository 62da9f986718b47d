"""Whatever bytes come, the reader of ISO 8583 raises Unreadable and nothing else, and transcripts show no account."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.connectors.iso8583 import codec, messages, network, transcript
from tollgate.connectors.iso8583.codec import Unreadable
from tollgate.values import Secret
from unit.connectors.iso8583_samples import (
    ACCOUNT,
    ACTIONS,
    CVV,
    FIRST,
    NUMBER,
    ORIGINAL,
    PA_ORDER,
    answer,
    make_follow_up,
)
from unit.connectors.samples import CARD

SEED = 8583
KEY = bytes(16)


def list_messages() -> list[bytes]:
    """Every message that the connector makes, and some answers."""
    charge = messages.make_charge(ACCOUNT, PA_ORDER, FIRST)
    follow_ups = [messages.make_follow_up(ACCOUNT, make_follow_up(word), word, ORIGINAL) for word in ACTIONS]
    made = [charge, *follow_ups, messages.make_reversal_advice(ACCOUNT, ORIGINAL)]
    requests = [codec.encode(message) for message in (*made, *map(messages.make_repeat, made))]
    exchange = network.make_request(network.NetworkCode.KEY_EXCHANGE, stan=7, at=0, terminal="TERM01")
    wrapped = network.make_response(exchange, tags=network.wrap_working_key(KEY, KEY))
    signed = [network.add_mac(request, KEY) for request in requests]
    return [*requests, *signed, *map(answer, requests), codec.encode(exchange), codec.encode(wrapped)]


def mutate(random: Random, data: bytes) -> bytes:
    """Changes, removes, inserts, repeats or cuts bytes, up to four times."""
    mutant = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(mutant) + 1)
        match random.randrange(6):
            case 0:
                mutant[place : place + 1] = random.randbytes(1)
            case 1:
                del mutant[place : place + random.randint(1, 8)]
            case 2:
                mutant[place:place] = random.randbytes(random.randint(1, 8))
            case 3:
                mutant[place : place + 1] = random.choice(b"0123456789 +-_").to_bytes()
            case 4:
                del mutant[place:]
            case _ if mutant:
                mutant[place % len(mutant)] ^= 1 << random.randrange(8)
    return bytes(mutant)


def list_inputs(count: int) -> Iterator[bytes]:
    """Three quarters are damaged messages; the rest are random bytes, with and without a plausible beginning."""
    random, samples = Random(SEED), list_messages()
    for number in range(count):
        if number % 4:
            yield mutate(random, random.choice(samples))
        else:
            yield random.choice([b"", b"0100", b"0110", samples[0][:20]]) + random.randbytes(random.randrange(200))


def try_to_read(count: int) -> None:
    places = []
    for data in list_inputs(count):
        try:
            message = codec.decode(data)
        except Unreadable as fault:
            places.append((fault.position, len(data)))
        else:
            # What was accepted can be written again, so nothing was guessed.
            assert codec.decode(codec.encode(message)) == message
    assert all(0 <= position <= length for position, length in places)
    # Inputs that are nearly all refused, or nearly all accepted, would show little.
    assert count / 2 < len(places) < count


def test_damaged_messages_raise_unreadable_and_nothing_else() -> None:
    try_to_read(10_000)


@pytest.mark.prove
def test_a_hundred_thousand_damaged_messages_raise_unreadable_and_nothing_else() -> None:
    try_to_read(100_000)


@given(st.binary(max_size=300))
def test_random_bytes_raise_unreadable_and_nothing_else(data: bytes) -> None:
    with pytest.raises(Unreadable):
        codec.decode(data)


@given(st.sampled_from(["0100", "0110", "0420"]), st.integers(0, 2**64 - 1), st.binary(max_size=300))
def test_any_bitmap_before_random_bytes_is_refused_or_read(mti: str, bitmap: int, rest: bytes) -> None:
    reading = codec.read(mti.encode() + bitmap.to_bytes(8, "big") + rest)

    assert reading.parts[0].text == mti
    assert reading.fault is None or reading.fault.position >= 4


def test_no_transcript_of_a_damaged_message_shows_its_account() -> None:
    random, number = Random(SEED), "4539578763621486"
    card = msgspec.structs.replace(CARD, number=Secret(number))
    data = codec.encode(messages.make_charge(ACCOUNT, msgspec.structs.replace(PA_ORDER, account=card), FIRST))
    pieces = [number[start : start + 11] for start in range(6)]

    for _ in range(3_000):
        lines = transcript.explain(mutate(random, data)).lines
        # The account may have come into elements that are shown, one after the other.
        together = "".join(line.raw for line in lines)
        assert not [piece for piece in pieces if piece in together]


@pytest.mark.parametrize("data", list_messages()[:16])
def test_no_transcript_shows_the_account_or_its_cvv(data: bytes) -> None:
    shown = transcript.explain(data).render()

    assert NUMBER not in shown
    assert f"  {CVV}" not in shown
