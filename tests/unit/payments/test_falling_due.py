"""The last due time that has come is paid once, with the missed ones before it and the next one after."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.payments.cron import CronPlan, parse_plan
from tollgate.payments.schedule import count_due, find_next, make_run_payment_id
from tollgate.values import DAY, HOUR, MINUTE, SECOND, Instant, ScheduleId, to_instant


def at(text: str) -> Instant:
    return to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


MONTH_ENDS = parse_plan(CronPlan(day_of_month="L"))
DAILY = parse_plan(CronPlan(hour="12"))
EACH_MINUTE = parse_plan(CronPlan(minute="*"))


def test_a_time_that_has_just_come_is_due_and_nothing_was_missed() -> None:
    due = count_due(MONTH_ENDS, at("2028-02-29"), None, at("2028-02-29"))

    assert (due.due_at, due.missed, due.skipped, due.next_at) == (at("2028-02-29"), (), 0, at("2028-03-31"))


def test_after_months_of_silence_the_last_time_is_due_and_the_earlier_ones_were_missed() -> None:
    due = count_due(MONTH_ENDS, at("2027-11-30"), None, at("2028-03-05"))

    assert due.due_at == at("2028-02-29")
    assert due.missed == (at("2028-01-31"), at("2027-12-31"), at("2027-11-30"))
    assert due.next_at == at("2028-03-31")


def test_nothing_falls_due_at_or_after_the_end() -> None:
    due = count_due(MONTH_ENDS, at("2027-11-30"), at("2028-01-31"), at("2028-03-05"))

    assert due.due_at == at("2027-12-31")
    assert due.missed == (at("2027-11-30"),)
    assert due.next_at is None


def test_the_last_instant_before_the_end_still_counts() -> None:
    due = count_due(MONTH_ENDS, at("2027-11-30"), at("2028-01-31") + 1, at("2028-03-05"))

    assert due.due_at == at("2028-01-31")
    assert due.next_at is None


def test_what_was_promised_is_due_although_the_plan_reads_otherwise() -> None:
    promised = at("2028-02-28 08:00")

    due = count_due(DAILY, promised, None, promised + HOUR)
    later = count_due(DAILY, promised, None, at("2028-03-01 13:00"))

    assert (due.due_at, due.missed, due.next_at) == (promised, (), at("2028-02-28 12:00"))
    assert later.missed == (at("2028-02-29 12:00"), at("2028-02-28 12:00"), promised)


@pytest.mark.parametrize("more", [0, 1, 7])
def test_of_very_many_missed_times_the_oldest_are_only_counted(more: int) -> None:
    first = at("2027-01-01")
    count = LIMITS.missed_runs_kept + more

    due = count_due(EACH_MINUTE, first, None, first + count * MINUTE + SECOND)

    assert due.due_at == first + count * MINUTE
    assert due.missed == tuple(due.due_at - n * MINUTE for n in range(1, LIMITS.missed_runs_kept + 1))
    assert due.skipped == more


def test_counting_ends_somewhere() -> None:
    first = at("2027-01-01")

    due = count_due(EACH_MINUTE, first, None, first + 30 * DAY)

    assert due.skipped == LIMITS.missed_runs_counted
    assert due.due_at == first + 30 * DAY


def test_the_next_time_is_none_where_the_years_are_over() -> None:
    assert find_next(MONTH_ENDS, at("2099-12-31"), None) is None


def test_a_payment_has_one_name_for_each_schedule_time_and_try() -> None:
    first, second = ScheduleId("8a01"), ScheduleId("8a02")
    names = {make_run_payment_id(of, due, n) for of in (first, second) for due in (1, 11) for n in (1, 11)}

    assert len(names) == 8
    assert make_run_payment_id(first, 1, 1) == make_run_payment_id(first, 1, 1)
    assert all(len(name) == 32 and name.startswith("8a") for name in names)


def test_the_name_of_a_payment_never_changes() -> None:
    """A new release that named it otherwise would make payments again that a process began before."""
    assert (
        make_run_payment_id(ScheduleId("8a" + "5" * 30), 1_800_000_000_000_000, 2) == "8ab9945615e75166999a7e3cde3d39de"
    )
