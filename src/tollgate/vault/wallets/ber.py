"""Reads BER, of which DER is the strict part: real wallets sign with lengths left open. Nothing is written here."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from tollgate.values import Instant, to_instant

INTEGER, OCTETS, NAME, SEQUENCE, SET = 0x02, 0x04, 0x06, 0x30, 0x31
UTC_TIME, GENERALIZED_TIME = 0x17, 0x18

_DEPTH_MAX = 16
_TIME_FORMATS = {UTC_TIME: "%y%m%d%H%M%SZ", GENERALIZED_TIME: "%Y%m%d%H%M%SZ"}
_TIME_LENGTHS = {UTC_TIME: 13, GENERALIZED_TIME: 15}
_OPEN_LENGTH = 0x80
_END = b"\x00\x00"


class Element(msgspec.Struct, frozen=True):
    tag: int
    content: bytes
    whole: bytes
    """With tag and length, for those who read it themselves."""

    @property
    def children(self) -> list[Element]:
        return list_elements(self.content)


def read_whole(source: bytes, tag: int) -> Element:
    """The one element that the bytes are."""
    element, end = _read_element(source, 0, 0)
    if end != len(source):
        raise ValueError("there is more than one element")
    return expect(element, tag)


def list_elements(source: bytes) -> list[Element]:
    found, at = [], 0
    while at < len(source):
        element, at = _read_element(source, at, 0)
        found.append(element)
    return found


def expect(element: Element, tag: int) -> Element:
    if element.tag != tag:
        raise ValueError("an element of another kind was expected")
    return element


def read_time(element: Element) -> Instant:
    form = _TIME_FORMATS.get(element.tag)
    # strptime would take fewer digits.
    if form is None or len(element.content) != _TIME_LENGTHS[element.tag]:
        raise ValueError("not a time")
    return to_instant(datetime.strptime(element.content.decode("ascii"), form).replace(tzinfo=UTC))


def _read_element(source: bytes, at: int, depth: int) -> tuple[Element, int]:
    """(the element, where the next one begins)"""
    if depth > _DEPTH_MAX:
        raise ValueError("nested too deeply")
    tag = source[at]
    if tag & 0x1F == 0x1F:
        raise ValueError("tags of several bytes do not occur")
    if source[at + 1] == _OPEN_LENGTH:
        end = _find_end(source, at + 2, depth)
        return Element(tag, source[at + 2 : end], source[at : end + len(_END)]), end + len(_END)
    length, begin = _read_length(source, at + 1)
    end = begin + length
    if end > len(source):
        raise ValueError("an element is longer than what holds it")
    return Element(tag, source[begin:end], source[at:end]), end


def _find_end(source: bytes, at: int, depth: int) -> int:
    while source[at : at + 2] != _END:
        _, at = _read_element(source, at, depth + 1)
    return at


def _read_length(source: bytes, at: int) -> tuple[int, int]:
    """(the length, where the content begins)"""
    first = source[at]
    if first < _OPEN_LENGTH:
        return first, at + 1
    count = first & 0x7F
    digits = source[at + 1 : at + 1 + count]
    if not 1 <= count <= 4 or len(digits) != count:
        raise ValueError("a length that no element has")
    return int.from_bytes(digits, "big"), at + 1 + count
