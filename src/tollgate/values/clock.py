"""Time as an argument: instants are whole microseconds since 1970, UTC.

Who owns the sandbox offset is not decided here.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

Instant = int
"""Microseconds since 1970-01-01T00:00:00Z."""

SECOND: Instant = 1_000_000
MINUTE: Instant = 60 * SECOND
HOUR: Instant = 60 * MINUTE
DAY: Instant = 24 * HOUR


class Clock(Protocol):
    """Two clocks in one: business time may be moved on a test host, wall time never is."""

    def now(self) -> Instant: ...

    def wall(self) -> Instant: ...


class SystemClock:
    """The machine's clock plus an offset that a test host moves forward."""

    def __init__(self, offset: Instant = 0) -> None:
        self.offset = offset

    def now(self) -> Instant:
        return time.time_ns() // 1000 + self.offset

    def wall(self) -> Instant:
        return time.time_ns() // 1000


class FixedClock:
    """A clock that tests hold in their hand."""

    def __init__(self, at: Instant) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    def wall(self) -> Instant:
        return self.at


def to_datetime(instant: Instant) -> datetime:
    return datetime.fromtimestamp(instant // SECOND, UTC)


def to_instant(moment: datetime) -> Instant:
    return int(moment.timestamp()) * SECOND + moment.microsecond


_rendered: tuple[int, str] = (-1, "")


def render_timestamp(instant: Instant) -> str:
    """`yyyy-MM-dd HH:mm:ss+0000`; the last second is kept because every answer of a busy second asks for it."""
    global _rendered
    second = instant // SECOND
    if _rendered[0] != second:
        _rendered = (second, time.strftime("%Y-%m-%d %H:%M:%S+0000", time.gmtime(second)))
    return _rendered[1]
