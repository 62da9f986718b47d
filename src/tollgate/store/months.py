"""Months: their bounds, the names of their partitions, and which of the known partitions holds an instant.

Nothing is read or written here.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tollgate.values import Instant, to_datetime

TIME_DIGITS = 16
"""So many hex digits of an id are its time."""
_MONTHS = 12
_BEFORE_ALL: Instant = -(2**63)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Span(NamedTuple):
    """A range of instants, without its end."""

    begins_at: Instant
    ends_at: Instant


class Partition(NamedTuple):
    """A partition of one of the tables. Without a beginning, it holds all that is older than its end."""

    begins_at: Instant | None
    ends_at: Instant
    name: str


def get_month(at: Instant) -> Span:
    """Returns the month of an instant, in UTC."""
    day = to_datetime(at)
    return Span(_begin(day.year, day.month), _begin(day.year + day.month // _MONTHS, day.month % _MONTHS + 1))


def _begin(year: int, month: int) -> Instant:
    return (datetime(year, month, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def list_months(at: Instant, ahead: int) -> list[Span]:
    """Lists the month of an instant and so many after it."""
    months = [get_month(at)]
    for _ in range(ahead):
        months.append(get_month(months[-1].ends_at))
    return months


def make_partition_name(table: str, month: Span) -> str:
    day = to_datetime(month.begins_at)
    return f"{table}_{day.year:04}_{day.month:02}"


def find_partition(partitions: Sequence[Partition], at: Instant) -> Partition | None:
    """Returns the partition that holds an instant, of partitions in their order."""
    place = bisect_right(partitions, at, key=_get_begin)
    found = partitions[place - 1] if place else None
    return found if found is not None and at < found.ends_at else None


def _get_begin(partition: Partition) -> Instant:
    return _BEFORE_ALL if partition.begins_at is None else partition.begins_at


def find_gap(partitions: Sequence[Partition], at: Instant) -> Span | None:
    """Returns what of the month of an instant no partition holds, around the instant; None if one holds it.

    Months are whole but where the first partition ends within one.
    """
    if find_partition(partitions, at) is not None:
        return None
    begins_at, ends_at = get_month(at)
    for each in partitions:
        if each.ends_at <= at:
            begins_at = max(begins_at, each.ends_at)
        elif each.begins_at is not None and each.begins_at > at:
            ends_at = min(ends_at, each.begins_at)
    return Span(begins_at, ends_at)


def read_timed_id(timed_id: str) -> Instant:
    """Returns the time with which an id begins."""
    return int(timed_id[:TIME_DIGITS], 16)
