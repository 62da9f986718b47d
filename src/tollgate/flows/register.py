"""The story of storing an account without a payment: judge, seal, write, answer. Nothing is sent to anybody."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tollgate.catalog import is_pending, is_success
from tollgate.contract import Answer, RegistrationOrder, answer_registration
from tollgate.flows.idempotency import answer_taken_key
from tollgate.operations import (
    SUCCESS_CODES,
    App,
    find_same,
    keep_answer_writes,
    seal_registration,
    sign_mandate,
    start_registration,
)
from tollgate.payments import Channel, IdempotencyKey, NewRegistration, Registration, RegistrationState
from tollgate.store import Write, insert_registration_writes
from tollgate.values import RegistrationId, make_id

Guard = Callable[[Registration], list[Write]]
"""What has to hold, and happens, in the commit that answers with this registration."""


def no_guard(_registration: Registration) -> list[Write]:
    return []


async def register(
    app: App,
    order: RegistrationOrder,
    channel: Channel,
    ndc: str,
    idempotency_key: IdempotencyKey | None,
    *,
    guard: Guard = no_guard,
) -> Answer:
    """What is refused is written down too, without its account, so that the merchant can read why."""
    known = await _find_known(app, order, channel)
    if known is not None:
        return await _write(app, guard(known), known, idempotency_key)
    new = _make(app, order, channel, ndc)
    unit = [*guard(new.registration), *insert_registration_writes(new)]
    return await _write(app, unit, new.registration, idempotency_key)


async def _find_known(app: App, order: RegistrationOrder, channel: Channel) -> Registration | None:
    if order.account is None or order.objection or order.forced_code:
        return None
    return await find_same(app, channel, order.account, order.brand, order.card_summary)


def _make(app: App, order: RegistrationOrder, channel: Channel, ndc: str) -> NewRegistration:
    registration_id = RegistrationId(make_id(app.random_bytes))
    code = order.objection or order.forced_code or SUCCESS_CODES[order.test_mode]
    registration = msgspec.structs.replace(
        start_registration(app, order, channel, ndc, registration_id),
        state=judge(code),
        result_code=code,
        initial=order.initial,
    )
    if order.account is None or registration.state is RegistrationState.REJECTED:
        return NewRegistration(registration, None)
    return seal_registration(app, registration, sign_mandate(order.account, registration_id, app.clock.now()))


def judge(code: str) -> RegistrationState:
    if is_success(code):
        return RegistrationState.ACTIVE
    return RegistrationState.PENDING if is_pending(code) else RegistrationState.REJECTED


async def _write(
    app: App, unit: list[Write], registration: Registration, idempotency_key: IdempotencyKey | None
) -> Answer:
    answer = answer_registration(registration, app.envelope)
    unit = [*unit, *keep_answer_writes(app, idempotency_key, registration.merchant_id, answer)]
    if not unit or await app.database.write(unit):
        return answer
    return await answer_taken_key(app, idempotency_key)
