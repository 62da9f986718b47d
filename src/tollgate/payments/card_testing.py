"""The counters by which card testing is recognised. They leak, so that nothing is counted for ever; no I/O."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tollgate.catalog import card_testing as rows
from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.values import HOUR, SECOND, Instant


class Judgement(NamedTuple):
    """The worst that the counters of one payment say."""

    counter: rows.DeclineCounter
    wait_s: float
    is_refused: bool


class Levels:
    """The counters of one process, by key. Their number is bounded, and the lowest are dropped first."""

    def __init__(self, entries_max: int = rows.ENTRIES_MAX) -> None:
        self._entries_max = entries_max
        self._levels: dict[str, tuple[float, Instant]] = {}
        """The level when it was last changed, and when that was."""

    def __len__(self) -> int:
        return len(self._levels)

    def get(self, key: str, now: Instant) -> float:
        level, at = self._levels.get(key, (0.0, now))
        leaked = max(0, now - at) * rows.COUNTERS[key[0]].refuse_from / HOUR
        return max(0.0, level - leaked)

    def add(self, key: str, change: int, at: Instant, now: Instant) -> float:
        """Adds declines, or takes approvals off, and returns the new level.

        The level is kept as it was at the time of the newest change. So a process that reads all changes when it starts
        gets the levels of one that ran on.
        """
        row = rows.COUNTERS[key[0]]
        at = min(at, now)
        newest = max(at, self._levels[key][1]) if key in self._levels else at
        left = max(0.0, change - (newest - at) * row.refuse_from / HOUR) if change > 0 else change
        level = self.get(key, newest) + left
        level = min(level, float(row.refuse_from * rows.LEVEL_FACTOR_MAX))
        if level <= 0:
            self._levels.pop(key, None)
            return 0.0
        if key not in self._levels and len(self._levels) >= self._entries_max:
            self._drop_lowest(now)
        self._levels[key] = level, newest
        return level

    def _drop_lowest(self, now: Instant) -> None:
        """Drops half of the entries or more: those with the smallest shares of what their counters refuse from."""
        shares = {key: self.get(key, now) / rows.COUNTERS[key[0]].refuse_from for key in self._levels}
        least = sorted(shares.values())[len(shares) // 2]
        # Of many that are alike, those that came first go; otherwise a flood of equal ones could not be dropped.
        kept = [key for key, share in shares.items() if share > least]
        room = self._entries_max // 2 - len(kept)
        alike = [key for key, share in shares.items() if share == least]
        kept += alike[-room:] if room > 0 else []
        self._levels = {key: self._levels[key] for key in kept}


def is_counted(code: str) -> bool:
    """Tells whether a result says something about the card, as a failed authentication does too."""
    if code == codes.AUTHENTICATION_FAILED:
        return True
    return get_result(code).group in rows.COUNTED_GROUPS and code not in rows.UNCOUNTED


def find_judgement(keys: Iterable[str], levels: Levels, undecided: Mapping[str, int], now: Instant) -> Judgement | None:
    """Returns None where a payment goes on at once."""
    worst: Judgement | None = None
    for key in keys:
        row, level = rows.COUNTERS[key[0]], levels.get(key, now)
        if level >= row.refuse_from:
            return Judgement(row, 0.0, is_refused=True)
        crowded = level + max(0, undecided.get(key, 0) - row.undecided_max)
        if crowded < row.slow_from:
            continue
        share = min(1.0, (crowded - row.slow_from) / (row.refuse_from - row.slow_from))
        wait_s = rows.WAIT_S_MIN + share * (rows.WAIT_S_MAX - rows.WAIT_S_MIN)
        if worst is None or wait_s > worst.wait_s:
            worst = Judgement(row, wait_s, is_refused=False)
    return worst


def get_retry_after_s(judgement: Judgement) -> int:
    """Returns the seconds after which a counter has forgotten a decline."""
    return max(1, HOUR // judgement.counter.refuse_from // SECOND)
