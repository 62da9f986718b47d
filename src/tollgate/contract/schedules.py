"""Requests and answers about schedules, and the fields of their payments. Plans are read in `jobs`."""

from collections.abc import Mapping, Sequence

import msgspec

from tollgate.catalog import codes, series
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.payment_types import ANNOUNCED_PAYMENT_TYPES
from tollgate.catalog.results import get_result, make_invalid
from tollgate.contract.answers import Answer, Envelope, Json, finish_answer, render_rest, render_result
from tollgate.contract.fields import Fields, merge_echo
from tollgate.contract.jobs import JobPlan, read_plan, render_plan
from tollgate.payments.registration import RegisteredAccount
from tollgate.payments.schedule import Run, Schedule, ScheduleEvent, ScheduleState
from tollgate.values import Fault, Instant, InvalidParameters, Money, Refusal, read_hundredths, render_timestamp

SCHEDULES, RESCHEDULES, DESCHEDULES = "SD", "RS", "DS"
SCHEDULED_BY: Mapping[str, str] = {
    ScheduleEvent.CREATED: SCHEDULES,
    ScheduleEvent.UPDATED: RESCHEDULES,
    ScheduleEvent.ENDED: DESCHEDULES,
}
"""The payment type that an event about a schedule shows."""
SOURCE, SCHEDULER = "source", "SCHEDULER"
"""The member of a payment's echo, and its value, by which an event says that a schedule made the payment."""
_DEFAULT_TYPE = "DB"
_PLAN_GROUP = "job"

_NOT_CARRIED = WORDS[Use.ONE_PAYMENT] | WORDS[Use.ACCOUNT] | WORDS[Use.WALLET]
"""The payments of a schedule charge a stored account, and repeat nothing that was meant for one payment."""

_SERIES: Mapping[str, str] = {
    "standingInstruction.mode": series.REPEATED,
    "standingInstruction.source": series.BY_MERCHANT,
    "standingInstruction.type": "RECURRING",
}
"""The standing instruction of a schedule's payments, unless the merchant sent another."""
_FIXED = ("standingInstruction.mode", "standingInstruction.source")


class ScheduleOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The amount to charge, and the plan."""

    registration_id: str
    payment_type: str
    money: Money
    plan: Mapping[str, str]
    starts_at: Instant
    ends_at: Instant | None
    next_at: Instant
    echo: dict[str, str]


# ---- requests ----


def read_schedule(fields: Fields, now: Instant) -> ScheduleOrder:
    values = fields.values
    plan = read_plan(fields, now)
    _check_series(values)
    return ScheduleOrder(
        registration_id=values["registrationId"],
        payment_type=_read_payment_type(values.get("paymentType", SCHEDULES), plan),
        money=Money(read_hundredths(values["amount"]), values["currency"]),
        plan=plan.sent,
        starts_at=now if plan.starts_at is None else plan.starts_at,
        ends_at=plan.ends_at,
        next_at=plan.first_at,
        echo=_keep(fields),
    )


def read_reschedule(fields: Fields, active: Schedule, now: Instant) -> ScheduleOrder:
    """Reads the changes of a schedule; a plan is replaced as a whole."""
    values = fields.values
    check_change(fields, RESCHEDULES)
    _check_series(values)
    is_planned = _PLAN_GROUP in fields.groups or values.keys().isdisjoint(("amount", "currency", "registrationId"))
    plan = read_plan(fields, now) if is_planned or active.next_at is None else None
    amount = read_hundredths(values["amount"]) if "amount" in values else active.money.hundredths
    kept = ScheduleOrder(
        registration_id=values.get("registrationId", active.registration_id),
        payment_type=active.payment_type if plan is None or plan.payment_type is None else plan.payment_type,
        money=Money(amount, values.get("currency", active.money.currency)),
        plan=active.plan,
        starts_at=active.starts_at,
        ends_at=active.ends_at,
        next_at=active.next_at or now,
        echo=merge_echo(active.echo, _keep(fields)),
    )
    if plan is None:
        return kept
    starts_at = now if plan.starts_at is None else plan.starts_at
    return msgspec.structs.replace(
        kept, plan=plan.sent, starts_at=starts_at, ends_at=plan.ends_at, next_at=plan.first_at
    )


def check_change(fields: Fields, payment_type: str) -> None:
    """Refuses a type that contradicts the path."""
    if fields.values.get("paymentType", payment_type) != payment_type:
        raise Refusal(get_result(codes.SCHEDULE_TYPE_UNKNOWN))


def _read_payment_type(sent: str, plan: JobPlan) -> str:
    if sent not in (SCHEDULES, *ANNOUNCED_PAYMENT_TYPES):
        raise Refusal(get_result(codes.SCHEDULE_TYPE_UNKNOWN))
    if sent == SCHEDULES:
        return plan.payment_type or _DEFAULT_TYPE
    if plan.payment_type not in (None, sent):
        fault = Fault("job.action", f"does not go together with paymentType {sent}", plan.payment_type)
        raise InvalidParameters(get_result(codes.SCHEDULE_ACTION_UNKNOWN), [fault])
    return sent


def _check_series(values: Mapping[str, str]) -> None:
    """Refuses a standing instruction with a shopper, because none is present when a schedule is due."""
    sent = [(name, values[name]) for name in _FIXED if name in values]
    wrong = [(name, text) for name, text in sent if text != _SERIES[name]]
    faults = [Fault(name, f"must be {_SERIES[name]} in a schedule", text) for name, text in wrong]
    if faults:
        raise make_invalid(*faults)


def _keep(fields: Fields) -> dict[str, str]:
    return {name: text for name, text in fields.echo.items() if first_word(name) not in _NOT_CARRIED}


# ---- payments ----


def make_run_fields(payment_type: str, money: Money, echo: Mapping[str, str]) -> Fields:
    """Makes the fields that a merchant would have sent for a payment of the schedule."""
    values = {"paymentType": payment_type, "amount": money.render(), "currency": money.currency, **_SERIES, **echo}
    return Fields(values, frozenset(map(first_word, values)), {**values, SOURCE: SCHEDULER})


def refuse_shopper_brands(on_file: RegisteredAccount) -> None:
    brand = BRANDS[on_file.registration.brand]
    if brand.needs_return:
        raise Refusal(get_result(codes.TYPE_NOT_SUPPORTED), f"{brand.code} is paid by a shopper who is there")


# ---- answers ----


def answer_schedule(
    schedule: Schedule,
    code: str,
    envelope: Envelope,
    *,
    payment_type: str = SCHEDULES,
    ndc: str | None = None,
    at: Instant | None = None,
    runs: Sequence[Run] | None = None,
) -> Answer:
    """Answers with the schedule. A change has its own trace id and time, a read those of the creation."""
    body = render_schedule(schedule, code, payment_type)
    if runs is not None:
        body["runs"] = [_render_run(run) for run in runs]
        if schedule.skipped:
            body["runsSkipped"] = schedule.skipped
    return finish_answer(body, envelope, at or schedule.created_at, ndc or schedule.ndc)


def answer_schedules(
    registration_id: str, schedules: Sequence[Schedule], code: str, envelope: Envelope, ndc: str, now: Instant
) -> Answer:
    body: Json = {"registrationId": registration_id, "result": render_result(get_result(code))}
    body["schedules"] = [render_schedule(schedule, code, SCHEDULES) for schedule in schedules]
    return finish_answer(body, envelope, now, ndc)


def render_schedule(schedule: Schedule, code: str, payment_type: str) -> Json:
    body: Json = {"id": schedule.id, "registrationId": schedule.registration_id}
    if schedule.series_id != schedule.id:
        body["referencedId"] = schedule.series_id
    body |= {"paymentType": payment_type, "amount": schedule.money.render(), "currency": schedule.money.currency}
    if "descriptor" in schedule.echo:
        body["descriptor"] = schedule.echo["descriptor"]
    rest = render_rest(code, None, schedule.echo)
    del rest["risk"]
    return body | rest | {"job": render_plan(schedule.plan), "plan": _render_state(schedule)}


def _render_state(schedule: Schedule) -> Json:
    is_active = schedule.state is ScheduleState.ACTIVE
    shown: Json = {"active": is_active, "paymentType": schedule.payment_type}
    if is_active and schedule.next_at is not None:
        shown["nextRun"] = render_timestamp(schedule.next_at)
    if schedule.result_code:
        shown["endedBy"] = render_result(get_result(schedule.result_code))
    return shown


def _render_run(run: Run) -> Json:
    shown: Json = {"due": render_timestamp(run.due_at), "state": run.state.name, "tries": run.tries}
    if run.payment_id:
        shown["paymentId"] = run.payment_id
    if run.result_code:
        shown["result"] = render_result(get_result(run.result_code))
    return shown
