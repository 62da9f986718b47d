"""Plans drawn at random against a calendar that is asked day by day: what a plan names, and in which order.
The calendar's answers are computed from dates alone; nothing of the program's own arithmetic is used for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import product
from time import process_time

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tollgate.payments.cron import CRON_BEGINS_AT, CRON_ENDS_AT, Cron, CronFault, CronFlaw, CronPlan, parse_plan
from tollgate.values import SECOND, Instant, to_datetime, to_instant

ONE_DAY = timedelta(days=1)
DAYS_SEARCHED = 3 * 366
PARTS = CronPlan.__struct_fields__
MONTH_WORDS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEK_WORDS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True)
class Piece:
    """A text of the notation and what a calendar would say of it."""

    text: str
    names: Callable[[date], bool]


@dataclass(frozen=True)
class Drawn:
    plan: CronPlan
    names: Callable[[date], bool]
    clock: tuple[set[int], set[int], set[int]]


Values = tuple[str, set[int]]
"""A text of the notation and the numbers it stands for."""


def spell(value: int, low: int, words: tuple[str, ...]) -> st.SearchStrategy[str]:
    spellings = [str(value), *(form(words[value - low]) for form in (str.upper, str.lower) if words)]
    return st.sampled_from(spellings)


@st.composite
def spans(draw: st.DrawFn, low: int, high: int, words: tuple[str, ...] = ()) -> Values:
    """`*`, a value, a range or a step, with the values that are met when counting up and beginning again."""
    first, last = draw(st.integers(low, high)), draw(st.integers(low, high))
    step = draw(st.none() | st.integers(1, high - low + 1))
    form = draw(st.sampled_from(("any", "value", "range")))
    if form == "any":
        text, first, last = "*", low, high
    elif form == "range":
        text = f"{draw(spell(first, low, words))}-{draw(spell(last, low, words))}"
    else:
        text, last = draw(spell(first, low, words)), first if step is None else high
    met = [first]
    while met[-1] != last:
        met.append(low if met[-1] == high else met[-1] + 1)
    return (text, set(met)) if step is None else (f"{text}/{step}", set(met[::step]))


@st.composite
def lists(draw: st.DrawFn, low: int, high: int, words: tuple[str, ...] = ()) -> Values:
    drawn = draw(st.lists(spans(low, high, words), min_size=1, max_size=3))
    return ",".join(text for text, _ in drawn), set().union(*(values for _, values in drawn))


YEARS: st.SearchStrategy[Values] = st.just(("*", set(range(1970, 2100)))) | st.sets(
    st.integers(2025, 2031), min_size=1
).map(lambda years: (",".join(map(str, years)), years))


@cache
def last_of(day: date) -> date:
    while (day + ONE_DAY).month == day.month:
        day += ONE_DAY
    return day


def weekday_no(day: date) -> int:
    return ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat").index(day.strftime("%a")) + 1


@cache
def work_near(wanted: date) -> date:
    """Returns the working day of the same month that is closest."""
    month = [wanted.replace(day=1) + timedelta(days=count) for count in range(last_of(wanted).day)]
    return min((day for day in month if weekday_no(day) not in (1, 7)), key=lambda day: abs(day - wanted))


def is_near_number(day: date, number: int) -> bool:
    return number <= last_of(day).day and day == work_near(day.replace(day=number))


def is_near_end(day: date, back: int, *, is_work: bool) -> bool:
    wanted = last_of(day) - timedelta(days=back)
    if wanted.month != day.month:
        return False
    return day == (work_near(wanted) if is_work else wanted)


@st.composite
def month_days(draw: st.DrawFn) -> Piece:
    number, back = draw(st.integers(1, 31)), draw(st.integers(0, 30))
    text, values = draw(spans(1, 31))
    return draw(
        st.sampled_from(
            (
                Piece(text, lambda day: day.day in values),
                Piece("L", lambda day: (day + ONE_DAY).day == 1),
                Piece("LW", lambda day: is_near_end(day, 0, is_work=True)),
                Piece(f"L-{back}", lambda day: is_near_end(day, back, is_work=False)),
                Piece(f"l-{back}w", lambda day: is_near_end(day, back, is_work=True)),
                Piece(f"{number}W", lambda day: is_near_number(day, number)),
            )
        )
    )


@st.composite
def week_days(draw: st.DrawFn) -> Piece:
    number, count = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    word = draw(spell(number, 1, WEEK_WORDS))
    text, values = draw(spans(1, 7, WEEK_WORDS))
    return draw(
        st.sampled_from(
            (
                Piece(text, lambda day: weekday_no(day) in values),
                Piece("L", lambda day: weekday_no(day) == 7),
                Piece(f"{word}L", lambda day: weekday_no(day) == number and (day + 7 * ONE_DAY).month != day.month),
                Piece(f"{word}#{count}", lambda day: weekday_no(day) == number and (day.day + 6) // 7 == count),
            )
        )
    )


@st.composite
def plans(draw: st.DrawFn) -> Drawn:
    is_by_week = draw(st.booleans())
    pieces = draw(st.lists(week_days() if is_by_week else month_days(), min_size=1, max_size=3))
    days = ",".join(piece.text for piece in pieces)
    clock = [draw(lists(0, high)) for high in (23, 59, 59)]
    months, month_values = draw(lists(1, 12, MONTH_WORDS))
    years, year_values = draw(YEARS)
    plan = CronPlan(
        hour=clock[0][0],
        minute=clock[1][0],
        second=clock[2][0],
        day_of_month="?" if is_by_week else days,
        month=months,
        day_of_week=days if is_by_week else "?",
        year=years,
    )

    def names(day: date) -> bool:
        return day.year in year_values and day.month in month_values and any(piece.names(day) for piece in pieces)

    return Drawn(plan, names, (clock[0][1], clock[1][1], clock[2][1]))


MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2029, 12, 31), timezones=st.just(UTC)).map(to_instant)
EDGES = st.sampled_from(
    [
        to_instant(datetime(year, month, day, hour, minute, second, tzinfo=UTC)) + shift
        for year, month, day in ((2026, 1, 31), (2027, 12, 31), (2028, 2, 28), (2028, 2, 29), (2028, 3, 1))
        for hour, minute, second in ((0, 0, 0), (23, 59, 59))
        for shift in (-1, 0, 1)
    ]
)
ANY_MOMENT = st.integers(CRON_BEGINS_AT - 9 * SECOND, CRON_ENDS_AT + 9 * SECOND) | MOMENTS | EDGES


def read(plan: CronPlan) -> Cron | CronFault:
    try:
        return parse_plan(plan)
    except CronFault as fault:
        return fault


def ask_calendar(drawn: Drawn, at: Instant) -> Instant | None:
    """Returns the first moment after another, found by asking of each day and second whether it is meant."""
    start = to_datetime(at)
    for count in range(DAYS_SEARCHED):
        day = start.date() + count * ONE_DAY
        if not drawn.names(day):
            continue
        for hour, minute, second in product(*(sorted(values) for values in drawn.clock)):
            if count > 0 or (hour, minute, second) > (start.hour, start.minute, start.second):
                return to_instant(datetime.combine(day, time(hour, minute, second), UTC))
    return None


@given(plans(), MOMENTS | EDGES)
@settings(max_examples=200)
def test_the_next_moment_is_the_one_a_calendar_names(drawn: Drawn, at: Instant) -> None:
    cron = read(drawn.plan)
    expected = ask_calendar(drawn, at)
    found = None if isinstance(cron, CronFault) else cron.next_after(at)

    if found is None or to_datetime(found).date() - to_datetime(at).date() < DAYS_SEARCHED * ONE_DAY:
        assert found == expected
    else:
        assert expected is None


@given(plans())
def test_only_a_plan_that_names_no_day_at_all_is_refused(drawn: Drawn) -> None:
    cron = read(drawn.plan)

    # Every kind of month and the leap day of every weekday come within 28 years.
    days = (date(2025, 1, 1) + count * ONE_DAY for count in range(28 * 366))
    if isinstance(cron, CronFault):
        assert (cron.part, cron.kind) == ("", CronFlaw.NEVER)
        assert not any(drawn.names(day) for day in days)
    else:
        assert any(drawn.names(day) for day in days)


@given(plans(), ANY_MOMENT)
def test_a_moment_found_keeps_every_part_of_the_plan(drawn: Drawn, at: Instant) -> None:
    cron = read(drawn.plan)
    found = [] if isinstance(cron, CronFault) else [cron.next_after(at), cron.last_until(at)]

    for moment in (to_datetime(instant) for instant in found if instant is not None):
        assert drawn.names(moment.date())
        assert moment.hour in drawn.clock[0]
        assert moment.minute in drawn.clock[1]
        assert moment.second in drawn.clock[2]


@given(plans(), ANY_MOMENT)
def test_looking_back_undoes_looking_on(drawn: Drawn, at: Instant) -> None:
    cron = read(drawn.plan)
    assume(isinstance(cron, Cron))
    assert isinstance(cron, Cron)
    before, after = cron.last_until(at), cron.next_after(at)

    assert before is not None or after is not None
    if before is not None:
        assert before <= at
        assert cron.next_after(before) == after
        assert cron.next_after(before - 1) == before
    if after is not None:
        assert after > at
        assert cron.last_until(after - 1) == before
        assert cron.last_until(after) == after


@given(plans(), ANY_MOMENT, ANY_MOMENT)
def test_who_looks_later_never_finds_an_earlier_moment(drawn: Drawn, one: Instant, other: Instant) -> None:
    cron = read(drawn.plan)
    assume(isinstance(cron, Cron))
    assert isinstance(cron, Cron)
    earlier, later = sorted((one, other))

    assert (cron.next_after(earlier) or CRON_ENDS_AT) <= (cron.next_after(later) or CRON_ENDS_AT)
    assert (cron.last_until(earlier) or 0) <= (cron.last_until(later) or 0)


def spread(texts: st.SearchStrategy[str]) -> st.SearchStrategy[CronPlan]:
    return st.fixed_dictionaries({part: st.none() | texts for part in PARTS}).map(lambda parts: CronPlan(**parts))


HOSTILE = st.one_of(
    st.text(max_size=300),
    st.text("0123456789,-*?/LW#", max_size=12),
    st.from_regex("[0-9]{1,3}(/[0-9]{1,3}|-[0-9]{1,3}|[LW]|#[0-9])?(,[0-9*?LW]{1,2}){0,9}", fullmatch=True),
    st.sampled_from(("*", "?", "L", "*/1", "9" * 5000, "1," * 5000, "-" * 256, "FEB", "\x00", "\ud800")),
)


@given(spread(HOSTILE), ANY_MOMENT)
@settings(max_examples=200)
def test_no_text_at_all_does_more_than_be_refused_and_soon(plan: CronPlan, at: Instant) -> None:
    started = process_time()
    cron = read(plan)

    if isinstance(cron, CronFault):
        assert cron.part in ("", *PARTS)
    else:
        assert cron.next_after(at) is not None or cron.last_until(at) is not None
    assert process_time() - started < 30
