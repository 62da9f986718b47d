"""The bounds of months, and which partition holds an instant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tollgate.store.months import (
    Partition,
    Span,
    find_gap,
    find_partition,
    get_month,
    list_months,
    make_partition_name,
    read_timed_id,
)
from tollgate.values import SECOND, Instant, make_timed_id


def at(year: int, month: int, day: int = 1, hour: int = 0) -> Instant:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp()) * SECOND


NOVEMBER = Span(at(2026, 11), at(2026, 12))
DECEMBER = Span(at(2026, 12), at(2027, 1))
PAST = Partition(None, at(2026, 11), "payments_past")
KNOWN = [PAST, Partition(*NOVEMBER, "payments_2026_11"), Partition(at(2027, 1), at(2027, 2), "payments_2027_01")]


@pytest.mark.parametrize(
    ("instant", "month"),
    [
        (NOVEMBER.begins_at, NOVEMBER),
        (NOVEMBER.ends_at - 1, NOVEMBER),
        (NOVEMBER.ends_at, DECEMBER),
        (DECEMBER.ends_at - 1, DECEMBER),
        # Neither a leap day nor the hours that clocks are moved in summer change a bound.
        (at(2028, 2, 29, 23), Span(at(2028, 2), at(2028, 3))),
        (at(2026, 3, 29, 1), Span(at(2026, 3), at(2026, 4))),
        (0, Span(0, at(1970, 2))),
        (-1, Span(at(1969, 12), 0)),
    ],
)
def test_a_month_begins_and_ends_at_midnight_utc(instant: Instant, month: Span) -> None:
    assert get_month(instant) == month


def test_the_next_months_follow_each_other_over_the_new_year() -> None:
    months = list_months(at(2026, 11, 19), 3)

    assert [make_partition_name("payments", month) for month in months] == [
        "payments_2026_11",
        "payments_2026_12",
        "payments_2027_01",
        "payments_2027_02",
    ]
    assert [month.begins_at for month in months[1:]] == [month.ends_at for month in months[:-1]]


@pytest.mark.parametrize(
    ("instant", "name"),
    [
        (0, "payments_past"),
        (at(2026, 11) - 1, "payments_past"),
        (at(2026, 11), "payments_2026_11"),
        (at(2026, 12) - 1, "payments_2026_11"),
        (at(2026, 12), None),
        (at(2027, 1), "payments_2027_01"),
        (at(2027, 2), None),
    ],
)
def test_an_instant_is_in_one_partition_or_none(instant: Instant, name: str | None) -> None:
    found = find_partition(KNOWN, instant)

    assert (found and found.name) == name
    assert (find_gap(KNOWN, instant) is None) == (found is not None)


def test_what_is_missing_is_a_month() -> None:
    assert find_gap(KNOWN, at(2026, 12, 31)) == DECEMBER
    assert find_gap([], at(2026, 12, 31)) == DECEMBER


def test_what_is_missing_ends_where_a_partition_begins() -> None:
    around = [Partition(None, at(2026, 12, 5), "past"), Partition(at(2026, 12, 20), at(2027, 1), "late")]

    assert find_gap(around, at(2026, 12, 10)) == Span(at(2026, 12, 5), at(2026, 12, 20))


def test_a_timed_id_begins_with_its_time() -> None:
    assert read_timed_id(make_timed_id(NOVEMBER.begins_at, "8a01")) == NOVEMBER.begins_at
