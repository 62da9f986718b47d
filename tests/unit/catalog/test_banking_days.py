"""The days on which banks settle: the known holidays are none, and counting passes over them."""

from __future__ import annotations

from datetime import date

import pytest

from tollgate.catalog.banking_days import add_banking_days, get_banking_day, get_easter, is_banking_day

EASTERS = "1961-04-02 2000-04-23 2008-03-23 2024-03-31 2025-04-20 2026-04-05 2027-03-28 2038-04-25"


@pytest.mark.parametrize("day", EASTERS.split())
def test_easter_is_when_the_church_says(day: str) -> None:
    easter = date.fromisoformat(day)

    assert get_easter(easter.year) == easter


@pytest.mark.parametrize(
    "day",
    [
        "2026-01-01",
        "2026-04-03",
        "2026-04-06",
        "2026-05-01",
        "2026-12-25",
        "2028-12-26",
        "2026-11-14",
        "2026-11-15",
    ],
)
def test_weekends_and_holidays_are_no_banking_days(day: str) -> None:
    assert not is_banking_day(date.fromisoformat(day))


@pytest.mark.parametrize("day", ["2026-01-02", "2026-04-02", "2026-04-07", "2026-12-24", "2025-10-03", "2026-05-14"])
def test_national_holidays_and_workdays_are_banking_days(day: str) -> None:
    assert is_banking_day(date.fromisoformat(day))


def test_a_weekend_is_passed_over() -> None:
    assert get_banking_day(date(2026, 11, 14)) == date(2026, 11, 16)
    assert get_banking_day(date(2026, 11, 16)) == date(2026, 11, 16)


def test_banking_days_are_counted_over_easter_and_christmas() -> None:
    assert add_banking_days(date(2026, 4, 2), 1) == date(2026, 4, 7)
    assert add_banking_days(date(2026, 12, 24), 2) == date(2026, 12, 29)
    assert add_banking_days(date(2026, 11, 15), 0) == date(2026, 11, 15)
