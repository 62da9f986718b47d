"""The days on which euro payments are settled between banks (TARGET): weekends and six holidays are not.
What happens on a banking day is not known here.
"""

from datetime import date, timedelta

_ONE_DAY = timedelta(days=1)
_SATURDAY = 5

_FIXED_HOLIDAYS = frozenset({(1, 1), (5, 1), (12, 25), (12, 26)})
"""Month and day of New Year, Labour Day, Christmas and the day after."""
_EASTER_HOLIDAYS = (timedelta(days=-2), timedelta(days=1))
"""Good Friday and Easter Monday, counted from Easter Sunday."""


def is_banking_day(day: date) -> bool:
    if day.weekday() >= _SATURDAY or (day.month, day.day) in _FIXED_HOLIDAYS:
        return False
    easter = get_easter(day.year)
    return all(day != easter + distance for distance in _EASTER_HOLIDAYS)


def get_banking_day(day: date) -> date:
    """Returns the day itself, or the next on which banks settle."""
    while not is_banking_day(day):
        day += _ONE_DAY
    return day


def add_banking_days(day: date, count: int) -> date:
    """Counts banking days forward; the day itself need not be one."""
    for _ in range(count):
        day = get_banking_day(day + _ONE_DAY)
    return day


def get_easter(year: int) -> date:
    """Returns Easter Sunday of the Gregorian calendar, by the algorithm of Butcher."""
    golden = year % 19
    century, year_of_century = divmod(year, 100)
    leaps, century_rest = divmod(century, 4)
    correction = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leaps - correction + 15) % 30
    quarter, quarter_rest = divmod(year_of_century, 4)
    to_sunday = (32 + 2 * century_rest + 2 * quarter - epact - quarter_rest) % 7
    shift = (golden + 11 * epact + 22 * to_sunday) // 451
    month, day = divmod(epact + to_sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
