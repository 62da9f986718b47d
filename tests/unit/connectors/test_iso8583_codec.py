"""A message is read exactly as it was written; whatever is none is refused at its first wrong byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.acquiring import RESPONSES
from tollgate.connectors.iso8583 import codec, fields
from tollgate.connectors.iso8583.codec import Message, Unreadable
from tollgate.connectors.iso8583.fields import ELEMENTS, MESSAGE_TYPES, TAGS, Element, Form, Kind, Secrecy, Size, Tag
from unit.connectors.iso8583_samples import NUMBER, read_by_hand

AUTHORIZATION = Message(
    "0100",
    {2: NUMBER, 3: "000000", 4: "000000009210", 7: "0229123456", 11: "000001", 41: "TERM0001", 49: "978", 90: "0" * 42},
)
NEVER = [row.number for row in ELEMENTS.values() if row.secrecy is Secrecy.NEVER]


def replace(**changes: str) -> Message:
    return Message("0100", {**AUTHORIZATION.fields, **{int(name[1:]): text for name, text in changes.items()}})


def catch(data: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        codec.decode(data)
    return caught.value


def test_a_message_is_laid_out_as_the_standard_says() -> None:
    data = codec.encode(Message("0800", {7: "1118120000", 11: "000007", 41: "TERM0001", 70: "301"}))

    assert data == b"0800" + bytes.fromhex("82200000008000000400000000000000") + b"1118120000000007TERM0001301"
    assert codec.encode(Message("0810", {39: "00"})) == b"0810" + bytes.fromhex("0000000002000000") + b"00"


def test_every_element_of_the_table_has_one_row_that_can_be_read_back() -> None:
    assert len({row.number for row in fields._ROWS}) == len(fields._ROWS)
    assert all(row.length <= 10**row.size - 1 for row in ELEMENTS.values() if row.size)
    assert set(NEVER) >= {35, 36, 45, 52, 53}


def test_every_tag_has_a_row_and_every_response_has_a_text() -> None:
    assert set(Tag) <= TAGS.keys()
    assert all(re.fullmatch("[0-9]{2}", tag) for tag in TAGS)
    assert RESPONSES.keys() <= fields.RESPONSE_TEXTS.keys()


@pytest.mark.parametrize("number", NEVER)
def test_track_and_pin_data_are_refused_in_both_directions(number: int) -> None:
    with pytest.raises(ValueError, match=f"element {number} has no encoder"):
        codec.encode(Message("0100", {number: "1" * 16}))

    bitmap = (1 << (64 - number)).to_bytes(8, "big")
    fault = catch(b"0100" + bitmap + b"16" + b"1" * 40)

    assert (fault.position, fault.field) == (4 + (number - 1) // 8, str(number))
    assert "found it in the bitmap" in fault.reason


@pytest.mark.parametrize("number", [1, 8, 65, 127, 129, 192, 0, -1])
def test_an_element_without_a_row_is_not_written(number: int) -> None:
    with pytest.raises(ValueError, match="no encoder"):
        codec.encode(Message("0100", {**AUTHORIZATION.fields, number: "1"}))


@pytest.mark.parametrize(
    "message",
    [
        replace(f4="9210"),
        replace(f4="00000000921X"),
        replace(f2="4" * 20),
        replace(f2=""),
        replace(f7="0230123456"),
        replace(f7="0101240000"),
        replace(f14="2613"),
        replace(f43="ü" * 40),
        replace(f41="TERM\n001"),
        replace(f48="7000"),
        replace(f48="70004ABC"),
        replace(f48="74005" + "7" * 5),
        replace(f64="XX" * 8),
        Message("0199", {}),
        Message("100", {}),
        Message("", {}),
    ],
)
def test_a_message_that_could_not_be_read_again_is_not_written(message: Message) -> None:
    with pytest.raises(ValueError, match="element"):
        codec.encode(message)


def test_an_error_of_the_encoder_does_not_contain_the_account() -> None:
    with pytest.raises(ValueError, match="element 4") as caught:
        codec.encode(replace(f4="1"))

    assert NUMBER not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_the_account_is_not_in_the_representation_of_a_message() -> None:
    message = replace(f48=codec.render_tags({Tag.CVV2: "731"}))

    assert repr(message) == str(message) == "Message(0100, elements 2, 3, 4, 7, 11, 41, 48, 49, 90)"


def test_a_message_cut_short_names_the_first_missing_byte() -> None:
    data = codec.encode(AUTHORIZATION)

    for length in range(len(data)):
        assert catch(data[:length]).position == length


@pytest.mark.parametrize(
    ("position", "byte", "field", "reason"),
    [
        (0, b"X", "mti", "expected a digit, found 0x58"),
        (1, b"9", "mti", "expected a known message type, found another"),
        (20, b" ", "2", "expected a digit of a length, found 0x20"),
        (20, b"2", "2", "expected a length of 1 to 19, found 26"),
        (25, b"A", "2", "expected a digit, found 0x41"),
        (58, b"\xff", "7", "expected a digit, found 0xFF"),
        (72, b"\x00", "41", "expected a printable character, found 0x00"),
    ],
)
def test_a_wrong_byte_is_named_with_its_element(position: int, byte: bytes, field: str, reason: str) -> None:
    data = codec.encode(AUTHORIZATION)
    fault = catch(data[:position] + byte + data[position + 1 :])

    assert (fault.field, fault.reason) == (field, reason)
    assert fault.position <= position


@pytest.mark.parametrize("length", [b"+6", b" 6", b"1_", b"\xd9\xa1"])
def test_a_length_that_python_would_read_as_a_number_is_refused(length: bytes) -> None:
    assert catch(b"0100" + bytes.fromhex("4000000000000000") + length + b"4" * 16).field == "2"


def test_bytes_after_the_last_element_are_refused() -> None:
    data = codec.encode(AUTHORIZATION)
    fault = catch(data + b"00")

    assert (fault.position, fault.reason) == (len(data), "expected the end, found 2 bytes more")


def test_a_message_above_the_limit_is_refused_before_it_is_read() -> None:
    most = LIMITS.iso8583_message_bytes_max

    assert catch(b"\xff" * (most + 1)).position == most


@pytest.mark.parametrize(
    ("private", "position", "reason"),
    [
        ("7X001A", 1, "expected a digit of a tag or its length, found 0x58"),
        ("70", 2, "expected 5 digits of a tag, found 2"),
        ("70000", 2, "expected a length of 1 to 64, found 0"),
        ("70003AB", 7, "expected 3 bytes, found 2"),
        ("70001A70001B", 6, "expected each tag once, found it again"),
    ],
)
def test_a_wrong_tag_is_named(private: str, position: int, reason: str) -> None:
    data = b"0100" + bytes.fromhex("0000000000010000") + f"{len(private):03d}{private}".encode()
    fault = catch(data)

    assert (fault.position, fault.reason) == (15 + position, reason)
    assert fault.field.startswith("48.")


def test_a_tag_that_only_the_host_knows_is_read() -> None:
    assert replace(f48="99003ABC70001K").tags == {"99": "ABC", "70": "K"}


@pytest.mark.parametrize(
    ("request_type", "response_type"),
    [("0100", "0110"), ("0101", "0110"), ("0200", "0210"), ("0221", "0230"), ("0401", "0410"), ("0421", "0430")],
)
def test_a_request_and_its_repeat_have_the_same_response(request_type: str, response_type: str) -> None:
    assert codec.get_response_type(request_type) == response_type
    assert codec.is_response(Message(response_type, {}))
    assert not codec.is_response(Message(request_type, {}))


def test_a_response_matches_its_request_by_trace_number_and_terminal() -> None:
    assert codec.get_match(AUTHORIZATION) == ("000001", "TERM0001")
    assert codec.get_match(Message("0810", {})) == ("", "")


DATES = {
    Form.DATE: st.sampled_from(["0101", "0229", "1231"]),
    Form.TIME: st.sampled_from(["000000", "235959"]),
    Form.DATE_TIME: st.sampled_from(["0101000000", "0229235959"]),
    Form.MONTH: st.sampled_from(["0001", "9912"]),
    Form.DAY: st.sampled_from(["260229"[:4] + "28", "991231"]),
}
TAG_VALUES = st.dictionaries(
    st.sampled_from(sorted(TAGS)), st.from_regex("[ -~]{1,1}", fullmatch=True), min_size=1, max_size=20
)


def draw_text(row: Element) -> st.SearchStrategy[str]:
    if row.form is not None:
        return DATES[row.form]
    if row.number == fields.PRIVATE:
        return TAG_VALUES.map(codec.render_tags)
    least = row.length if row.size is Size.FIXED else 1
    match row.kind:
        case Kind.N:
            return st.from_regex(f"[0-9]{{{least},{row.length}}}", fullmatch=True)
        case Kind.AN:
            return st.from_regex(f"[A-Za-z0-9]{{{least},{row.length}}}", fullmatch=True)
        case Kind.ANS:
            return st.from_regex(f"[ -~]{{{least},{row.length}}}", fullmatch=True)
        case Kind.B:
            return st.binary(min_size=row.length, max_size=row.length).map(lambda raw: raw.hex().upper())


MESSAGES = st.builds(
    Message,
    st.sampled_from(sorted(MESSAGE_TYPES)),
    st.fixed_dictionaries(
        {},
        optional={row.number: draw_text(row) for row in ELEMENTS.values() if row.secrecy is not Secrecy.NEVER},
    ),
)


@given(MESSAGES)
def test_every_message_is_read_as_it_was_written(message: Message) -> None:
    data = codec.encode(message)

    assert codec.decode(data) == message
    assert codec.encode(codec.decode(data)) == data


@given(MESSAGES)
def test_a_second_reading_by_hand_agrees(message: Message) -> None:
    known = {
        3,
        4,
        7,
        11,
        12,
        13,
        14,
        18,
        22,
        25,
        37,
        38,
        39,
        41,
        42,
        43,
        49,
        64,
        70,
        90,
        95,
        128,
        2,
        32,
        44,
        48,
        54,
        63,
    }
    kept = Message(message.mti, {number: text for number, text in message.fields.items() if number in known})

    assert read_by_hand(codec.encode(kept)) == (kept.mti, kept.fields)
