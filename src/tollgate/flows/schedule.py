"""The stories of a schedule that a merchant tells: made, replaced, ended, read again.

What happens when it is due is told in `run_schedules`.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import (
    DESCHEDULES,
    RESCHEDULES,
    Answer,
    Fields,
    ScheduleOrder,
    answer_schedule,
    answer_schedules,
    check_change,
    read_reschedule,
    read_schedule,
    refuse_shopper_brands,
)
from tollgate.flows.idempotency import answer_taken_key, find_earlier_answer
from tollgate.flows.look_up import look_up_registration
from tollgate.payments import Channel, Claim, Schedule, ScheduleState, TestMode
from tollgate.steps import (
    SUCCESS_CODES,
    House,
    choose_route,
    make_run_order,
    name_registration_owner,
    open_stored,
    refuse_exposed,
    refuse_exposed_sealed,
    seal_schedule,
    steps_keep_answer,
)
from tollgate.store import (
    find_active_schedule,
    find_schedule,
    find_sealed_registration,
    list_runs,
    list_schedules,
    steps_end_schedule,
    steps_insert_schedule,
    steps_replace_schedule,
)
from tollgate.values import Conflict, MerchantId, NotFound, Refusal, RegistrationId, ScheduleId, is_id, make_id

_NOT_SCHEDULED = {RESCHEDULES: "100.360.300", DESCHEDULES: "100.360.303"}
_NOT_LIVE = "100.360.400"
_UNKNOWN = "700.400.580"


async def create_schedule(house: House, fields: Fields, channel: Channel, ndc: str, claim: Claim | None) -> Answer:
    order = read_schedule(fields, house.clock.now())
    test_mode = await check_payable(house, order, channel, fields, claim)
    schedule = start_schedule(house, order, channel, ndc, test_mode)
    answer = answer_schedule(schedule, SUCCESS_CODES[test_mode], house.envelope)
    claimed = steps_keep_answer(house, claim, channel.merchant_id, answer)
    if await house.database.write([*steps_insert_schedule(schedule), *claimed]):
        return answer
    return await answer_taken_key(house, claim)


async def reschedule(
    house: House, fields: Fields, named_id: str, channel: Channel, ndc: str, claim: Claim | None
) -> Answer:
    """Any id of the series names it. Its payments stay on the channel on which it began."""
    for _ in range(LIMITS.reservation_tries_max):
        active = await find_active(house, channel.merchant_id, named_id, RESCHEDULES)
        its_channel = house.directory.get_channel(active.channel_id)
        order = read_reschedule(fields, active, house.clock.now())
        test_mode = await check_payable(house, order, its_channel, fields, claim)
        schedule = start_schedule(house, order, its_channel, ndc, test_mode, active.series_id)
        answer = answer_schedule(schedule, SUCCESS_CODES[test_mode], house.envelope, kind=RESCHEDULES)
        unit = [
            *steps_replace_schedule(active, schedule.created_at),
            *steps_insert_schedule(schedule),
            *steps_keep_answer(house, claim, channel.merchant_id, answer),
        ]
        if await house.database.write(unit):
            return answer
        earlier = await find_earlier_answer(house, claim)
        if earlier is not None:
            return earlier
        # It fell due, or a neighbour replaced or ended it, between reading and writing: what may be is judged again.
    raise Conflict(get_result("800.600.100"), "too many requests about this schedule at once")


async def deschedule(
    house: House, fields: Fields, named_id: str, channel: Channel, ndc: str, claim: Claim | None
) -> Answer:
    check_change(fields, DESCHEDULES)
    for _ in range(LIMITS.reservation_tries_max):
        active = await find_active(house, channel.merchant_id, named_id, DESCHEDULES)
        await _refuse_exposed_registration(house, active, fields, claim)
        now = house.clock.now()
        ended = msgspec.structs.replace(active, state=ScheduleState.ENDED)
        answer = answer_schedule(
            ended, SUCCESS_CODES[active.test_mode], house.envelope, kind=DESCHEDULES, ndc=ndc, at=now
        )
        claimed = steps_keep_answer(house, claim, channel.merchant_id, answer)
        if await house.database.write([*steps_end_schedule(active, ScheduleState.ENDED, now), *claimed]):
            return answer
        earlier = await find_earlier_answer(house, claim)
        if earlier is not None:
            return earlier
    raise Conflict(get_result("800.600.100"), "too many requests about this schedule at once")


async def show_schedule(house: House, merchant_id: MerchantId, named_id: str, ndc: str) -> Answer:
    """A schedule with its latest runs, or all schedules of a registration."""
    schedule = await find_schedule(house.database, merchant_id, named_id) if is_id(named_id) else None
    if schedule is not None:
        runs = await list_runs(house.database, merchant_id, schedule.id, LIMITS.runs_shown)
        return answer_schedule(schedule, SUCCESS_CODES[schedule.test_mode], house.envelope, runs=runs)
    registration = await look_up_registration(house, merchant_id, named_id)
    if registration is None:
        raise NotFound(get_result(_UNKNOWN))
    found = await list_schedules(house.database, merchant_id, registration.id, LIMITS.schedules_shown)
    code = SUCCESS_CODES[registration.test_mode]
    return answer_schedules(registration.id, found, code, house.envelope, ndc, house.clock.now())


async def find_active(house: House, merchant_id: MerchantId, named_id: str, kind: str) -> Schedule:
    """Another merchant's is as unknown as none, and what is unknown is not scheduled."""
    named = await find_schedule(house.database, merchant_id, named_id) if is_id(named_id) else None
    active = None if named is None else await find_active_schedule(house.database, merchant_id, named.series_id)
    if active is None:
        raise Refusal(get_result(_NOT_SCHEDULED[kind]))
    return active


async def check_payable(
    house: House, order: ScheduleOrder, channel: Channel, fields: Fields, claim: Claim | None
) -> TestMode | None:
    """Its first payment is prepared as if it were due now: what could never be paid is refused at once."""
    stored = await open_stored(house, channel.merchant_id, order.registration_id)
    refuse_exposed(stored.account, fields.echo, claim)
    refuse_shopper_brands(stored)
    payment = make_run_order(house, channel, order.kind, order.money, order.echo, stored)
    if payment.objection is not None:
        raise Refusal(get_result(payment.objection))
    try:
        choose_route(house, channel, payment.test_mode, payment.brand)
    except Refusal:
        if house.is_live:
            raise Refusal(get_result(_NOT_LIVE)) from None
        raise
    return payment.test_mode


async def _refuse_exposed_registration(house: House, active: Schedule, fields: Fields, claim: Claim | None) -> None:
    found = await find_sealed_registration(house.database, active.merchant_id, active.registration_id)
    if found is not None:
        registration, sealed, _ = found
        refuse_exposed_sealed(sealed, name_registration_owner(registration), fields.echo, claim, house)


def start_schedule(
    house: House,
    order: ScheduleOrder,
    channel: Channel,
    ndc: str,
    test_mode: TestMode | None,
    series_id: ScheduleId | None = None,
) -> Schedule:
    schedule_id = ScheduleId(make_id(house.chance))
    schedule = Schedule(
        id=schedule_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        series_id=series_id or schedule_id,
        registration_id=RegistrationId(order.registration_id),
        state=ScheduleState.ACTIVE,
        kind=order.kind,
        money=order.money,
        plan=order.plan,
        ndc=ndc,
        created_at=house.clock.now(),
        starts_at=order.starts_at,
        ends_at=order.ends_at,
        next_at=order.next_at,
        test_mode=test_mode,
        echo=order.echo,
    )
    return seal_schedule(house, schedule)
