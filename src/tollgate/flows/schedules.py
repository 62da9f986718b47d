"""Schedules: created, changed and ended by a merchant. Their runs are paid in `run_schedules`."""

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import schedules
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields
from tollgate.flows.pay import look_up_registration
from tollgate.flows.run_schedules import make_run_order
from tollgate.operations import accounts, idempotency, routes, signing
from tollgate.operations.app import SUCCESS_CODES, App, Call
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.schedule import Schedule, ScheduleState
from tollgate.store import schedules as store_schedules
from tollgate.store.registrations import find_sealed_registration
from tollgate.values import MerchantId, NotFound, Refusal, RegistrationId, ScheduleId, is_id, make_id

_NOT_SCHEDULED = {
    schedules.RESCHEDULES: codes.NOTHING_TO_RESCHEDULE,
    schedules.DESCHEDULES: codes.NOTHING_TO_DESCHEDULE,
}


async def create_schedule(app: App, fields: Fields, call: Call) -> Answer:
    order = schedules.read_schedule(fields, app.clock.now())
    test_mode = await check_payable(app, order, call.channel, fields, call.idempotency_key)
    schedule = start_schedule(app, order, call.channel, call.ndc, test_mode)
    answer = schedules.answer_schedule(schedule, SUCCESS_CODES[test_mode], app.envelope)
    return await idempotency.write_answer(
        app, call, store_schedules.insert_schedule_writes(schedule), answer, label="schedule created"
    )


async def reschedule(app: App, fields: Fields, named_id: str, call: Call) -> Answer:
    """Replaces the active schedule of the series that an id names. Payments stay on the channel where it began."""

    async def attempt() -> Answer | None:
        active = await get_active_schedule(app, call.channel.merchant_id, named_id, schedules.RESCHEDULES)
        its_channel = app.merchants.get_channel(active.channel_id)
        order = schedules.read_reschedule(fields, active, app.clock.now())
        test_mode = await check_payable(app, order, its_channel, fields, call.idempotency_key)
        schedule = start_schedule(app, order, its_channel, call.ndc, test_mode, active.series_id)
        answer = schedules.answer_schedule(
            schedule, SUCCESS_CODES[test_mode], app.envelope, payment_type=schedules.RESCHEDULES
        )
        unit = [
            *store_schedules.replace_schedule_writes(active, schedule.created_at),
            *store_schedules.insert_schedule_writes(schedule),
            *idempotency.keep_answer_writes(app, call, answer),
        ]
        # A schedule that fell due, or was replaced or ended, between reading and writing is read again.
        return answer if await app.database.write(unit, label="schedule changed") else None

    return await idempotency.retry(app, call, "schedule", attempt)


async def deschedule(app: App, fields: Fields, named_id: str, call: Call) -> Answer:
    schedules.check_change(fields, schedules.DESCHEDULES)

    async def attempt() -> Answer | None:
        active = await get_active_schedule(app, call.channel.merchant_id, named_id, schedules.DESCHEDULES)
        await _refuse_exposed_registration(app, active, fields, call.idempotency_key)
        now = app.clock.now()
        ended = msgspec.structs.replace(active, state=ScheduleState.ENDED)
        answer = schedules.answer_schedule(
            ended,
            SUCCESS_CODES[active.test_mode],
            app.envelope,
            payment_type=schedules.DESCHEDULES,
            ndc=call.ndc,
            at=now,
        )
        ending = store_schedules.end_schedule_writes(active, now)
        kept = idempotency.keep_answer_writes(app, call, answer)
        return answer if await app.database.write([*ending, *kept], label="schedule ended") else None

    return await idempotency.retry(app, call, "schedule", attempt)


async def show_schedule(app: App, merchant_id: MerchantId, named_id: str, ndc: str) -> Answer:
    """A schedule with its latest runs, or all schedules of a registration."""
    schedule = await store_schedules.find_schedule(app.database, merchant_id, named_id) if is_id(named_id) else None
    if schedule is not None:
        runs = await store_schedules.list_runs(app.database, merchant_id, schedule.id, LIMITS.runs_shown)
        return schedules.answer_schedule(schedule, SUCCESS_CODES[schedule.test_mode], app.envelope, runs=runs)
    registration = await look_up_registration(app, merchant_id, named_id)
    if registration is None:
        raise NotFound(get_result(codes.PAYMENT_UNKNOWN))
    found = await store_schedules.list_schedules(app.database, merchant_id, registration.id, LIMITS.schedules_shown)
    code = SUCCESS_CODES[registration.test_mode]
    return schedules.answer_schedules(registration.id, found, code, app.envelope, ndc, app.clock.now())


async def get_active_schedule(app: App, merchant_id: MerchantId, named_id: str, payment_type: str) -> Schedule:
    """Another merchant's is as unknown as none, and what is unknown is not scheduled."""
    named = await store_schedules.find_schedule(app.database, merchant_id, named_id) if is_id(named_id) else None
    active = (
        None
        if named is None
        else await store_schedules.find_active_schedule(app.database, merchant_id, named.series_id)
    )
    if active is None:
        raise Refusal(get_result(_NOT_SCHEDULED[payment_type]))
    return active


async def check_payable(
    app: App, order: schedules.ScheduleOrder, channel: Channel, fields: Fields, idempotency_key: IdempotencyKey | None
) -> TestMode | None:
    """Its first payment is prepared as if it were due now: what could never be paid is refused at once."""
    on_file = await accounts.open_registration(app, channel.merchant_id, order.registration_id)
    accounts.refuse_exposed(on_file.account, fields.echo, idempotency_key)
    schedules.refuse_shopper_brands(on_file)
    payment = make_run_order(app, channel, order.payment_type, order.money, order.echo, on_file)
    if payment.objection is not None:
        raise Refusal(get_result(payment.objection))
    try:
        routes.check_reachable(app, channel, payment.test_mode, payment.brand)
    except Refusal:
        if app.is_live:
            raise Refusal(get_result(codes.SCHEDULES_NOT_CONFIGURED)) from None
        raise
    return payment.test_mode


async def _refuse_exposed_registration(
    app: App, active: Schedule, fields: Fields, idempotency_key: IdempotencyKey | None
) -> None:
    found = await find_sealed_registration(app.database, active.merchant_id, active.registration_id)
    if found is not None:
        registration, sealed, _ = found
        accounts.refuse_exposed_sealed(
            sealed, accounts.make_registration_owner(registration), fields.echo, idempotency_key, app
        )


def start_schedule(
    app: App,
    order: schedules.ScheduleOrder,
    channel: Channel,
    ndc: str,
    test_mode: TestMode | None,
    series_id: ScheduleId | None = None,
) -> Schedule:
    schedule_id = ScheduleId(make_id(app.random_bytes))
    schedule = Schedule(
        id=schedule_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        series_id=series_id or schedule_id,
        registration_id=RegistrationId(order.registration_id),
        state=ScheduleState.ACTIVE,
        payment_type=order.payment_type,
        money=order.money,
        plan=order.plan,
        ndc=ndc,
        created_at=app.clock.now(),
        starts_at=order.starts_at,
        ends_at=order.ends_at,
        next_at=order.next_at,
        test_mode=test_mode,
        echo=order.echo,
    )
    return signing.sign(app, schedule)
