"""Instants, timestamps and ids have the forms that clients rely on."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from tollgate.values import (
    DAY,
    HOUR,
    SECOND,
    FixedClock,
    SystemClock,
    make_id,
    render_timestamp,
    to_datetime,
    to_instant,
)

LEAP_DAY = datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)


def test_a_timestamp_is_written_in_utc_with_its_offset() -> None:
    assert render_timestamp(to_instant(LEAP_DAY)) == "2028-02-29 23:59:59+0000"
    assert render_timestamp(to_instant(LEAP_DAY) + SECOND) == "2028-03-01 00:00:00+0000"


def test_the_remembered_second_is_forgotten_when_it_has_passed() -> None:
    first, second = render_timestamp(10 * DAY), render_timestamp(10 * DAY + HOUR)

    assert (first, render_timestamp(10 * DAY), second) == (first, first, "1970-01-11 01:00:00+0000")


def test_instants_and_datetimes_are_the_same_moments() -> None:
    assert to_datetime(to_instant(LEAP_DAY)) == LEAP_DAY
    assert to_instant(datetime(1970, 1, 1, 0, 0, 0, 7, tzinfo=UTC)) == 7


def test_only_business_time_moves_with_the_offset() -> None:
    clock = SystemClock(offset=DAY)

    assert 0 <= clock.now() - clock.wall() - DAY + SECOND <= 2 * SECOND
    clock.offset = 0
    assert abs(clock.now() - clock.wall()) < SECOND


def test_a_fixed_clock_stands_still() -> None:
    clock = FixedClock(DAY)

    assert clock.now() == clock.wall() == DAY


def test_an_id_is_32_hex_digits_that_no_client_takes_for_a_small_number() -> None:
    assert make_id(lambda count: b"\0" * count) == "8a" + "0" * 30
    assert make_id(lambda count: b"\xff" * count) == "8a" + "f" * 30
    ids = {make_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch("8a[0-9a-f]{30}", each) for each in ids)
