"""Counts calls per operation and caller, by the rows that are switched on.

In memory: each process counts what it serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.catalog.throttles import THROTTLES, Throttle
from tollgate.values import SECOND, Clock, TooMany

_COUNTERS_MAX = 100_000
_ROW = re.compile("([a-z_]{1,40}) *= *([1-9][0-9]{0,7})/([1-9][0-9]{0,7})")


class Throttles:
    """A window opens with the first call and lets `count` of them through."""

    def __init__(self, rows: Iterable[Throttle], clock: Clock) -> None:
        self._rows: Mapping[str, Throttle] = {
            row.operation: row for row in rows if row.is_on and row.counted_by != "row"
        }
        self._clock = clock
        self._counters: dict[tuple[str, str], tuple[int, int]] = {}
        """(operation, who) to (window's end, calls so far)."""

    def check(self, operation: str, caller: str, subject_id: str | None) -> None:
        row = self._rows.get(operation)
        # Whoever comes from nowhere cannot be told from others, and is not counted with all of them.
        if row is None or (row.counted_by == "address" and not caller):
            return
        # The caller is part of the name: whoever asks for another's id must not use up its owner's calls.
        who = f"{caller}/{subject_id}" if row.counted_by == "id" and subject_id else caller
        now = self._clock.now()
        ends_at, calls = self._counters.get((operation, who), (0, 0))
        if ends_at <= now:
            ends_at, calls = now + row.window_s * SECOND, 0
        if calls >= row.count:
            wait_s = -(-(ends_at - now) // SECOND)
            raise TooMany(get_result(codes.TOO_MANY_REQUESTS), retry_after_s=wait_s, subject_id=subject_id)
        if not calls and len(self._counters) >= _COUNTERS_MAX:
            self._forget_closed(now)
        self._counters[operation, who] = (ends_at, calls + 1)

    def _forget_closed(self, now: int) -> None:
        self._counters = {key: counter for key, counter in self._counters.items() if counter[0] > now}
        if len(self._counters) > _COUNTERS_MAX // 2:
            # A flood of new names must neither grow the table nor have it searched for each of them; starting over
            # forgives, it never refuses wrongly.
            self._counters.clear()


def configure_throttles(text: str, *, is_live: bool = False) -> list[Throttle]:
    """Switches rows on with the numbers of `create_payment=200/60,query=2/60`; the rest stay as they are."""
    changes: dict[str, tuple[int, int]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _ROW.fullmatch(part)
        if match is None:
            raise ValueError("--throttles is written OPERATION=COUNT/SECONDS,... with numbers from 1 to 99999999")
        if match[1] not in THROTTLES:
            raise ValueError(f"--throttles names {match[1]}, which is not in the throttle table")
        changes[match[1]] = int(match[2]), int(match[3])
    rows = [replace(row, is_on=row.is_on or is_live) for row in THROTTLES.values()]
    return [_change(row, changes.get(row.operation)) for row in rows]


def _change(row: Throttle, numbers: tuple[int, int] | None) -> Throttle:
    return row if numbers is None else replace(row, count=numbers[0], window_s=numbers[1], is_on=True)
