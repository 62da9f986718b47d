"""A transcript explains every element of a message, masks accounts, and names the first wrong byte."""

from __future__ import annotations

import msgspec
import pytest

from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.iso8583 import codec, messages, transcript
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import TAGS, Secrecy, Tag
from tollgate.connectors.masking import mask_members
from tollgate.payments.accounts import TokenAccount
from tollgate.values import MASK, Secret
from unit.connectors.iso8583_samples import ACCOUNT, CVV, FIRST, NUMBER, PA_ORDER, answer
from unit.connectors.samples import CARD

DATA = codec.encode(messages.make_charge(ACCOUNT, PA_ORDER, FIRST))
SECRETS = ("cryptogram-of-a-device", "dynamic-code")


def find(data: bytes, field: str) -> transcript.Line:
    (line,) = (line for line in transcript.explain(data).lines if line.field == field)
    return line


def test_every_element_is_explained_at_its_offset() -> None:
    shown = transcript.explain(DATA)

    assert shown.fault is None
    assert shown.lines[:2] == (
        (0, "mti", "0100", "message type", "authorization request"),
        (4, "bitmap", DATA[4:12].hex().upper(), "bitmap", ""),
    )
    fields = [line.field for line in shown.lines if "." not in line.field]
    assert fields == ["mti", "bitmap", *map(str, sorted(codec.decode(DATA).fields))]
    assert all(
        DATA[line.offset :].startswith(line.raw.encode()) for line in shown.lines if line.field in ("3", "4", "7")
    )


def test_the_account_is_shown_by_its_ends_and_its_proof_not_at_all() -> None:
    assert find(DATA, "2").raw == "420000******0000"
    assert find(DATA, "48.74").raw == MASK
    assert NUMBER not in transcript.explain(DATA).render()


@pytest.mark.parametrize(
    "account",
    [
        msgspec.structs.replace(CARD, cryptogram=Secret(SECRETS[0])),
        TokenAccount(
            number=Secret("4900000000000001"), type="NETWORK", cryptogram=Secret(SECRETS[0]), dtvc=Secret(SECRETS[1])
        ),
    ],
)
def test_cryptograms_are_not_shown(account: object) -> None:
    order = msgspec.structs.replace(PA_ORDER, account=account)
    shown = transcript.explain(codec.encode(messages.make_charge(ACCOUNT, order, FIRST))).render()

    assert not [secret for secret in SECRETS if secret in shown]


@pytest.mark.parametrize("length", range(1, 20))
def test_a_number_of_any_length_hides_at_least_three_digits(length: int) -> None:
    data = codec.encode(Message("0100", {2: "7123456789012345678"[:length]}))
    raw = find(data, "2").raw

    assert raw.count("*") >= 3
    assert sum(letter.isdigit() for letter in raw) <= 10


def test_values_have_their_meaning() -> None:
    reply = answer(DATA, "51")

    assert find(reply, "39").meaning == "insufficient funds"
    assert find(reply, "49").meaning == "EUR"
    assert find(reply, "mti").meaning == "authorization response"
    assert find(codec.encode(Message("0800", {70: "101"})), "70").meaning == "key exchange"


def test_a_tag_without_a_row_is_hidden() -> None:
    data = codec.encode(Message("0110", {48: "99004" + "1234"}))

    assert find(data, "48.99")[2:4] == (MASK, "unknown tag")


def test_a_card_number_in_a_wrong_element_is_hidden() -> None:
    data = codec.encode(Message("0110", {63: f"see {NUMBER}"}))

    assert NUMBER not in find(data, "63").raw


def test_every_tag_that_proves_the_account_is_hidden() -> None:
    hidden = {tag for tag, row in TAGS.items() if row.secrecy is Secrecy.HIDDEN}

    assert hidden >= {Tag.CVV2, Tag.CRYPTOGRAM, Tag.DTVC, Tag.CAVV, Tag.WORKING_KEY}


def test_the_first_wrong_byte_is_named_after_everything_before_it() -> None:
    place = DATA.index(b"TERM01")
    shown = transcript.explain(DATA[:place] + b"\x07" + DATA[place + 1 :])

    assert shown.fault is not None
    assert (shown.fault.position, shown.fault.field) == (place, "41")
    assert [line.field for line in shown.lines][-1] == "37"
    assert shown.render().endswith(f"{place:5d}  41             UNREADABLE: expected a printable character, found 0x07")


@pytest.mark.parametrize(("length", "fields"), [(0, []), (3, []), (4, ["mti"]), (9, ["mti"]), (12, ["mti", "bitmap"])])
def test_a_type_or_a_bitmap_that_was_cut_is_not_shown(length: int, fields: list[str]) -> None:
    assert [line.field for line in transcript.explain(DATA[:length]).lines] == fields


def test_the_account_of_a_damaged_message_is_not_shown_at_all() -> None:
    damaged = DATA[:-1] + b"X"

    assert find(damaged, "2").raw == MASK
    assert find(damaged, "48.74").raw == MASK


def test_an_account_that_came_into_other_elements_is_hidden() -> None:
    bitmap = int.from_bytes(DATA[4:12]) & ~(1 << 62)
    shown = transcript.explain(DATA[:4] + bitmap.to_bytes(8) + DATA[12:])

    assert shown.fault is not None
    assert [line.raw for line in shown.lines if line.field in ("3", "4")] == ["16****", "************"]


@pytest.mark.parametrize("header", [b"", len(DATA).to_bytes(2)])
def test_a_length_header_is_left_out(header: bytes) -> None:
    assert transcript.drop_length_header(header + DATA) == DATA


def test_two_first_bytes_that_do_not_count_the_message_stay() -> None:
    assert transcript.drop_length_header(b"\x00\x05" + DATA) == b"\x00\x05" + DATA
    assert transcript.drop_length_header(b"\x00\x00") == b"\x00\x00"


def test_the_journal_shows_a_message_without_its_account() -> None:
    request = WireRequest(path="0100", body=DATA, key=FIRST.id, content_type=transcript.CONTENT_TYPE)
    reply = WireReply(200, answer(DATA, "05"))
    shown = mask_members(request.body, request.content_type)

    assert shown["mti message type"] == "0100 (authorization request)"
    assert shown["2 primary account number"] == "420000******0000"
    assert shown["48.74 CVV2"] == "***"
    assert mask_members(reply.body, request.content_type)["39 response code"] == "05 (do not honour)"
    assert NUMBER not in str(shown)
    assert f"'{CVV}'" not in str(shown)


def test_the_journal_says_why_a_reply_could_not_be_read() -> None:
    assert mask_members(b"oops", transcript.CONTENT_TYPE) == {
        "unreadable": "byte 0, element mti: expected a digit, found 0x6F"
    }
    assert mask_members(b"", transcript.CONTENT_TYPE) is None
