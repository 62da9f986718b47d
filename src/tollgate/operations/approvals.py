"""Reads which actions of the back office a second person confirms. Asking for it is the back office's work."""

import re
from collections.abc import Mapping

import msgspec

from tollgate.catalog.permissions import FOUR_EYES_ROWS, ApprovalKind, FourEyesRow
from tollgate.values import read_hundredths

_NONE = "none"
_PART = re.compile(r"([a-z_]{1,40})(?: *= *([0-9]{1,12}(?:\.[0-9]{2})?))?")


def read_four_eyes(text: str, *, is_live: bool) -> Mapping[ApprovalKind, FourEyesRow]:
    """Reads `refund=1000.00,token`. Without a text, a live host has all rows of the catalogue and a test host none."""
    rows = {row.kind: row for row in FOUR_EYES_ROWS}
    if not text:
        return rows if is_live else {}
    if text == _NONE:
        return {}
    chosen: dict[ApprovalKind, FourEyesRow] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None or match[1] not in set(ApprovalKind):
            raise ValueError(f"--four-eyes names actions among {', '.join(ApprovalKind)}, as in refund=1000.00,token")
        row = rows[ApprovalKind(match[1])]
        if match[2] is not None and row.above is None:
            raise ValueError(f"--four-eyes: {row.kind} has no amount")
        above = row.above if match[2] is None else read_hundredths(match[2])
        chosen[row.kind] = msgspec.structs.replace(row, above=above)
    return chosen


def needs_approval(rows: Mapping[ApprovalKind, FourEyesRow], kind: ApprovalKind, amount: int | None = None) -> bool:
    """Tells whether a second person confirms an action; amount: hundredths, where the action has one."""
    row = rows.get(kind)
    return row is not None and (row.above is None or amount is None or amount > row.above)
