"""Reads and writes messages of ISO 8583:1987 (ASCII text, binary bitmaps) and the length before each.

The elements are rows of `fields`; what a message means is decided elsewhere.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

import iso8583
import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.iso8583 import fields as table
from tollgate.connectors.iso8583.fields import ELEMENTS, Element, Form, Kind, Secrecy

HEADER_BYTES = 2
"""The size of the length that a connection has before each message."""
STAN_MAX = 999_999
MTI, BITMAP, SECONDARY_BITMAP = "mti", "bitmap", "second bitmap"
_BITMAPS = (BITMAP, SECONDARY_BITMAP)
_MTI_LENGTH, _BITMAP_LENGTH = 4, 8
_LENGTHS = {MTI: _MTI_LENGTH, BITMAP: _BITMAP_LENGTH, SECONDARY_BITMAP: _BITMAP_LENGTH}
_TAG_LENGTH, _TAG_HEAD = 2, 5
_RESPONSE_DIGIT = 2
_NETWORK = "08"

_CHARACTERS = {
    Kind.N: (re.compile(b"[0-9]*"), "a digit"),
    Kind.AN: (re.compile(b"[A-Za-z0-9]* *"), "a letter or a digit"),
    Kind.ANS: (re.compile(b"[ -~]*"), "a printable character"),
    Kind.B: (re.compile(b".*", re.DOTALL), "a byte"),
}
_PATTERNS = {
    Form.DATE: "%m%d",
    Form.TIME: "%H%M%S",
    Form.DATE_TIME: "%m%d%H%M%S",
    Form.MONTH: "%y%m",
    Form.DAY: "%y%m%d",
}


class Unreadable(Exception):
    """The bytes are no message: where the first suspect byte is, to which element it belongs, and what is wrong.

    The reason never contains the value of an element.
    """

    def __init__(self, position: int, field: str, reason: str) -> None:
        super().__init__(f"byte {position}, element {field}: {reason}")
        self.position, self.field, self.reason = position, field, reason


class Message(msgspec.Struct, frozen=True):
    """A message with the text of its elements; bytes are upper-case hexadecimal digits."""

    mti: str
    fields: Mapping[int, str]

    def __repr__(self) -> str:
        """Leaves out the values, because some of them are accounts."""
        return f"Message({self.mti}, elements {', '.join(map(str, sorted(self.fields)))})"

    @property
    def tags(self) -> dict[str, str]:
        """The values of element 48 by their tags. Reading a message has checked them."""
        private = self.fields.get(table.PRIVATE, "")
        return {part.tag: part.text for part in list_tags(private.encode("latin-1", "replace"))}


class Match(NamedTuple):
    """The values by which a response is matched to its request."""

    stan: str
    terminal: str


class Part(NamedTuple):
    """A part of an encoded message: its type, a bitmap, an element or a tag."""

    field: str
    offset: int
    head: bytes
    """The bytes before its value: the digits of its length, or its tag and them."""
    raw: bytes

    @property
    def text(self) -> str:
        is_binary = self.field.isdecimal() and ELEMENTS[int(self.field)].kind is Kind.B
        return self.raw.hex().upper() if is_binary or self.field in _BITMAPS else self.raw.decode("latin-1")

    @property
    def tag(self) -> str:
        """The tag of a part of element 48."""
        return self.head[:_TAG_LENGTH].decode("latin-1")

    @property
    def end(self) -> int:
        return self.offset + len(self.head) + len(self.raw)


class Reading(NamedTuple):
    """Everything that could be read, and the first fault."""

    parts: tuple[Part, ...]
    fault: Unreadable | None


def make_frame(body: bytes) -> bytes:
    """Puts the length before a message, as a connection carries it."""
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def read_length(header: bytes) -> int:
    """Reads the length before a message; raises Unreadable for one that no message has."""
    length = int.from_bytes(header, "big")
    if length > LIMITS.iso8583_message_bytes_max:
        raise Unreadable(0, "length", f"no message has {length} bytes")
    return length


def encode(message: Message) -> bytes:
    """Raises ValueError for a message that could not be read again."""
    for number in message.fields:
        if number not in ELEMENTS or ELEMENTS[number].secrecy is Secrecy.NEVER:
            raise ValueError(f"element {number} has no encoder")
    texts = {"t": message.mti, **{str(number): text for number, text in message.fields.items()}}
    try:
        data = bytes(iso8583.encode(texts, table.SPEC)[0])
    except iso8583.EncodeError as error:
        # The error of the library has all values in it, so it is not chained.
        raise ValueError(f"element {error.field}: {error.msg}") from None
    fault = read(data).fault
    if fault is not None:
        raise ValueError(f"element {fault.field}: {fault.reason}")
    return data


def decode(data: bytes) -> Message:
    """Raises Unreadable, and nothing else, for whatever is no message."""
    parts, fault = read(data)
    if fault is not None:
        raise fault
    return Message(parts[0].text, {int(part.field): part.text for part in parts if part.field.isdecimal()})


def read(data: bytes) -> Reading:
    """Reads as much as can be read."""
    heads = tuple(_list_heads(data))
    fault = _find_size_fault(data) or _find_head_fault(data, heads)
    if fault is not None:
        whole = (head for head in heads if head.offset + _LENGTHS[head.field] <= fault.position)
        return Reading(tuple(whole), fault)
    try:
        raws = iso8583.decode(data, table.SPEC)[1]
    except iso8583.DecodeError as error:
        # Whatever the library could not read is found again below, in our own words and at its first byte.
        raws = error.doc_enc
    parts = list(heads)
    for part in _list_elements(raws, heads[-1].end):
        fault = _find_fault(part)
        if fault is not None:
            return Reading(tuple(parts), fault)
        parts.append(part)
    end = parts[-1].end
    if end < len(data):
        return Reading(
            tuple(parts), Unreadable(end, parts[-1].field, f"expected the end, found {len(data) - end} bytes more")
        )
    return Reading(tuple(parts), None)


def _list_heads(data: bytes) -> Iterator[Part]:
    """The type and the bitmaps, complete or not."""
    yield Part(MTI, 0, b"", data[:_MTI_LENGTH])
    first = data[_MTI_LENGTH : _MTI_LENGTH + _BITMAP_LENGTH]
    yield Part(BITMAP, _MTI_LENGTH, b"", first)
    if first and first[0] & 0x80:
        start = _MTI_LENGTH + _BITMAP_LENGTH
        yield Part(SECONDARY_BITMAP, start, b"", data[start : start + _BITMAP_LENGTH])


def _find_size_fault(data: bytes) -> Unreadable | None:
    most = LIMITS.iso8583_message_bytes_max
    if len(data) > most:
        return Unreadable(most, "", f"expected at most {most} bytes, found {len(data)}")
    return None


def _find_head_fault(data: bytes, heads: tuple[Part, ...]) -> Unreadable | None:
    mti = heads[0].raw
    digits = _match_length(Kind.N, mti)
    if digits < len(mti):
        return Unreadable(digits, MTI, f"expected a digit, found {_show_byte(mti[digits])}")
    for head in heads:
        length = _LENGTHS[head.field]
        if len(head.raw) < length:
            return Unreadable(len(data), head.field, f"expected {length} bytes, found {len(head.raw)}")
        if head.field == MTI and mti.decode() not in table.MESSAGE_TYPES:
            return Unreadable(0, MTI, "expected a known message type, found another")
    for number, position in _list_bits(heads[1:]):
        row = ELEMENTS.get(number)
        if row is None:
            return Unreadable(position, str(number), "expected an element of the table, found another in the bitmap")
        if row.secrecy is Secrecy.NEVER:
            return Unreadable(position, str(number), f"expected no {row.name}, found it in the bitmap")
    return None


def _list_bits(bitmaps: tuple[Part, ...]) -> Iterator[tuple[int, int]]:
    """The numbers of the elements in a message, each with the position of its bit's byte."""
    for start, bitmap in zip((0, 64), bitmaps, strict=False):
        bits = int.from_bytes(bitmap.raw, "big")
        for place in range(64):
            if bits >> (63 - place) & 1 and (start or place):
                yield start + place + 1, bitmap.offset + place // 8


def _list_elements(raws: Mapping[str, Mapping[str, bytes]], offset: int) -> Iterator[Part]:
    """The elements of a message, the last of which may be incomplete."""
    for field, raw in raws.items():
        if field.isdecimal() and int(field) in ELEMENTS:
            part = Part(field, offset, raw["len"], raw["data"])
            yield part
            offset = part.end


def _find_fault(part: Part) -> Unreadable | None:
    """Checks length, characters, date and tags of an element."""
    row = ELEMENTS[int(part.field)]
    fault = _find_length_fault(part, row) or _find_character_fault(part, row.kind)
    if fault is None and row.form is not None and not _is_date(part.text, row.form):
        return Unreadable(part.offset, part.field, f"expected a date or time {row.form}, found none such")
    if fault is None and row.number == table.PRIVATE:
        return _find_tag_fault(part)
    return fault


def _find_length_fault(part: Part, row: Element) -> Unreadable | None:
    start = part.offset + len(part.head)
    if len(part.head) < row.size:
        return Unreadable(start, part.field, f"expected {row.size:d} digits of a length, found {len(part.head)}")
    digits = _match_length(Kind.N, part.head)
    if digits < len(part.head):
        found = _show_byte(part.head[digits])
        return Unreadable(part.offset + digits, part.field, f"expected a digit of a length, found {found}")
    length = int(part.head) if part.head else row.length
    if not 1 <= length <= row.length:
        return Unreadable(part.offset, part.field, f"expected a length of 1 to {row.length}, found {length}")
    if len(part.raw) < length:
        return Unreadable(part.end, part.field, f"expected {length} bytes, found {len(part.raw)}")
    return None


def _find_character_fault(part: Part, kind: Kind) -> Unreadable | None:
    good = _match_length(kind, part.raw)
    if good == len(part.raw):
        return None
    position = part.offset + len(part.head) + good
    return Unreadable(position, part.field, f"expected {_CHARACTERS[kind][1]}, found {_show_byte(part.raw[good])}")


def _match_length(kind: Kind, raw: bytes) -> int:
    match = _CHARACTERS[kind][0].match(raw)
    return 0 if match is None else match.end()


def _show_byte(byte: int) -> str:
    return f"0x{byte:02X}"


def _is_date(text: str, form: Form) -> bool:
    # A date without a year may be the 29th of February.
    year, pattern = ("2000", "%Y") if form in (Form.DATE, Form.DATE_TIME) else ("", "")
    try:
        datetime.strptime(year + text, pattern + _PATTERNS[form])
    except ValueError:
        return False
    return True


def list_tags(raw: bytes, offset: int = 0) -> Iterator[Part]:
    """The tags of element 48, named 48.01 and so on; the last may be incomplete."""
    start = 0
    while start < len(raw):
        head = raw[start : start + _TAG_HEAD]
        length = head[_TAG_LENGTH:].decode("latin-1")
        end = start + len(head) + (int(length) if length.isascii() and length.isdecimal() else 0)
        field = f"{table.PRIVATE}.{head[:_TAG_LENGTH].decode('latin-1')}"
        yield Part(field, offset + start, head, raw[start + len(head) : end])
        start = end


def _find_tag_fault(private: Part) -> Unreadable | None:
    seen = set()
    for part in list_tags(private.raw, private.offset + len(private.head)):
        field = part.field
        digits = _match_length(Kind.N, part.head)
        if digits < len(part.head):
            found = _show_byte(part.head[digits])
            return Unreadable(part.offset + digits, field, f"expected a digit of a tag or its length, found {found}")
        if len(part.head) < _TAG_HEAD:
            return Unreadable(part.end, field, f"expected {_TAG_HEAD} digits of a tag, found {len(part.head)}")
        length = int(part.head[_TAG_LENGTH:])
        row = table.TAGS.get(part.tag)
        if length == 0 or (row is not None and length > row.length_max):
            most = 999 if row is None else row.length_max
            return Unreadable(part.offset + _TAG_LENGTH, field, f"expected a length of 1 to {most}, found {length}")
        if len(part.raw) < length:
            return Unreadable(part.end, field, f"expected {length} bytes, found {len(part.raw)}")
        if part.field in seen:
            return Unreadable(part.offset, field, "expected each tag once, found it again")
        seen.add(part.field)
    return None


def render_tags(tags: Mapping[str, str]) -> str:
    """Writes element 48, in the order of the tags."""
    return "".join(f"{tag}{len(text):03d}{text}" for tag, text in sorted(tags.items()))


def pad(number: int, text: str) -> str:
    """Fills a fixed element with blanks on the right."""
    return text.ljust(ELEMENTS[number].length)


def get_match(message: Message) -> Match:
    return Match(message.fields.get(11, ""), message.fields.get(41, ""))


def is_network(message: Message) -> bool:
    """Tells whether a message is one of network management, which moves no money."""
    return message.mti.startswith(_NETWORK)


def is_response(message: Message) -> bool:
    return int(message.mti[_RESPONSE_DIGIT]) % 2 == 1


def get_response_type(mti: str) -> str:
    """0110 for 0100 and for its repeat 0101."""
    return f"{mti[:_RESPONSE_DIGIT]}{int(mti[_RESPONSE_DIGIT]) + 1}0"
