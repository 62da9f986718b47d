"""The plan of a schedule, read from `job.*` and answered again. What a schedule charges is not read here."""

from collections.abc import Callable, Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.payment_types import ANNOUNCED_PAYMENT_TYPES
from tollgate.catalog.results import get_result
from tollgate.catalog.shape import is_true
from tollgate.contract.answers import Json
from tollgate.contract.fields import Fields
from tollgate.contract.reports import read_begin, read_end
from tollgate.payments.cron import Cron, CronFault, CronFlaw, CronPlan, parse_plan
from tollgate.values import DAY, Fault, Instant, InvalidParameters, add_months

_PREFIX = "job."
_ACTIONS = ("DB", *(code for code in ANNOUNCED_PAYMENT_TYPES if code != "DB"))
_MISSING = "may not be empty"

_PARTS: Mapping[str, tuple[str, str]] = {
    "second": ("second", codes.SCHEDULE_MINUTE_INVALID),
    "minute": ("minute", codes.SCHEDULE_MINUTE_INVALID),
    "hour": ("hour", codes.SCHEDULE_HOUR_INVALID),
    "day_of_month": ("dayOfMonth", codes.SCHEDULE_DAY_INVALID),
    "month": ("month", codes.SCHEDULE_MONTH_INVALID),
    "day_of_week": ("dayOfWeek", codes.SCHEDULE_WEEKDAY_INVALID),
    "year": ("year", codes.SCHEDULE_CONTRADICTORY),
}
"""Each member of a plan, in the order of a cron line: its name on the interface, and the code of a fault in it."""

_PART_NAMES = tuple(name for name, _ in _PARTS.values())
_DATES = ("startDate", "endDate")
_EXPRESSION = "expression"
_LENGTHS = (len(_PARTS) - 1, len(_PARTS))
"""The year may be left out of an expression."""

_COUNTS = (
    ("durationNumber", "durationUnit", codes.SCHEDULE_DURATION_UNKNOWN),
    ("noticeNumber", "noticeUnit", codes.SCHEDULE_NOTICE_UNKNOWN),
)
_COUNT_NAMES = tuple(name for number, unit, _ in _COUNTS for name in (number, unit))
_NAMES = ("name", "action", *_PART_NAMES, _EXPRESSION, *_DATES, *_COUNT_NAMES, "noticeCallable")

_WHOLE = ("dayOfMonth", "dayOfWeek", "month", "year", "hour", "minute", "second")
"""A fault of the plan as a whole is reported at the first of these that was sent."""

_FLAWS: Mapping[CronFlaw, str] = {
    CronFlaw.RANGE: "has a number outside of its bounds",
    CronFlaw.FORM: "must be written as cron writes it",
    CronFlaw.MISFIT: "must name days of the month or days of the week, and ? for the other",
    CronFlaw.NEVER: "must name a moment that comes",
}

# This is longer than any plan, and short enough to stay within the calendar.
_MONTHS_MAX = 12 * 2100

_UNITS: Mapping[str, Callable[[Instant, int], Instant]] = {
    "DAY": lambda at, count: at + count * DAY,
    "WEEK": lambda at, count: at + count * 7 * DAY,
    "MONTH": lambda at, count: add_months(at, min(count, _MONTHS_MAX)),
    "YEAR": lambda at, count: add_months(at, min(count * 12, _MONTHS_MAX)),
}


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that falls due at least once."""

    plan: CronPlan
    first_at: Instant
    """The first time after now at which it is due."""
    starts_at: Instant | None
    ends_at: Instant | None
    """The first instant at which it is over."""
    name: str | None
    payment_type: str | None
    """The payment type of its runs."""
    notice_number: int | None
    notice_unit: str | None
    is_notice_callable: bool
    sent: dict[str, str]
    """The fields as they were sent, by the names of the answer; all else follows from them."""


def read_plan(fields: Fields, now: Instant) -> JobPlan:
    sent = {name.removeprefix(_PREFIX): text for name, text in fields.values.items() if name.startswith(_PREFIX)}
    _check_presence(sent)
    if "action" in sent and sent["action"] not in _ACTIONS:
        raise _refuse(codes.SCHEDULE_ACTION_UNKNOWN, "action", f"must be one of [{', '.join(_ACTIONS)}]", sent)
    _check_counts(sent)
    _check_expression(sent)
    plan = recall_plan(sent)
    starts_at = read_begin(sent["startDate"]) if "startDate" in sent else None
    first_at = _get_first_time(_parse(plan, sent), sent, now if starts_at is None else max(now, starts_at - 1))
    ends_at = _find_end(sent, now if starts_at is None else starts_at)
    _check_end(sent, now, starts_at, first_at, ends_at)
    return JobPlan(
        plan=plan,
        first_at=first_at,
        starts_at=starts_at,
        ends_at=ends_at,
        name=sent.get("name"),
        payment_type=sent.get("action"),
        notice_number=int(sent["noticeNumber"]) if "noticeNumber" in sent else None,
        notice_unit=sent.get("noticeUnit"),
        is_notice_callable=is_true(sent.get("noticeCallable")),
        sent=sent,
    )


def recall_plan(sent: Mapping[str, str]) -> CronPlan:
    """Reads the plan again from fields that were accepted before."""
    if _EXPRESSION in sent:
        return CronPlan(**dict(zip(_PARTS, sent[_EXPRESSION].split(), strict=False)))
    return CronPlan(**{member: sent[name] for member, (name, _) in _PARTS.items() if name in sent})


def render_plan(sent: Mapping[str, str]) -> Json:
    """Returns the sent fields in a fixed order."""
    return {name: sent[name] for name in _NAMES if name in sent}


def _refuse(code: str, name: str, message: str, sent: Mapping[str, str]) -> InvalidParameters:
    return InvalidParameters(get_result(code), [Fault(_PREFIX + name, message, sent.get(name))])


def _check_presence(sent: Mapping[str, str]) -> None:
    if not sent:
        raise _refuse(codes.SCHEDULE_MISSING, _EXPRESSION, _MISSING, sent)
    if sent.keys().isdisjoint((_EXPRESSION, *_PART_NAMES)):
        code = codes.SCHEDULE_WITHOUT_TIME if sent.keys().isdisjoint(_DATES) else codes.SCHEDULE_WITHOUT_EXECUTION
        raise _refuse(code, _EXPRESSION, _MISSING, sent)


def _check_counts(sent: Mapping[str, str]) -> None:
    for number, unit, code in _COUNTS:
        if unit in sent and sent[unit] not in _UNITS:
            raise _refuse(code, unit, f"must be one of [{', '.join(_UNITS)}]", sent)
        if (number in sent) != (unit in sent):
            raise _refuse(code, unit if number in sent else number, _MISSING, sent)


def _check_expression(sent: Mapping[str, str]) -> None:
    if _EXPRESSION not in sent:
        return
    if len(sent[_EXPRESSION].split()) not in _LENGTHS:
        raise _refuse(
            codes.SCHEDULE_EXPRESSION_INCOMPLETE, _EXPRESSION, "must have six or seven parts, from second to year", sent
        )
    for name in _PART_NAMES:
        if name in sent:
            raise _refuse(codes.SCHEDULE_CONTRADICTORY, name, f"does not go together with {_PREFIX}{_EXPRESSION}", sent)


def _parse(plan: CronPlan, sent: Mapping[str, str]) -> Cron:
    try:
        return parse_plan(plan)
    except CronFault as fault:
        name, code = _PARTS.get(fault.part, (_render_whole_name(sent), codes.SCHEDULE_CONTRADICTORY))
        name = _EXPRESSION if _EXPRESSION in sent else name
        raise _refuse(code, name, _FLAWS[fault.kind], sent) from None


def _render_whole_name(sent: Mapping[str, str]) -> str:
    return next((name for name in _WHOLE if name in sent), _EXPRESSION)


def _get_first_time(cron: Cron, sent: Mapping[str, str], after: Instant) -> Instant:
    first_at = cron.next_after(after)
    if first_at is None:
        raise _refuse(
            codes.SCHEDULE_CONTRADICTORY,
            "startDate" if "startDate" in sent else _render_whole_name(sent),
            _FLAWS[CronFlaw.NEVER],
            sent,
        )
    return first_at


def _find_end(sent: Mapping[str, str], starts_at: Instant) -> Instant | None:
    if "endDate" in sent:
        return read_end(sent["endDate"])
    if "durationUnit" in sent:
        return _UNITS[sent["durationUnit"]](starts_at, int(sent["durationNumber"]))
    return None


def _check_end(
    sent: Mapping[str, str], now: Instant, starts_at: Instant | None, first_at: Instant, ends_at: Instant | None
) -> None:
    if ends_at is None or first_at < ends_at:
        return
    name = "endDate" if "endDate" in sent else "durationNumber"
    if starts_at is not None and ends_at <= starts_at:
        message = f"must not be before {_PREFIX}startDate"
    elif ends_at <= now:
        message = "must be later than now"
    else:
        message = "must leave time for one payment"
    raise _refuse(codes.SCHEDULE_CONTRADICTORY, name, message, sent)
