"""Explains encoded messages element by element, with accounts masked, and names the first byte that is wrong.

Nothing here decides whether a message is accepted: that is the codec's.
"""

import re
from typing import NamedTuple

from tollgate.catalog import card_numbers
from tollgate.catalog.brands import passes_luhn
from tollgate.catalog.currencies import CURRENCIES
from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Part, Unreadable
from tollgate.connectors.iso8583.fields import ELEMENTS, MESSAGE_TYPES, PRIVATE, RESPONSE_TEXTS, TAGS, Kind, Secrecy
from tollgate.connectors.iso8583.network import NetworkCode
from tollgate.values import MASK

CONTENT_TYPE = "application/x-iso8583"
_SHOWN_FIRST, _SHOWN_LAST = 6, 4

_ACCOUNT = re.compile(b"(?=(1[2-9])([0-9]{12,19}))")
"""The number of an account behind its length, wherever it stands in a message that is out of step."""
_PROOF = re.compile(b"(?=(7[468])([0-9]{3}))")
"""A tag of element 48 whose value proves that somebody has the account, and the length of that value."""

_CURRENCIES = {row.numeric: row.code for row in CURRENCIES.values()}
_NETWORK_TEXTS = {code.value: code.name.lower().replace("_", " ") for code in NetworkCode}
_MEANINGS = {39: RESPONSE_TEXTS, 49: _CURRENCIES, 70: _NETWORK_TEXTS}


class Line(NamedTuple):
    """One part of a message: where it begins, its text as far as it may be shown, its name and meaning."""

    offset: int
    field: str
    raw: str
    name: str
    meaning: str = ""


class Transcript(NamedTuple):
    lines: tuple[Line, ...]
    fault: Unreadable | None

    def render(self) -> str:
        """Returns the transcript as a table for people, with the fault as its last line."""
        rows = [
            f"{line.offset:5d}  {line.field:<13}  {line.name:<36}  {line.raw}"
            + (f"  ({line.meaning})" if line.meaning else "")
            for line in self.lines
        ]
        if self.fault is not None:
            rows.append(f"{self.fault.position:5d}  {self.fault.field:<13}  UNREADABLE: {self.fault.reason}")
        return "\n".join(rows)


def describe(data: bytes) -> dict[str, str]:
    """Returns the transcript as JSON has it, for the journal."""
    lines, fault = explain(data)
    shown = {
        f"{line.field} {line.name}": f"{line.raw} ({line.meaning})" if line.meaning else line.raw for line in lines
    }
    return shown if fault is None else {**shown, "unreadable": str(fault)}


def drop_length_header(data: bytes) -> bytes:
    """Leaves out the two bytes before a message that count it, where there are any."""
    header, rest = data[: codec.HEADER_BYTES], data[codec.HEADER_BYTES :]
    return rest if rest and int.from_bytes(header) == len(rest) else data


def explain(data: bytes) -> Transcript:
    """Explains every part that can be read; of what follows the first wrong byte nothing is shown."""
    parts, fault = codec.read(data)
    hidden = None if fault is None else _list_hidden(data)
    lines: list[Line] = []
    for part in parts:
        if part.field == str(PRIVATE):
            lines.append(Line(part.offset, part.field, part.head.decode(), ELEMENTS[PRIVATE].name))
            lines += (_explain_tag(tag, hidden) for tag in codec.list_tags(part.raw, part.offset + len(part.head)))
        else:
            lines.append(_explain_part(part, hidden))
    return Transcript(tuple(lines), fault)


def _list_hidden(data: bytes) -> set[int]:
    """Lists the bytes of a damaged message that look like an account or its proof, whatever element they came into."""
    hidden: set[int] = set()
    for match in _ACCOUNT.finditer(data):
        number = match[2][: int(match[1])]
        if len(number) == int(match[1]) and passes_luhn(number.decode()):
            hidden.update(range(match.start(2), match.start(2) + len(number)))
    for match in _PROOF.finditer(data):
        hidden.update(range(match.end(2), match.end(2) + int(match[2])))
    return hidden


def _explain_part(part: Part, hidden: set[int] | None) -> Line:
    if part.field == codec.MTI:
        return Line(part.offset, part.field, part.text, "message type", MESSAGE_TYPES.get(part.text, ""))
    if part.field in (codec.BITMAP, codec.SECONDARY_BITMAP):
        return Line(part.offset, part.field, part.text, part.field)
    row = ELEMENTS[int(part.field)]
    raw = part.text if row.kind is Kind.B else _show(part, row.secrecy, hidden)
    return Line(part.offset, part.field, raw, row.name, _MEANINGS.get(row.number, {}).get(part.text, ""))


def _explain_tag(part: Part, hidden: set[int] | None) -> Line:
    # A host may answer tags that have no row. Nobody knows what they contain.
    row = TAGS.get(part.tag)
    name, secrecy = ("unknown tag", Secrecy.HIDDEN) if row is None else (row.name, row.secrecy)
    return Line(part.offset, part.field, _show(part, secrecy, hidden), name)


def _show(part: Part, secrecy: Secrecy, hidden: set[int] | None) -> str:
    """hidden: the bytes of a damaged message that are not shown; None if the message is not damaged."""
    if secrecy is Secrecy.SHOWN:
        start = part.offset + len(part.head)
        text = "".join("*" if start + place in (hidden or ()) else letter for place, letter in enumerate(part.text))
        return card_numbers.hide_card_numbers(text)
    middle = len(part.text) - _SHOWN_FIRST - _SHOWN_LAST
    # Too short a number would show more than it hides, and that of a damaged message may go on in other elements.
    if secrecy is Secrecy.MASKED and middle >= _SHOWN_LAST - 1 and hidden is None:
        return f"{part.text[:_SHOWN_FIRST]}{'*' * middle}{part.text[-_SHOWN_LAST:]}"
    return MASK
