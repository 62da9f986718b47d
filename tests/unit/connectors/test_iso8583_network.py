"""Sign-on, echo and key exchange are answered as they were asked, and a wrong authentication code is found."""

from __future__ import annotations

import pytest

from tollgate.connectors.iso8583 import codec, network
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import Tag
from tollgate.connectors.iso8583.network import NetworkCode
from tollgate.values import SECOND
from unit.connectors.iso8583_samples import read_by_hand

WRAPPING_KEY, WORKING_KEY = bytes(range(32)), bytes(range(100, 116))
AT = 1_790_000_000 * SECOND


def ask(code: NetworkCode = NetworkCode.KEY_EXCHANGE) -> Message:
    return network.make_request(code, stan=42, at=AT, terminal="TERM01", acquirer="400123")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (NetworkCode.SIGN_ON, "001"),
        (NetworkCode.SIGN_OFF, "002"),
        (NetworkCode.KEY_EXCHANGE, "101"),
        (NetworkCode.ECHO, "301"),
    ],
)
def test_a_network_message_names_the_terminal_and_what_it_wants(code: NetworkCode, text: str) -> None:
    mti, fields = read_by_hand(codec.encode(ask(code)))

    assert (mti, fields) == ("0800", {7: "0921141320", 11: "000042", 32: "400123", 41: "TERM01  ", 70: text})


def test_an_answer_is_accepted_if_it_is_the_answer_to_this_request() -> None:
    request = ask()
    response = network.make_response(request)

    assert (response.mti, network.is_accepted(request, response)) == ("0810", True)
    for changed in ({39: "96"}, {70: "301"}, {11: "000043"}, {41: "TERM02  "}):
        assert not network.is_accepted(request, Message("0810", {**response.fields, **changed}))
    assert not network.is_accepted(request, Message("0110", response.fields))


def test_a_working_key_is_unwrapped_as_it_was_wrapped() -> None:
    response = network.make_response(ask(), tags=network.wrap_working_key(WRAPPING_KEY, WORKING_KEY))
    received = codec.decode(codec.encode(response))

    assert WORKING_KEY.hex().upper() not in received.fields[48]
    assert network.find_working_key(WRAPPING_KEY, received) == WORKING_KEY


def test_key_wrapping_agrees_with_the_example_of_its_standard() -> None:
    """RFC 3394, section 4.1."""
    tags = network.wrap_working_key(bytes(range(16)), bytes.fromhex("00112233445566778899AABBCCDDEEFF"))

    assert tags[Tag.WORKING_KEY] == "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"


@pytest.mark.parametrize(
    "changes",
    [
        {Tag.WORKING_KEY: "00" * 24},
        {Tag.WORKING_KEY: "not hexadecimal"},
        {Tag.WORKING_KEY: "00"},
        {Tag.CHECK_VALUE: "0000000000"},
    ],
)
def test_a_damaged_working_key_is_no_key(changes: dict[str, str]) -> None:
    tags = {**network.wrap_working_key(WRAPPING_KEY, WORKING_KEY), **changes}

    assert network.find_working_key(WRAPPING_KEY, network.make_response(ask(), tags=tags)) is None


def test_a_working_key_that_is_absent_or_under_another_key_is_no_key() -> None:
    wrapped = network.make_response(ask(), tags=network.wrap_working_key(WRAPPING_KEY, WORKING_KEY))

    assert network.find_working_key(WRAPPING_KEY, network.make_response(ask())) is None
    assert network.find_working_key(bytes(16), wrapped) is None


@pytest.mark.parametrize(("fields", "number"), [({11: "000001"}, 64), ({11: "000001", 70: "301"}, 128)])
def test_the_code_of_a_message_is_its_last_element(fields: dict[int, str], number: int) -> None:
    signed = network.add_mac(codec.encode(Message("0800", fields)), WORKING_KEY)
    read = codec.decode(signed)

    assert max(read.fields) == number
    assert bytes.fromhex(read.fields[number]) == signed[-8:]
    assert network.is_authentic(signed, WORKING_KEY)


def test_a_message_that_was_changed_on_its_way_is_not_authentic() -> None:
    signed = network.add_mac(codec.encode(ask(NetworkCode.ECHO)), WORKING_KEY)
    changed = signed.replace(b"000042", b"000043")

    assert changed != signed
    assert not network.is_authentic(changed, WORKING_KEY)
    assert not network.is_authentic(signed[:-1] + bytes([signed[-1] ^ 1]), WORKING_KEY)
    assert not network.is_authentic(signed, WRAPPING_KEY)


def test_a_message_without_a_code_is_not_authentic() -> None:
    assert not network.is_authentic(codec.encode(ask()), WORKING_KEY)
    assert not network.is_authentic(codec.encode(Message("0800", {})), WORKING_KEY)


def test_the_code_agrees_with_the_example_of_its_standard() -> None:
    """RFC 4493, section 4, example 2."""
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    block = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")

    assert network._make_code(key, block).hex() == "070a16b46b4d4144f79bdd9dd04a287c"


@pytest.mark.parametrize("text", ["", "00", "zz" * 16, "00" * 24, "0" * 31])
def test_a_key_of_another_length_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(ValueError, match="a key has 32 or 64 hexadecimal digits"):
        network.read_key(text)


def test_a_key_may_end_with_a_line_break() -> None:
    assert network.read_key("00" * 32 + "\n") == bytes(32)
