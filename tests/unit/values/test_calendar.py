"""Months are counted by the calendar: their ends, leap days, and where no calendar reaches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollgate.values import DAY, SECOND, add_months, get_month_end, to_datetime, to_instant


def at(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> int:
    return to_instant(datetime(year, month, day, hour, minute, second, tzinfo=UTC))


@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ((2026, 1, 31), 1, (2026, 2, 28)),
        ((2028, 1, 31), 1, (2028, 2, 29)),
        ((2028, 2, 29), 12, (2029, 2, 28)),
        ((2028, 2, 29), 48, (2032, 2, 29)),
        ((2100, 1, 30), 1, (2100, 2, 28)),
        ((2026, 10, 31), 1, (2026, 11, 30)),
        ((2026, 12, 31), 1, (2027, 1, 31)),
        ((2026, 11, 15), 14, (2028, 1, 15)),
        ((2026, 11, 30), 0, (2026, 11, 30)),
        ((2026, 3, 31), -1, (2026, 2, 28)),
        ((2026, 1, 1), -1, (2025, 12, 1)),
    ],
)
def test_the_same_day_or_the_last_one_of_a_shorter_month(
    start: tuple[int, int, int], months: int, end: tuple[int, int, int]
) -> None:
    assert add_months(at(*start, 23, 59, 59), months) == at(*end, 23, 59, 59)


def test_the_time_of_day_stays_to_the_microsecond() -> None:
    assert add_months(at(2026, 1, 31, 0, 0, 1) + 999_999, 1) == at(2026, 2, 28, 0, 0, 1) + 999_999


@pytest.mark.parametrize(
    ("year", "month", "end"),
    [(2026, 11, (2026, 12, 1)), (2026, 12, (2027, 1, 1)), (2028, 2, (2028, 3, 1)), (1999, 12, (2000, 1, 1))],
)
def test_a_month_is_over_when_the_next_begins(year: int, month: int, end: tuple[int, int, int]) -> None:
    assert get_month_end(year, month) == at(*end)
    assert to_datetime(get_month_end(year, month) - 1).month == month


def test_what_no_calendar_reaches_is_refused() -> None:
    assert add_months(at(9998, 12, 31), 12) == at(9999, 12, 31)
    with pytest.raises(ValueError, match="no calendar"):
        add_months(at(9999, 12, 1), 1)


_days = st.integers(at(1990, 1, 1) // DAY, at(2199, 12, 31) // DAY)


@settings(max_examples=200, deadline=None)
@given(_days, st.integers(0, DAY - 1), st.integers(0, 1200))
def test_counting_months_agrees_with_walking_from_month_to_month(day: int, clock: int, months: int) -> None:
    start = day * DAY + clock

    moved = add_months(start, months)

    began, ended = to_datetime(start), to_datetime(moved)
    walked = began.replace(day=1)
    for _ in range(months):
        walked = (walked + timedelta(days=32)).replace(day=1)
    assert (ended.year, ended.month) == (walked.year, walked.month)
    is_last_day = (ended + timedelta(days=1)).month != ended.month
    assert ended.day == began.day or (ended.day < began.day and is_last_day)
    assert moved % DAY == start % DAY
    assert moved % SECOND == start % SECOND


@settings(max_examples=200, deadline=None)
@given(_days, st.integers(0, 1200), st.integers(1, 100))
def test_more_months_never_end_earlier(day: int, months: int, more: int) -> None:
    assert add_months(day * DAY, months) < add_months(day * DAY, months + more)
