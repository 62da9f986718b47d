"""Plans in cron's notation by example: what each spelling names on a calendar.
Faults are tested elsewhere.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from time import process_time

import pytest

from tollgate.payments.cron import CRON_BEGINS_AT, CRON_ENDS_AT, CronPlan, fill_plan, parse_plan
from tollgate.payments.reporting import FOREVER
from tollgate.values import DAY, HOUR, MINUTE, SECOND, Instant, to_datetime, to_instant

PARTS = CronPlan.__struct_fields__


def at(year: int, month: int, day: int, hour: int = 0) -> Instant:
    return to_instant(datetime(year, month, day, hour, tzinfo=UTC))


def read_line(line: str) -> CronPlan:
    return CronPlan(**dict(zip(PARTS, line.split(), strict=False)))


def list_moments(plan: CronPlan, since: Instant, count: int) -> list[str]:
    cron = parse_plan(plan)
    found: list[str] = []
    moment = cron.next_after(since - 1)
    while moment is not None and len(found) < count:
        found.append(f"{to_datetime(moment):%Y-%m-%d %H:%M:%S}")
        moment = cron.next_after(moment)
    return found


def list_days(plan: CronPlan, since: Instant, count: int) -> list[str]:
    return [moment.removesuffix(" 00:00:00") for moment in list_moments(plan, since, count)]


def test_the_first_of_every_month_over_ten_years() -> None:
    expected = [f"{year}-{month:02d}-01" for year in range(2026, 2036) for month in range(1, 13)]

    assert list_days(CronPlan(day_of_month="1"), at(2026, 1, 1), 120) == expected


def test_the_thirty_first_skips_the_months_that_lack_it() -> None:
    assert list_days(CronPlan(day_of_month="31"), at(2026, 1, 1), 8) == [
        f"{year}-{month:02d}-31" for year, month in [*((2026, month) for month in (1, 3, 5, 7, 8, 10, 12)), (2027, 1)]
    ]


def test_the_last_day_of_the_month_is_whatever_the_month_has() -> None:
    assert list_days(CronPlan(day_of_month="L"), at(2028, 1, 15), 4) == [
        "2028-01-31",
        "2028-02-29",
        "2028-03-31",
        "2028-04-30",
    ]
    assert list_days(CronPlan(day_of_month="L", month="2"), at(2026, 1, 1), 3) == [
        "2026-02-28",
        "2027-02-28",
        "2028-02-29",
    ]


def test_the_third_day_before_the_last_is_counted_from_the_end() -> None:
    assert list_days(CronPlan(day_of_month="L-3"), at(2027, 1, 29), 3) == ["2027-02-25", "2027-03-28", "2027-04-27"]


def test_a_month_without_so_many_days_before_its_last_is_skipped() -> None:
    assert list_days(CronPlan(day_of_month="L-30"), at(2026, 1, 2), 3) == ["2026-03-01", "2026-05-01", "2026-07-01"]


def test_a_leap_day_comes_every_four_years() -> None:
    plan = CronPlan(day_of_month="29", month="FEB")

    assert list_days(plan, at(2026, 1, 1), 6) == [f"{year}-02-29" for year in range(2028, 2049, 4)]


def test_the_last_leap_day_is_that_of_2096() -> None:
    cron = parse_plan(CronPlan(day_of_month="29", month="FEB"))

    assert cron.next_after(at(2096, 2, 29)) is None
    assert cron.last_until(FOREVER) == at(2096, 2, 29)


def test_the_last_working_day_comes_before_a_weekend_that_ends_the_month() -> None:
    # 2026-01-31 and 2026-02-28 are Saturdays, 2026-05-31 is a Sunday.
    assert list_days(CronPlan(day_of_month="LW"), at(2026, 1, 1), 5) == [
        "2026-01-30",
        "2026-02-27",
        "2026-03-31",
        "2026-04-30",
        "2026-05-29",
    ]


@pytest.mark.parametrize(
    ("day", "month", "expected"),
    [
        ("15W", 5, "2026-05-15"),  # a Friday stays
        ("15W", 8, "2026-08-14"),  # a Saturday moves back
        ("15W", 2, "2026-02-16"),  # a Sunday moves on
        ("1W", 8, "2026-08-03"),  # a Saturday that begins the month does not leave it
        ("1W", 2, "2026-02-02"),
        ("31W", 5, "2026-05-29"),  # a Sunday that ends the month does not leave it
        ("31W", 1, "2026-01-30"),
        ("28W", 2, "2026-02-27"),
        ("L-1W", 5, "2026-05-29"),
    ],
)
def test_the_nearest_working_day_is_within_the_month(day: str, month: int, expected: str) -> None:
    assert list_days(CronPlan(day_of_month=day, month=str(month)), at(2026, 1, 1), 1) == [expected]


def test_a_month_that_lacks_a_day_has_no_working_day_near_it() -> None:
    assert list_days(CronPlan(day_of_month="31W", year="2026"), at(2026, 1, 1), 12) == [
        "2026-01-30",
        "2026-03-31",
        "2026-05-29",
        "2026-07-31",
        "2026-08-31",
        "2026-10-30",
        "2026-12-31",
    ]


def test_a_fifth_friday_comes_only_in_months_that_have_one() -> None:
    plan = CronPlan(day_of_week="FRI#5")

    assert list_days(plan, at(2026, 1, 1), 4) == ["2026-01-30", "2026-05-29", "2026-07-31", "2026-10-30"]


def test_a_fifth_friday_of_february_is_a_leap_day_and_comes_once_in_28_years() -> None:
    assert list_days(CronPlan(day_of_week="6#5", month="2"), at(2026, 1, 1), 9) == [
        "2036-02-29",
        "2064-02-29",
        "2092-02-29",
    ]


@pytest.mark.parametrize("text", ["6#3", "FRI#3", "fri#3"])
def test_the_third_friday_has_three_spellings(text: str) -> None:
    assert list_days(CronPlan(day_of_week=text), at(2026, 1, 1), 3) == ["2026-01-16", "2026-02-20", "2026-03-20"]


@pytest.mark.parametrize("text", ["6L", "FRIL", "fril"])
def test_the_last_friday_has_three_spellings(text: str) -> None:
    assert list_days(CronPlan(day_of_week=text), at(2026, 1, 1), 3) == ["2026-01-30", "2026-02-27", "2026-03-27"]


def test_a_lone_l_among_weekdays_is_saturday() -> None:
    assert list_days(CronPlan(day_of_week="L"), at(2026, 1, 1), 2) == ["2026-01-03", "2026-01-10"]


def test_weeks_begin_on_sunday_with_one() -> None:
    assert list_days(CronPlan(day_of_week="1"), at(2026, 1, 1), 1) == ["2026-01-04"]
    assert list_days(CronPlan(day_of_week="7"), at(2026, 1, 1), 1) == ["2026-01-03"]


def test_a_list_mixes_all_spellings_of_a_day() -> None:
    assert list_days(CronPlan(day_of_month="1,15w,l,L-1"), at(2026, 8, 1), 5) == [
        "2026-08-01",
        "2026-08-14",
        "2026-08-30",
        "2026-08-31",
        "2026-09-01",
    ]
    assert list_days(CronPlan(day_of_week="MON#1,FRIL,WED"), at(2026, 8, 1), 6) == [
        "2026-08-03",
        "2026-08-05",
        "2026-08-12",
        "2026-08-19",
        "2026-08-26",
        "2026-08-28",
    ]


def test_ranges_run_over_the_end_of_the_week_the_day_and_the_year() -> None:
    assert list_days(CronPlan(day_of_week="FRI-MON"), at(2026, 1, 1), 5) == [
        "2026-01-02",
        "2026-01-03",
        "2026-01-04",
        "2026-01-05",
        "2026-01-09",
    ]
    assert list_moments(CronPlan(hour="22-4/3"), at(2026, 1, 1), 4) == [
        "2026-01-01 01:00:00",
        "2026-01-01 04:00:00",
        "2026-01-01 22:00:00",
        "2026-01-02 01:00:00",
    ]
    assert list_days(CronPlan(month="NOV-FEB"), at(2026, 1, 15), 3) == ["2026-02-01", "2026-11-01", "2026-12-01"]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("5/15", [5, 20, 35, 50]),
        ("*/20", [0, 20, 40]),
        ("1-20/7", [1, 8, 15]),
        ("50-10/10", [0, 10, 50]),
        ("59,0,59", [0, 59]),
        ("3/60", [3]),
    ],
)
def test_a_step_counts_from_where_its_range_begins(text: str, minutes: list[int]) -> None:
    moments = list_moments(CronPlan(minute=text, hour="7"), at(2026, 1, 1), len(minutes))

    assert moments == [f"2026-01-01 07:{minute:02d}:00" for minute in minutes]


def test_a_plan_ends_with_the_last_of_its_years() -> None:
    plan = CronPlan(day_of_month="24", month="DEC", year="2027,2030-2032,2099")

    assert list_days(plan, at(2026, 1, 1), 99) == [f"{year}-12-24" for year in (2027, 2030, 2031, 2032, 2099)]


def test_a_step_of_years_counts_from_1970() -> None:
    assert list_days(CronPlan(year="*/4"), at(2026, 1, 1), 3) == ["2026-01-01", "2030-01-01", "2034-01-01"]


@pytest.mark.parametrize(
    ("plan", "distance"),
    [
        (CronPlan(second="*"), SECOND),
        (CronPlan(second="0"), MINUTE),
        (CronPlan(minute="0"), HOUR),
        (CronPlan(minute="*"), MINUTE),
        (CronPlan(hour="6"), DAY),
        (CronPlan(hour="*"), HOUR),
        (CronPlan(hour="6", month="*", year="*"), DAY),
        (CronPlan(second="0", minute="30", hour="6"), DAY),
        (CronPlan(day_of_month="*"), DAY),
        (CronPlan(day_of_week="*"), DAY),
        (CronPlan(day_of_week="MON"), 7 * DAY),
        (CronPlan(day_of_week="MON", hour="8"), 7 * DAY),
        (CronPlan(day_of_month="1", second="0"), 31 * DAY),
        (CronPlan(month="*"), 31 * DAY),
        (CronPlan(day_of_month="1", minute="30"), 31 * DAY),
        (CronPlan(day_of_month="1", year="2027"), 31 * DAY),
        (CronPlan(hour="6", second="0"), DAY),
        (CronPlan(hour="6", month="12"), DAY),
        (CronPlan(month="12"), 365 * DAY),
        (CronPlan(year="*"), 365 * DAY),
    ],
    ids=str,
)
def test_what_was_left_out_lets_no_plan_fall_due_more_often_than_it_asks(plan: CronPlan, distance: Instant) -> None:
    cron = parse_plan(plan)
    first = cron.next_after(at(2026, 12, 1) - 1)
    assert first is not None
    second = cron.next_after(first)

    assert second is not None
    # The first is in December or January: a month of 31 days, in a year without a leap day.
    assert second - first == distance


def test_the_parts_left_out_are_filled_in_and_the_others_kept_in_capitals() -> None:
    filled = fill_plan(CronPlan(day_of_week="mon#1", year="2030"))

    assert filled == dict(zip(PARTS, ["0", "0", "0", "?", "*", "MON#1", "2030"], strict=True))


def test_a_moment_is_found_only_after_it_when_looking_on_and_at_it_when_looking_back() -> None:
    cron = parse_plan(CronPlan(hour="6"))
    six = at(2026, 5, 1, 6)

    assert cron.next_after(six - 1) == six
    assert cron.next_after(six) == six + DAY
    assert cron.last_until(six) == six
    assert cron.last_until(six - 1) == six - DAY


def test_nothing_is_found_outside_of_the_hundred_years() -> None:
    cron = parse_plan(CronPlan(second="*"))

    assert cron.next_after(-FOREVER) == cron.next_after(0) == CRON_BEGINS_AT
    assert cron.last_until(FOREVER) == CRON_ENDS_AT - SECOND
    assert cron.next_after(CRON_ENDS_AT - SECOND) is None
    assert cron.next_after(FOREVER) is None
    assert cron.last_until(CRON_BEGINS_AT - 1) is None
    assert cron.last_until(-FOREVER) is None


@pytest.mark.parametrize("other", ["*", "?"])
def test_a_weekday_is_followed_whichever_way_the_day_of_the_month_is_left_open(other: str) -> None:
    assert list_days(CronPlan(day_of_month=other, day_of_week="MON"), at(2026, 1, 1), 1) == ["2026-01-05"]
    assert list_days(CronPlan(day_of_month="7", day_of_week=other), at(2026, 1, 1), 1) == ["2026-01-07"]


@pytest.mark.parametrize(
    "plan",
    [
        read_line("*/1 */1 */1 */1 */1 ? */1"),
        read_line("* * * ? * * *"),
        read_line("59 59 23 29 FEB ? 2096"),
        read_line("59 59 23 L 12 ? 2099"),
        CronPlan(day_of_week="6#5", month="2"),
        CronPlan(day_of_month=",".join(f"{day}W" for day in range(1, 32)), month="2", year="2099"),
        CronPlan(day_of_month=",".join(f"L-{back}W" for back in range(31)), month="2", year="2099"),
        CronPlan(year=",".join(["*/1"] * 64), month=",".join(["*"] * 128), day_of_month=",".join(["1-31"] * 51)),
    ],
    ids=lambda plan: str(plan)[:60],
)
def test_no_plan_takes_long_to_read_or_to_search(plan: CronPlan) -> None:
    started = process_time()
    cron = parse_plan(plan)
    found = [cron.next_after(at(2000, 1, 1)), cron.last_until(CRON_ENDS_AT)]

    # Measured at a few milliseconds; one second at a time it would be hours, on any machine.
    assert process_time() - started < 30
    assert None not in found


def test_moments_of_a_plan_are_evenly_ordered_in_both_directions() -> None:
    cron = parse_plan(read_line("0 30 7,19 1,15W,L * ? 2026-2027"))
    onward: list[Instant] = []
    moment = cron.next_after(at(2026, 1, 1))
    while moment is not None:
        onward.append(moment)
        moment = cron.next_after(moment)
    back: list[Instant] = []
    moment = cron.last_until(FOREVER)
    while moment is not None:
        back.append(moment)
        moment = cron.last_until(moment - 1)

    assert len(onward) == 2 * 3 * 24
    assert back == onward[::-1]
    assert all(earlier < later for earlier, later in pairwise(onward))
