"""Files of comma-separated values that a spreadsheet opens without running anything.

What is in them is decided by whoever exports.
"""

import re
from collections.abc import Iterable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_QUOTED = re.compile(r'[",\r\n]')
CSV = b"text/csv;charset=UTF-8"


def make_cell(value: object) -> str:
    """Returns a value as a cell; one that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def render_cell(value: object, *, is_number: bool = False) -> str:
    """Renders a cell of RFC 4180; is_number: we wrote it ourselves, and a spreadsheet may take it as a number."""
    text = str(value) if is_number else make_cell(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def render_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """Renders lines of a file; every cell is made harmless."""
    return b"".join(render_line(map(render_cell, row)) for row in rows)


def render_line(cells: Iterable[str]) -> bytes:
    """Renders a line of cells that are rendered already."""
    return f"{','.join(cells)}\r\n".encode()
