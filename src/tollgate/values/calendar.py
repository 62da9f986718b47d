"""Months, which differ in length: counting them on an instant, and where one ends. UTC only."""

from __future__ import annotations

import calendar
from datetime import MAXYEAR, UTC, datetime

from tollgate.values.clock import SECOND, Instant, to_datetime, to_instant

_MONTHS = 12


def add_months(at: Instant, months: int) -> Instant:
    """The same day of a later month, or the last one where that month is shorter; the time of day stays."""
    moment = to_datetime(at)
    year, month = divmod(moment.year * _MONTHS + moment.month - 1 + months, _MONTHS)
    if year > MAXYEAR:
        raise ValueError("no calendar reaches so far")
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return to_instant(moment.replace(year=year, month=month + 1, day=day)) + at % SECOND


def get_month_end(year: int, month: int) -> Instant:
    """The instant at which the month is over."""
    return add_months(to_instant(datetime(year, month, 1, tzinfo=UTC)), 1)
