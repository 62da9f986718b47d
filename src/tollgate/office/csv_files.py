"""Files of comma-separated values that a spreadsheet opens without running anything.

What is in them is decided by whoever exports.
"""

import csv
import io
from collections.abc import Iterable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CSV = b"text/csv;charset=UTF-8"


def make_cell(value: object) -> str:
    """Returns a value as a cell; one that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def render_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """Renders lines of a file; every cell is made harmless."""
    lines = io.StringIO()
    csv.writer(lines).writerows([make_cell(value) for value in row] for row in rows)
    return lines.getvalue().encode()
