"""The story of storing an account without a payment: judge, seal, write, answer. Nothing is sent to anybody."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tollgate.catalog import is_pending, is_success
from tollgate.contract import Answer, RegistrationOrder, answer_registration
from tollgate.flows.idempotency import answer_taken_key
from tollgate.payments import Channel, Claim, NewRegistration, Registration, RegistrationState
from tollgate.steps import (
    SUCCESS_CODES,
    House,
    find_same,
    seal_registration,
    sign_mandate,
    start_registration,
    steps_keep_answer,
)
from tollgate.store import Step, steps_insert_registration
from tollgate.values import RegistrationId, make_id

Guard = Callable[[Registration], list[Step]]
"""What has to hold, and happens, in the commit that answers with this registration."""


def no_guard(_registration: Registration) -> list[Step]:
    return []


async def register(
    house: House,
    order: RegistrationOrder,
    channel: Channel,
    ndc: str,
    claim: Claim | None,
    *,
    guard: Guard = no_guard,
) -> Answer:
    """What is refused is written down too, without its account, so that the merchant can read why."""
    known = await _find_known(house, order, channel)
    if known is not None:
        return await _write(house, guard(known), known, claim)
    new = _make(house, order, channel, ndc)
    unit = [*guard(new.registration), *steps_insert_registration(new)]
    return await _write(house, unit, new.registration, claim)


async def _find_known(house: House, order: RegistrationOrder, channel: Channel) -> Registration | None:
    if order.account is None or order.objection or order.forced_code:
        return None
    return await find_same(house, channel, order.account, order.brand, order.face)


def _make(house: House, order: RegistrationOrder, channel: Channel, ndc: str) -> NewRegistration:
    registration_id = RegistrationId(make_id(house.chance))
    code = order.objection or order.forced_code or SUCCESS_CODES[order.test_mode]
    registration = msgspec.structs.replace(
        start_registration(house, order, channel, ndc, registration_id),
        state=judge(code),
        result_code=code,
        initial=order.initial,
    )
    if order.account is None or registration.state is RegistrationState.REJECTED:
        return NewRegistration(registration, None)
    return seal_registration(house, registration, sign_mandate(order.account, registration_id, house.clock.now()))


def judge(code: str) -> RegistrationState:
    if is_success(code):
        return RegistrationState.ACTIVE
    return RegistrationState.PENDING if is_pending(code) else RegistrationState.REJECTED


async def _write(house: House, unit: list[Step], registration: Registration, claim: Claim | None) -> Answer:
    answer = answer_registration(registration, house.envelope)
    unit = [*unit, *steps_keep_answer(house, claim, registration.merchant_id, answer)]
    if not unit or await house.database.write(unit):
        return answer
    return await answer_taken_key(house, claim)
