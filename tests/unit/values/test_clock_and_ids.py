"""Instants, timestamps and ids have the forms that clients rely on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from tollgate.values import (
    DAY,
    HOUR,
    SECOND,
    FixedClock,
    SystemClock,
    make_id,
    pooled_random_bytes,
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


DRAWS = 1000
"""More than any pool has blocks."""


@pytest.fixture
def _with_many_switches() -> Iterator[None]:
    """Lets threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def draw_many(count: int = 16) -> list[bytes]:
    return [pooled_random_bytes(count) for _ in range(DRAWS)]


@pytest.mark.parametrize("count", [1, 8, 15, 16, 17, 56, 4096])
def test_a_pool_gives_as_many_bytes_as_are_asked_for(count: int) -> None:
    assert {len(drawn) for drawn in draw_many(count)} == {count}


@pytest.mark.usefixtures("_with_many_switches")
def test_no_two_threads_draw_the_same_bytes() -> None:
    with ThreadPoolExecutor(4) as threads:
        drawn = [each for many in threads.map(lambda _: draw_many(), range(20)) for each in many]

    assert len({*drawn}) == len(drawn) == 20 * DRAWS
    halves = {each[start : start + 8] for each in drawn for start in (0, 8)}
    assert len(halves) == 2 * len(drawn)


def test_no_two_processes_draw_the_same_bytes_after_a_fork() -> None:
    drawn = [pooled_random_bytes(16)]
    for _ in range(3):
        source, sink = os.pipe()
        child = os.fork()
        if not child:
            os.write(sink, b"".join(draw_many()))
            os._exit(0)
        os.close(sink)
        with open(source, "rb") as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        assert len(told) == 16 * DRAWS
        drawn += [told[at : at + 16] for at in range(0, len(told), 16)]
    drawn += draw_many()

    assert len({*drawn}) == len(drawn)
