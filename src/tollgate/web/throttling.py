"""Throttles: how many requests each caller may make in a window, counted here or together with all processes.

Which operations are counted, and how, is a table of the catalogue.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from prometheus_client import Counter

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.catalog.throttles import THROTTLES, Throttle
from tollgate.store.shared_counts import Count, SharedCounts
from tollgate.values import SECOND, Clock, TooMany
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_COUNTERS_MAX = 100_000
_ROW = re.compile("([a-z_]{1,40}) *= *([1-9][0-9]{0,7})/([1-9][0-9]{0,7})")
_HASH_BYTES = 16
_MS = 1000

_COUNTED = Counter("tollgate_throttle_counts", "Requests that throttles with --shared counted.", ("by",))


class Throttles:
    """Counts calls: a window opens with the first call and lets `count` of them through."""

    def __init__(self, rows: Iterable[Throttle], clock: Clock, keyring: Keyring, shared: SharedCounts | None) -> None:
        """shared: counts for all processes; without it, and while it answers nothing, this process counts alone."""
        self._rows: Mapping[str, Throttle] = {
            row.operation: row for row in rows if row.is_on and row.counted_by != "row"
        }
        self._clock, self._keyring, self._shared = clock, keyring, shared
        self._counters: dict[tuple[str, str], tuple[int, int]] = {}
        """(operation, who) to (window's end, calls so far)."""

    async def check(self, operation: str, caller: str, subject_id: str | None) -> None:
        refuse(await self.count(operation, caller, subject_id), subject_id)

    async def count(self, operation: str, caller: str, subject_id: str | None) -> int:
        """Counts a call; returns 0, or the seconds after which a caller of too many may come again."""
        row = self._rows.get(operation)
        # Callers without an address cannot be told apart, so they are not counted together.
        if row is None or (row.counted_by == "address" and not caller):
            return 0
        # The caller is part of the name, so that nobody uses up the calls for another merchant's id.
        who = f"{caller}/{subject_id}" if row.counted_by == "id" and subject_id else caller
        if self._shared is None:
            return self._count_alone(row, who)
        wait_ms = await self._shared.count(Count(self._make_name(operation, who), row.count, row.window_s * _MS))
        _COUNTED.labels("one process" if wait_ms is None else "all processes").inc()
        return self._count_alone(row, who) if wait_ms is None else -(-wait_ms // _MS)

    def _make_name(self, operation: str, who: str) -> str:
        """Names a counter by a keyed hash, because a caller may be an address."""
        hashed = make_mac("throttle", (operation, who), self._keyring)[1 : _HASH_BYTES + 1]
        return f"{operation}:{base64.urlsafe_b64encode(hashed).decode().rstrip('=')}"

    def _count_alone(self, row: Throttle, who: str) -> int:
        now = self._clock.now()
        ends_at, calls = self._counters.get((row.operation, who), (0, 0))
        if ends_at <= now:
            ends_at, calls = now + row.window_s * SECOND, 0
        if calls >= row.count:
            return -(-(ends_at - now) // SECOND)
        if not calls and len(self._counters) >= _COUNTERS_MAX:
            self._forget_closed(now)
        self._counters[row.operation, who] = (ends_at, calls + 1)
        return 0

    def _forget_closed(self, now: int) -> None:
        self._counters = {key: counter for key, counter in self._counters.items() if counter[0] > now}
        if len(self._counters) > _COUNTERS_MAX // 2:
            # A flood of new names must neither grow the table nor have it searched for each of them; starting over
            # forgives, it never refuses wrongly.
            self._counters.clear()


def refuse(wait_s: int, subject_id: str | None = None) -> None:
    """Refuses a caller who has to wait."""
    if wait_s:
        raise TooMany(get_result(codes.TOO_MANY_REQUESTS), retry_after_s=wait_s, subject_id=subject_id)


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
    rows = []
    for row in THROTTLES.values():
        count, window_s = changes.get(row.operation, (row.count, row.window_s))
        is_on = row.is_on or is_live or row.operation in changes
        rows.append(replace(row, count=count, window_s=window_s, is_on=is_on))
    return rows
