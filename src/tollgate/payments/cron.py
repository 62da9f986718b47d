"""Schedules in cron's notation, in UTC: their seven parts, and the times at which they are due.
Whose plan it is, and what happens when it is due, is not known here.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from enum import Enum
from typing import NamedTuple

import msgspec

from tollgate.values import DAY, SECOND, Instant, to_instant

_FIRST_YEAR, _LAST_YEAR = 2000, 2099
CRON_BEGINS_AT: Instant = to_instant(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC))
CRON_ENDS_AT: Instant = to_instant(datetime(_LAST_YEAR + 1, 1, 1, tzinfo=UTC))
"""No plan is followed outside of these hundred years, so that every search for a moment comes to an end."""

_TEXT_MAX = 256
_SUNDAY, _SATURDAY = 1, 7
_WEEK = 7
_DAY_S = DAY // SECOND
_EPOCH_DAY = date(1970, 1, 1).toordinal()


class CronPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts as they were written; what was left out is None and filled in by `fill_plan`."""

    second: str | None = None
    minute: str | None = None
    hour: str | None = None
    day_of_month: str | None = None
    month: str | None = None
    day_of_week: str | None = None
    year: str | None = None


class CronFlaw(Enum):
    RANGE = "a number outside of its bounds"
    FORM = "not the notation"
    MISFIT = "parts that exclude each other"
    NEVER = "a moment that does not exist"


class CronFault(ValueError):
    """A plan that cannot be followed. `part` is the member at fault, empty when it is the plan as a whole."""

    def __init__(self, part: str, kind: CronFlaw) -> None:
        super().__init__(f"{part or 'plan'}: {kind.value}")
        self.part = part
        self.kind = kind


class _Part(NamedTuple):
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()
    """The names that may replace the numbers, from the lowest on."""
    wraps: bool = True
    """A range may run past the end and on from the beginning, as from Friday to Monday."""

    def fault(self, kind: CronFlaw) -> CronFault:
        return CronFault(self.name, kind)


_SECOND = _Part("second", 0, 59)
_MINUTE = _Part("minute", 0, 59)
_HOUR = _Part("hour", 0, 23)
_MONTH_DAY = _Part("day_of_month", 1, 31)
_MONTH = _Part("month", 1, 12, ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"))
_WEEK_DAY = _Part("day_of_week", _SUNDAY, _SATURDAY, ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))
# Years before the first that is followed are written correctly and never come.
_YEAR = _Part("year", 1970, _LAST_YEAR, wraps=False)


class _Level(NamedTuple):
    members: tuple[str, ...]
    first: str
    """The first value of the first member."""
    is_of_clock: bool = False


_LEVELS = (
    _Level(("second",), "0", is_of_clock=True),
    _Level(("minute",), "0", is_of_clock=True),
    _Level(("hour",), "0", is_of_clock=True),
    _Level(("day_of_month", "day_of_week"), "1"),
    _Level(("month",), "1"),
    _Level(("year",), "*"),
)
"""The fields from fine to coarse."""

_UNBOUND = frozenset({None, "*", "?"})

_VALUE = "[0-9]+|[A-Z]{3}"
_SPAN = re.compile(rf"(?:\*|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?)(?:/(?P<step>[0-9]+))?")
_FROM_END = re.compile("L(?:-(?P<back>[0-9]+))?(?P<nearest>W)?")
_NEAREST = re.compile("(?P<day>[0-9]+)W")
_LAST_OF = re.compile(f"(?P<weekday>{_VALUE})L")
_NTH_OF = re.compile(f"(?P<weekday>{_VALUE})#(?P<count>[0-9]+)")


class _Month(NamedTuple):
    """The facts that the days of a month depend on; there are only 28 kinds of months."""

    first_weekday: int
    """Monday is 0, as the calendar of the library has it."""
    length: int

    def weekday(self, day: int) -> int:
        return (self.first_weekday + day) % _WEEK + _SUNDAY


_MONTHS = tuple(_Month(first_weekday, length) for first_weekday in range(_WEEK) for length in range(28, 32))
_DayRule = Callable[[_Month], int]
"""Names one day, which the month may not have."""


class Cron(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that was read: every value it allows, ascending."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: Mapping[tuple[int, int], tuple[int, ...]]
    """The days are chosen by the weekday of the month's first day and the month's length."""
    months: tuple[int, ...]
    years: tuple[int, ...]

    def next_after(self, at: Instant) -> Instant | None:
        """The first moment that is later; None when there is none left in the years that are followed."""
        at = max(at, CRON_BEGINS_AT - SECOND)
        return None if at >= CRON_ENDS_AT else self._seek(at // SECOND + 1, 1)

    def last_until(self, at: Instant) -> Instant | None:
        """The latest moment that is not later."""
        at = min(at, CRON_ENDS_AT - SECOND)
        return None if at < CRON_BEGINS_AT else self._seek(at // SECOND, -1)

    def has_time(self, at: Instant) -> bool:
        return self.last_until(at) == at

    def _seek(self, second: int, step: int) -> Instant | None:
        """The moment nearest to a second, itself included, later or (with a step of -1) earlier."""
        day_no, clock_s = divmod(second, _DAY_S)
        today = date.fromordinal(_EPOCH_DAY + day_no)
        for day in self._walk_days(today, step):
            # On any other day the whole clock is still ahead.
            found_s = next(self._walk_clock(clock_s if day == today else (0 if step > 0 else _DAY_S - 1), step), None)
            if found_s is not None:
                return ((day.toordinal() - _EPOCH_DAY) * _DAY_S + found_s) * SECOND
        return None

    def _walk_days(self, start: date, step: int) -> Iterator[date]:
        for year in _walk(self.years, start.year, step):
            is_start_year = year == start.year
            for month in _walk(self.months, start.month if is_start_year else None, step):
                days = self.days[monthrange(year, month)]
                for day in _walk(days, start.day if is_start_year and month == start.month else None, step):
                    yield date(year, month, day)

    def _walk_clock(self, start_s: int, step: int) -> Iterator[int]:
        """Seconds of a day."""
        start_minutes, start_second = divmod(start_s, 60)
        start_hour, start_minute = divmod(start_minutes, 60)
        for hour in _walk(self.hours, start_hour, step):
            is_start_hour = hour == start_hour
            for minute in _walk(self.minutes, start_minute if is_start_hour else None, step):
                is_start = is_start_hour and minute == start_minute
                for second in _walk(self.seconds, start_second if is_start else None, step):
                    yield (hour * 60 + minute) * 60 + second


def parse_plan(plan: CronPlan) -> Cron:
    """Raises CronFault, also for a plan that is well written and never falls due."""
    texts = fill_plan(plan)
    cron = Cron(
        seconds=_read_values(_SECOND, texts["second"]),
        minutes=_read_values(_MINUTE, texts["minute"]),
        hours=_read_values(_HOUR, texts["hour"]),
        days=_read_days(texts["day_of_month"], texts["day_of_week"]),
        months=_read_values(_MONTH, texts["month"]),
        years=tuple(year for year in _read_values(_YEAR, texts["year"]) if year >= _FIRST_YEAR),
    )
    if cron.next_after(CRON_BEGINS_AT - SECOND) is None:
        raise CronFault("", CronFlaw.NEVER)
    return cron


def fill_plan(plan: CronPlan) -> dict[str, str]:
    """Every part in capitals. One that was left out is any where a finer one was written, and else its first value;
    one of the clock is its first value also below a narrowed part, so that a day named with a second is due once.
    """
    said: dict[str, str | None] = {}
    for name, text in msgspec.structs.asdict(plan).items():
        # Some foreign letters have capitals that are our own.
        said[name] = text.upper() if text is not None and text.isascii() else text
    if all(text is None for text in said.values()):
        raise CronFault("", CronFlaw.MISFIT)
    filled = dict(said)
    for place, level in enumerate(_LEVELS):
        if any(said[name] is not None for name in level.members):
            continue
        is_finer_said = any(said[name] is not None for finer in _LEVELS[:place] for name in finer.members)
        is_narrowed = any(said[name] not in _UNBOUND for above in _LEVELS[place:] for name in above.members)
        is_any = is_finer_said and not (level.is_of_clock and is_narrowed)
        filled[level.members[0]] = "*" if is_any else level.first
    # Only the other kind of day can still be left out.
    return {name: "?" if text is None else text for name, text in filled.items()}


def _walk(values: tuple[int, ...], start: int | None, step: int) -> Iterator[int]:
    """Ascending or descending, from the start on."""
    for value in values[::step]:
        if start is None or (value - start) * step >= 0:
            yield value


def _split(part: _Part, text: str) -> list[str]:
    if len(text) > _TEXT_MAX:
        raise part.fault(CronFlaw.FORM)
    return text.split(",")


def _read_values(part: _Part, text: str) -> tuple[int, ...]:
    return tuple(sorted({value for piece in _split(part, text) for value in _read_span(part, piece)}))


def _read_span(part: _Part, piece: str) -> Iterable[int]:
    """`*`, `5`, `5-20`, `5/15`, `*/10` or `1-20/3`."""
    match = _SPAN.fullmatch(piece)
    if match is None:
        raise part.fault(CronFlaw.FORM)
    count = part.high - part.low + 1
    first = part.low if match["first"] is None else _read_value(part, match["first"])
    step = 1 if match["step"] is None else _read_number(part, match["step"], 1, count)
    last = part.high if match["first"] is None or match["step"] else first
    if match["last"] is not None:
        last = _read_value(part, match["last"])
    if last < first and not part.wraps:
        raise part.fault(CronFlaw.FORM)
    offset = first - part.low
    return [part.low + (offset + distance) % count for distance in range(0, (last - first) % count + 1, step)]


def _read_value(part: _Part, text: str) -> int:
    if text in part.words:
        return part.low + part.words.index(text)
    if not text.isdigit():
        raise part.fault(CronFlaw.FORM)
    return _read_number(part, text, part.low, part.high)


def _read_number(part: _Part, text: str, low: int, high: int) -> int:
    number = int(text)
    if not low <= number <= high:
        raise part.fault(CronFlaw.RANGE)
    return number


def _read_days(month_day: str, week_day: str) -> dict[tuple[int, int], tuple[int, ...]]:
    """The days of every kind of month, so that a search needs only to look them up."""
    is_by_week = week_day not in _UNBOUND
    if (is_by_week and month_day not in _UNBOUND) or month_day == week_day == "?":
        raise CronFault("", CronFlaw.MISFIT)
    if is_by_week:
        pieces = ["SAT" if piece == "L" else piece for piece in _split(_WEEK_DAY, week_day)]
        return _list_days(_WEEK_DAY, pieces, _find_week_rule, _Month.weekday)
    pieces = _split(_MONTH_DAY, "*" if month_day == "?" else month_day)
    return _list_days(_MONTH_DAY, pieces, _find_month_rule, lambda _month, day: day)


def _list_days(
    part: _Part, pieces: list[str], find_rule: Callable[[str], _DayRule | None], number: Callable[[_Month, int], int]
) -> dict[tuple[int, int], tuple[int, ...]]:
    """`number` is what the part calls a day."""
    rules: list[_DayRule] = []
    numbers: set[int] = set()
    for piece in dict.fromkeys(pieces):
        rule = find_rule(piece)
        if rule is None:
            numbers.update(_read_span(part, piece))
        else:
            rules.append(rule)
    days: dict[tuple[int, int], tuple[int, ...]] = {}
    for month in _MONTHS:
        ruled = {rule(month) for rule in rules}
        its_days = range(1, month.length + 1)
        days[month] = tuple(day for day in its_days if day in ruled or number(month, day) in numbers)
    return days


def _find_month_rule(piece: str) -> _DayRule | None:
    """`L`, `L-3`, `LW`, `L-3W` or `15W`."""
    if match := _FROM_END.fullmatch(piece):
        back = _read_number(_MONTH_DAY, match["back"] or "0", 0, 30)
        if match["nearest"]:
            return lambda month: _get_nearest(month, month.length - back)
        return lambda month: month.length - back
    if match := _NEAREST.fullmatch(piece):
        wanted = _read_value(_MONTH_DAY, match["day"])
        return lambda month: _get_nearest(month, wanted)
    return None


def _find_week_rule(piece: str) -> _DayRule | None:
    """`6L` or `FRIL` for the last Friday, `6#3` or `FRI#3` for the third."""
    if match := _LAST_OF.fullmatch(piece):
        weekday = _read_value(_WEEK_DAY, match["weekday"])
        return lambda month: month.length - (month.weekday(month.length) - weekday) % _WEEK
    if match := _NTH_OF.fullmatch(piece):
        weekday = _read_value(_WEEK_DAY, match["weekday"])
        weeks = _read_number(_WEEK_DAY, match["count"], 1, 5) - 1
        return lambda month: 1 + (weekday - month.weekday(1)) % _WEEK + weeks * _WEEK
    return None


def _get_nearest(month: _Month, day: int) -> int:
    """The working day closest to a day, without leaving the month; a month that lacks the day has none."""
    if not 1 <= day <= month.length:
        return 0
    weekday = month.weekday(day)
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == _SUNDAY:
        return day + 1 if day < month.length else day - 2
    return day
