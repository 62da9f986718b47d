"""The page of one schedule with its runs, and its end, which is that of the interface. Lists are in `lists`."""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, limits, permissions
from tollgate.contract import jobs, schedules
from tollgate.contract.fields import read_fields
from tollgate.flows.schedules import deschedule
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, make_not_found
from tollgate.operations.app import Call
from tollgate.payments import cron
from tollgate.payments.schedule import RunState, Schedule, ScheduleState, find_next
from tollgate.store.schedules import find_schedule, list_runs
from tollgate.values import Instant
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_PATH = f"{OF_MERCHANT}/schedules/{{id}}"
_NEXT_RUNS = 5

SCHEDULE_TONES: Mapping[ScheduleState, str] = {
    ScheduleState.ACTIVE: "good",
    ScheduleState.REPLACED: "",
    ScheduleState.ENDED: "",
    ScheduleState.HALTED: "bad",
}
_RUN_TONES: Mapping[RunState, str] = {
    RunState.DUE: "open",
    RunState.MADE: "good",
    RunState.MISSED: "bad",
    RunState.FAILED: "bad",
    RunState.DROPPED: "",
}
_ANY = ("*", "?")
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def describe_plan(schedule: Schedule) -> str:
    """Says in words when a schedule is due: `at 08:30:00 UTC on day 1 of the month`."""
    try:
        parts = cron.fill_plan(jobs.recall_plan(schedule.plan))
    except cron.CronFault:
        return "a plan that cannot be read"
    clock = [parts[name] for name in ("hour", "minute", "second")]
    if all(text.isdigit() for text in clock):
        words = ["at", ":".join(text.zfill(2) for text in clock), "UTC"]
    else:
        words = [", ".join(_describe_count(name, parts[name]) for name in ("hour", "minute", "second")), "UTC"]
    days = []
    if parts["day_of_month"] not in _ANY:
        days.append(f"on day {parts['day_of_month']} of the month")
    if parts["day_of_week"] not in _ANY:
        days.append(f"on {_name(parts['day_of_week'], _WEEKDAYS)}")
    words += days or ["every day"]
    if parts["month"] not in _ANY:
        words.append(f"in {_name(parts['month'], _MONTHS)}")
    if parts["year"] not in _ANY:
        words.append(f"in {parts['year']}")
    return " ".join(words)


def _describe_count(unit: str, text: str) -> str:
    return f"every {unit}" if text in _ANY else f"{unit} {text}"


def _name(text: str, names: tuple[str, ...]) -> str:
    """Replaces a number by its name; a range or a list stays as it was written."""
    is_known = text.isascii() and text.isdigit() and 1 <= int(text) <= len(names)
    return names[int(text) - 1] if is_known else text


def list_next_runs(schedule: Schedule) -> list[Instant]:
    if schedule.state is not ScheduleState.ACTIVE or schedule.next_at is None:
        return []
    plan, times = cron.parse_plan(jobs.recall_plan(schedule.plan)), [schedule.next_at]
    while len(times) < _NEXT_RUNS and (at := find_next(plan, times[-1], schedule.ends_at)) is not None:
        times.append(at)
    return times


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_PAYMENTS)
async def show_schedule(visit: Visit) -> Reply:
    """Shows a schedule, its next runs and those that were made or missed."""
    schedule = await _get_schedule(visit)
    visit.check(permissions.Permission.VIEW_PAYMENTS, schedule.channel_id)
    runs = await list_runs(visit.app.database, schedule.merchant_id, schedule.id, limits.LIMITS.payments_shown)
    is_active = schedule.state is ScheduleState.ACTIVE
    return visit.render(
        "one_schedule.html",
        title=f"Schedule {schedule.id}",
        schedule=schedule,
        plan=describe_plan(schedule),
        tone=SCHEDULE_TONES[schedule.state],
        channel=visit.app.merchants.find_channel(schedule.channel_id),
        next_runs=list_next_runs(schedule),
        runs=[(run, _RUN_TONES[run.state]) for run in runs],
        may_end=is_active and visit.may(permissions.Permission.CAPTURE, schedule.channel_id),
    )


async def _get_schedule(visit: Visit) -> Schedule:
    found = await find_schedule(visit.app.database, visit.get_merchant().id, visit.names[0])
    if found is None:
        raise make_not_found("schedule")
    return found


@ROUTES.add("POST", f"{_PATH}/end", permissions.Permission.CAPTURE)
async def end_schedule(visit: Visit) -> Reply:
    """Ends a schedule: no further payment is made."""
    schedule = await _get_schedule(visit)
    visit.check(permissions.Permission.CAPTURE, schedule.channel_id)
    channel = visit.app.merchants.get_channel(schedule.channel_id)
    fields = read_fields([], visit.app.make_situation("schedule", channel, schedules.DESCHEDULES))
    await visit.record(audit_actions.AuditAction.SCHEDULE_ENDED, schedule.id)
    await deschedule(visit.app, fields, schedule.id, Call(channel, f"{channel.id}_{visit.request.trace}"))
    return visit.go(f"{visit.base}/schedules/{schedule.id}", "The schedule has ended.")
