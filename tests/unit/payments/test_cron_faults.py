"""Plans that cannot be followed: which part is blamed, and for what. Good plans are tested elsewhere."""

from __future__ import annotations

import pytest

from tollgate.payments.cron import CronFault, CronFlaw, CronPlan, parse_plan

PARTS = CronPlan.__struct_fields__
FOREIGN_ONE, LONG_S = "\u0661", "\u017f"
"""A digit to some readers of numbers, and a letter whose capital is an S."""


def fault_of(plan: CronPlan) -> tuple[str, CronFlaw]:
    with pytest.raises(CronFault) as caught:
        parse_plan(plan)
    return caught.value.part, caught.value.kind


@pytest.mark.parametrize(
    ("part", "text"),
    [
        *(
            (part, text)
            for part in ("second", "minute")
            for text in ("60", "5-60", "99999999999999999999", "*/61", "0/0")
        ),
        *(("hour", text) for text in ("24", "1,24", "*/25")),
        *(("day_of_month", text) for text in ("0", "32", "32W", "0W", "L-31", "L-31W", "1-32", "*/32")),
        *(("month", text) for text in ("0", "13", "JAN-13")),
        *(("day_of_week", text) for text in ("0", "8", "MON-8", "6#6", "6#0", "8L", "0#1", "*/8")),
        *(("year", text) for text in ("1969", "2100", "26")),
    ],
)
def test_a_number_outside_of_its_part_is_out_of_range(part: str, text: str) -> None:
    assert fault_of(CronPlan(**{part: text})) == (part, CronFlaw.RANGE)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        *(
            (part, text)
            for part in PARTS
            for text in ("", ",", "*,", "-", "1-", "/", "*/", "1//2", " 1", "1-2-3", "-1", "x", FOREIGN_ONE)
        ),
        *((part, "?") for part in PARTS if not part.startswith("day")),
        *((part, "*,?") for part in PARTS),
        *((part, "?/2") for part in PARTS),
        *(("day_of_month", text) for text in ("W", "WL", "L-", "L3", "L+3", "JAN", "6#3", "15W-17", "LW-1", "1-LW")),
        *(("month", text) for text in ("JANUARY", "MON", "L", f"{LONG_S}EP")),
        *(("day_of_week", text) for text in ("FRI#", "#3", "FRI#-1", "JAN", "5W", "LW", "L-1", f"{LONG_S}UN")),
        ("year", "2030-2027"),
        ("minute", "1," * 200 + "1"),
    ],
)
def test_a_part_that_is_not_cron_notation_is_named(part: str, text: str) -> None:
    assert fault_of(CronPlan(**{part: text})) == (part, CronFlaw.FORM)


@pytest.mark.parametrize(
    "plan",
    [
        CronPlan(),
        CronPlan(day_of_month="1", day_of_week="MON"),
        CronPlan(day_of_month="L", day_of_week="L"),
        CronPlan(day_of_month="?", day_of_week="?"),
        CronPlan(day_of_month="?"),
        CronPlan(hour="6", day_of_week="?"),
    ],
    ids=str,
)
def test_both_kinds_of_days_or_neither_of_them_do_not_fit(plan: CronPlan) -> None:
    assert fault_of(plan) == ("", CronFlaw.MISFIT)


@pytest.mark.parametrize(
    "plan",
    [
        CronPlan(day_of_month="30", month="FEB"),
        CronPlan(day_of_month="31", month="2,4,6,9,11"),
        CronPlan(day_of_month="29", month="2", year="2027,2099"),
        CronPlan(day_of_month="30W", month="2"),
        CronPlan(day_of_month="L-29", month="FEB"),
        CronPlan(day_of_week="FRI#5", month="2", year="2027"),
        CronPlan(day_of_month="1", year="1999"),
    ],
    ids=str,
)
def test_a_plan_that_never_falls_due_is_refused(plan: CronPlan) -> None:
    assert fault_of(plan) == ("", CronFlaw.NEVER)


def test_a_fault_says_what_is_wrong_and_never_what_was_sent() -> None:
    with pytest.raises(CronFault) as caught:
        parse_plan(CronPlan(hour="4200000000000000"))

    assert str(caught.value) == "hour: a number outside of its bounds"
