"""Schedules as merchants write them: which parts are read, which codes say what is wrong, what is echoed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.contract.jobs import JobPlan, read_plan, recall_plan, render_plan
from tollgate.payments.cron import CronPlan
from tollgate.values import DAY, Fault, Instant, InvalidParameters, to_instant

MISSING = "may not be empty"
UNITS = "must be one of [DAY, WEEK, MONTH, YEAR]"


def at(year: int, month: int, day: int, hour: int = 0) -> Instant:
    return to_instant(datetime(year, month, day, hour, tzinfo=UTC))


NOW = at(2026, 1, 15, 12)


def send(**job: str) -> JobPlan:
    """Reads a plan as a request brings it, before shapes and rules are checked."""
    pairs = [("amount", "9.99"), ("currency", "EUR"), ("registrationId", "8a" * 16)]
    pairs += [(f"job.{name}", text) for name, text in job.items()]
    return read_plan(read_fields(pairs, Situation("schedule", "SD")), NOW)


def refusal_of(**job: str) -> tuple[str, Fault]:
    with pytest.raises(InvalidParameters) as caught:
        send(**job)
    (fault,) = caught.value.faults
    return caught.value.result.code, fault


def test_a_plan_of_single_parts_is_read_with_all_that_stands_beside_it() -> None:
    job = send(
        name="magazine",
        action="PA",
        hour="6",
        dayOfMonth="L",
        startDate="2026-02-01",
        endDate="2026-12-31",
        noticeNumber="3",
        noticeUnit="MONTH",
        noticeCallable="true",
    )

    assert job.plan == CronPlan(hour="6", day_of_month="L")
    assert (job.name, job.payment_type) == ("magazine", "PA")
    assert (job.starts_at, job.first_at, job.ends_at) == (at(2026, 2, 1), at(2026, 2, 28, 6), at(2027, 1, 1))
    assert (job.notice_number, job.notice_unit, job.is_notice_callable) == (3, "MONTH", True)


def test_a_plan_alone_starts_at_once_and_has_no_end() -> None:
    job = send(dayOfMonth="1")

    assert (job.first_at, job.starts_at, job.ends_at) == (at(2026, 2, 1), None, None)
    assert (job.name, job.payment_type, job.notice_number, job.notice_unit) == (None, None, None, None)
    assert not job.is_notice_callable


def test_a_known_client_sends_all_seven_parts() -> None:
    job = send(
        second="0",
        minute="0",
        hour="0",
        dayOfMonth="1",
        month="*",
        dayOfWeek="?",
        year="*",
        startDate="2026-03-05 00:00:00",
    )

    assert job.first_at == at(2026, 4, 1)


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        (
            "0 30 6 ? JAN-MAR FRI#3",
            CronPlan(second="0", minute="30", hour="6", day_of_month="?", month="JAN-MAR", day_of_week="FRI#3"),
        ),
        (
            " 0 0  0 15W * ? 2027 ",
            CronPlan(second="0", minute="0", hour="0", day_of_month="15W", month="*", day_of_week="?", year="2027"),
        ),
    ],
)
def test_an_expression_says_all_parts_in_one_line_and_may_leave_out_the_year(line: str, plan: CronPlan) -> None:
    assert send(expression=line).plan == plan


def test_a_payment_due_at_the_very_start_is_made_and_one_due_now_is_not() -> None:
    assert send(hour="6", startDate="2026-02-01 06:00:00").first_at == at(2026, 2, 1, 6)
    assert send(hour="6", startDate="2026-02-01 06:00:01").first_at == at(2026, 2, 2, 6)
    assert send(hour="12").first_at == NOW + DAY
    assert send(hour="12", startDate="2026-01-15 12:00:00").first_at == NOW + DAY


def test_a_start_in_the_past_makes_up_for_nothing() -> None:
    assert send(dayOfMonth="1", startDate="2020-01-01").first_at == at(2026, 2, 1)


@pytest.mark.parametrize(
    ("start", "number", "unit", "ends_at"),
    [
        ("2026-01-31", "1", "MONTH", at(2026, 2, 28)),
        ("2028-02-29", "1", "YEAR", at(2029, 2, 28)),
        ("2028-02-29", "4", "YEAR", at(2032, 2, 29)),
        ("2026-08-31", "6", "MONTH", at(2027, 2, 28)),
        ("2026-02-01 06:00:00", "2", "WEEK", at(2026, 2, 15, 6)),
        ("2026-12-31", "1", "DAY", at(2027, 1, 1)),
        ("2099-12-31", "9999", "YEAR", at(4199, 12, 31)),
    ],
)
def test_a_duration_counts_calendar_months_from_the_start(start: str, number: str, unit: str, ends_at: Instant) -> None:
    assert send(hour="0", startDate=start, durationNumber=number, durationUnit=unit).ends_at == ends_at


def test_a_duration_without_a_start_counts_from_now() -> None:
    assert send(hour="0", durationNumber="1", durationUnit="MONTH").ends_at == at(2026, 2, 15, 12)


def test_twelve_months_hold_twelve_payments() -> None:
    job = send(dayOfMonth="1", startDate="2026-02-01", durationNumber="12", durationUnit="MONTH")

    assert (job.first_at, job.ends_at) == (at(2026, 2, 1), at(2027, 2, 1))


def test_an_end_that_is_named_counts_for_more_than_a_duration() -> None:
    job = send(hour="0", endDate="2026-02-01 06:00:00", durationNumber="9", durationUnit="YEAR")

    assert job.ends_at == at(2026, 2, 1, 6) + 1_000_000


def test_a_request_without_any_job_is_refused() -> None:
    assert refusal_of() == ("100.250.250", Fault("job.expression", MISSING))


@pytest.mark.parametrize(
    "job",
    [{"name": "x"}, {"action": "DB"}, {"noticeCallable": "true"}, {"durationNumber": "1", "durationUnit": "DAY"}],
    ids=str,
)
def test_a_schedule_without_a_time_is_refused(job: dict[str, str]) -> None:
    assert refusal_of(**job) == ("100.250.100", Fault("job.expression", MISSING))


@pytest.mark.parametrize("name", ["startDate", "endDate"])
def test_dates_alone_are_no_plan(name: str) -> None:
    assert refusal_of(**{name: "2026-02-01"}) == ("100.250.110", Fault("job.expression", MISSING))


@pytest.mark.parametrize("payment_type", ["RF", "db", "SD", "DB ", "~"])
def test_only_payments_that_can_begin_by_themselves_are_scheduled(payment_type: str) -> None:
    fault = Fault("job.action", "must be one of [DB, PA, CD]", payment_type)

    assert refusal_of(dayOfMonth="1", action=payment_type) == ("100.250.105", fault)


@pytest.mark.parametrize(("word", "code"), [("duration", "100.250.106"), ("notice", "100.250.107")])
def test_a_number_and_its_unit_go_together_and_the_unit_is_a_known_one(word: str, code: str) -> None:
    number, unit = f"{word}Number", f"{word}Unit"

    assert refusal_of(dayOfMonth="1", **{number: "3", unit: "HOUR"}) == (code, Fault(f"job.{unit}", UNITS, "HOUR"))
    assert refusal_of(dayOfMonth="1", **{number: "3"}) == (code, Fault(f"job.{unit}", MISSING))
    assert refusal_of(dayOfMonth="1", **{unit: "DAY"}) == (code, Fault(f"job.{number}", MISSING))


@pytest.mark.parametrize("line", ["0", "0 0 0 1 *", "0 0 0 1 * ? * *", " ", "0,0,0,1,*,?"])
def test_an_expression_of_other_than_six_or_seven_parts_is_refused(line: str) -> None:
    code, fault = refusal_of(expression=line)

    assert (code, fault.name, fault.value) == ("100.250.111", "job.expression", line)


def test_an_expression_and_a_single_part_exclude_each_other() -> None:
    code, fault = refusal_of(expression="0 0 0 1 * ?", hour="6")

    assert (code, fault) == ("100.250.120", Fault("job.hour", "does not go together with job.expression", "6"))


WRONG_PARTS = [
    ("hour", "24", "100.250.121"),
    ("hour", "-1", "100.250.121"),
    ("hour", "six", "100.250.121"),
    ("minute", "60", "100.250.122"),
    ("second", "99", "100.250.122"),
    ("second", "<b>", "100.250.122"),
    ("dayOfMonth", "32", "100.250.123"),
    ("dayOfMonth", "0", "100.250.123"),
    ("dayOfMonth", "W", "100.250.123"),
    ("month", "13", "100.250.124"),
    ("month", "JANUARY", "100.250.124"),
    ("dayOfWeek", "8", "100.250.125"),
    ("dayOfWeek", "0", "100.250.125"),
    ("dayOfWeek", "FRI#6", "100.250.125"),
    ("year", "2100", "100.250.120"),
    ("year", "26", "100.250.120"),
]
LINE = {"second": "0", "minute": "0", "hour": "0", "dayOfMonth": "?", "month": "*", "dayOfWeek": "?", "year": "*"}


@pytest.mark.parametrize(("name", "text", "code"), WRONG_PARTS)
def test_a_part_that_is_wrong_is_named_with_its_own_code(name: str, text: str, code: str) -> None:
    found, fault = refusal_of(**{name: text})

    assert (found, fault.name, fault.value) == (code, f"job.{name}", text)


@pytest.mark.parametrize(("name", "text", "code"), WRONG_PARTS)
def test_a_part_that_is_wrong_within_an_expression_has_the_same_code(name: str, text: str, code: str) -> None:
    days = {"dayOfMonth": "1"} if name != "dayOfWeek" else {}
    line = " ".join({**LINE, **days, name: text}.values())
    found, fault = refusal_of(expression=line)

    assert (found, fault.name, fault.value) == (code, "job.expression", line)


@pytest.mark.parametrize(
    ("job", "name"),
    [
        ({"dayOfMonth": "1", "dayOfWeek": "MON"}, "dayOfMonth"),
        ({"hour": "6", "dayOfWeek": "?"}, "dayOfWeek"),
        ({"dayOfMonth": "30", "month": "FEB"}, "dayOfMonth"),
        ({"month": "1", "year": "2025"}, "month"),
        ({"hour": "6", "year": "1999"}, "year"),
        ({"expression": "0 0 0 31 4 ?"}, "expression"),
        ({"expression": "0 0 0 1 1 ? 2026"}, "expression"),
        ({"hour": "6", "startDate": "2100-01-01"}, "startDate"),
        ({"hour": "6", "startDate": "9999-12-31", "durationNumber": "1", "durationUnit": "MONTH"}, "startDate"),
        ({"hour": "6", "startDate": "0001-01-01", "durationNumber": "9999", "durationUnit": "MONTH"}, "durationNumber"),
        ({"hour": "6", "year": "2026", "startDate": "2026-12-31 07:00:00"}, "startDate"),
        ({"hour": "6", "startDate": "2026-03-02", "endDate": "2026-03-01"}, "endDate"),
        ({"hour": "6", "endDate": "2026-01-14"}, "endDate"),
        ({"hour": "6", "endDate": "2026-01-15 12:00:00"}, "endDate"),
        ({"dayOfMonth": "1", "endDate": "2026-01-31"}, "endDate"),
        ({"dayOfMonth": "1", "durationNumber": "10", "durationUnit": "DAY"}, "durationNumber"),
        (
            {"dayOfMonth": "1", "startDate": "2025-01-01", "durationNumber": "1", "durationUnit": "YEAR"},
            "durationNumber",
        ),
    ],
    ids=str,
)
def test_what_is_right_by_itself_and_names_no_moment_together_is_refused(job: dict[str, str], name: str) -> None:
    code, fault = refusal_of(**job)

    assert (code, fault.name, fault.value) == ("100.250.120", f"job.{name}", job[name])


def test_an_end_says_what_it_contradicts() -> None:
    started = refusal_of(hour="6", startDate="2026-03-02", endDate="2026-03-01")[1]
    past = refusal_of(hour="6", endDate="2026-01-15 11:59:59")[1]
    short = refusal_of(dayOfMonth="1", endDate="2026-01-31")[1]

    assert [fault.message for fault in (started, past, short)] == [
        "must not be before job.startDate",
        "must be later than now",
        "must leave time for one payment",
    ]


def test_a_bare_end_means_its_whole_day() -> None:
    assert send(hour="23", endDate="2026-01-15").ends_at == at(2026, 1, 16)
    assert send(hour="6", startDate="2026-03-01", endDate="2026-03-01").first_at == at(2026, 3, 1, 6)


@pytest.mark.parametrize("text", ["6\n", "\x00", "\t6", "6\x7f", "6" * 65, "\u0666"])
def test_bytes_that_belong_into_no_plan_do_not_come_as_far_as_being_read(text: str) -> None:
    code, fault = refusal_of(hour=text)

    assert (code, fault.name) == ("200.300.404", "job.hour")


@pytest.mark.parametrize(
    "job",
    [{"startDate": "2026-02-30"}, {"endDate": "01.02.2026"}, {"durationNumber": "0"}, {"noticeCallable": "perhaps"}],
    ids=str,
)
def test_dates_and_numbers_that_are_none_stay_faults_of_their_parameter(job: dict[str, str]) -> None:
    ((name, text),) = job.items()
    code, fault = refusal_of(dayOfMonth="1", **job)

    assert (code, fault.name, fault.value) == ("200.300.404", f"job.{name}", text)


def test_a_plan_is_answered_as_it_was_sent_whatever_the_order_and_nothing_is_added() -> None:
    job = send(startDate="2026-02-01", hour="6", name="x", dayOfWeek="mon-fri")

    rendered = render_plan(job.sent)

    assert list(rendered.items()) == [
        ("name", "x"),
        ("hour", "6"),
        ("dayOfWeek", "mon-fri"),
        ("startDate", "2026-02-01"),
    ]


def test_every_parameter_of_a_job_is_answered_again() -> None:
    sent = {name.removeprefix("job."): "x" for name in PARAMETERS if name.startswith("job.")}

    assert render_plan(sent | {"other": "y"}) == sent


@pytest.mark.parametrize("job", [{"dayOfMonth": "LW", "month": "3/3"}, {"expression": "0 0 6 ? * MON 2027"}], ids=str)
def test_what_was_sent_is_enough_to_have_the_plan_again(job: dict[str, str]) -> None:
    read = send(**job)

    assert recall_plan(read.sent) == read.plan
    assert recall_plan(render_plan(read.sent)) == read.plan
