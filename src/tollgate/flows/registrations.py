"""Registrations: made, changed, deleted and extended. Paying with one is the same flow as any payment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result, is_pending, is_success
from tollgate.contract import registrations
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields
from tollgate.operations.app import SUCCESS_CODES, App
from tollgate.operations.idempotency import answer_taken_key, find_earlier_answer, keep_answer_writes
from tollgate.operations.network_tokens import wants_token
from tollgate.operations.registrations import (
    find_same,
    get_registration,
    name_registration_owner,
    refuse_exposed_sealed,
    seal_registration,
    sign_mandate,
    start_registration,
)
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.registration import (
    UNUSABLE,
    NewRegistration,
    Registration,
    RegistrationEvent,
    RegistrationState,
    wipe,
)
from tollgate.store.jobs import ensure_job_writes
from tollgate.store.registrations import (
    change_registration_writes,
    find_sealed_registration,
    insert_registration_writes,
    make_token_job,
)
from tollgate.store.schedules import end_schedules_writes
from tollgate.store.statements import Write
from tollgate.values import Conflict, Instant, MerchantId, Refusal, RegistrationId, is_id, make_id, to_datetime
from tollgate.vault.sealing import open_account, seal_account


class Kept(msgspec.Struct, frozen=True):
    """A registration as it was read, with what is sealed beside it."""

    registration: Registration
    sealed_account: bytes | None
    sealed_token: bytes | None


class Revision(msgspec.Struct, frozen=True):
    """What shall be written, and what is answered if it was."""

    unit: list[Write]
    answer: Answer


class Objections(msgspec.Struct, frozen=True):
    """Why a change is refused, as result codes."""

    unknown: str
    by_state: Mapping[RegistrationState, str]


async def revise(
    app: App,
    merchant_id: MerchantId,
    registration_id: str,
    fields: Fields,
    idempotency_key: IdempotencyKey | None,
    objections: Objections,
    plan: Callable[[Kept], Revision],
) -> Answer:
    """Another merchant's is as unknown as none."""
    for _ in range(LIMITS.reservation_tries_max):
        found = await _find(app, merchant_id, registration_id, objections)
        if isinstance(found, Refusal):
            # It may have been done meanwhile, by the same request sent twice: then the key has its answer.
            earlier = await find_earlier_answer(app, idempotency_key)
            if earlier is None:
                raise found
            return earlier
        owner = name_registration_owner(found.registration)
        refuse_exposed_sealed(found.sealed_account, owner, fields.echo, idempotency_key, app)
        revision = plan(found)
        claimed = keep_answer_writes(app, idempotency_key, merchant_id, revision.answer)
        if await app.database.write([*revision.unit, *claimed]):
            return revision.answer
        earlier = await find_earlier_answer(app, idempotency_key)
        if earlier is not None:
            return earlier
    raise Conflict(get_result("800.600.100"), "too many requests about this registration at once")


async def _find(app: App, merchant_id: MerchantId, registration_id: str, objections: Objections) -> Kept | Refusal:
    found = (
        await find_sealed_registration(app.database, merchant_id, registration_id) if is_id(registration_id) else None
    )
    if found is None:
        return Refusal(get_result(objections.unknown))
    kept = Kept(*found)
    refusal = objections.by_state.get(kept.registration.state)
    return kept if refusal is None else Refusal(get_result(refusal))


Guard = Callable[[Registration], list[Write]]
"""What has to hold, and happens, in the commit that answers with this registration."""


def no_guard(_registration: Registration) -> list[Write]:
    return []


async def register(
    app: App,
    order: registrations.RegistrationOrder,
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


async def _find_known(app: App, order: registrations.RegistrationOrder, channel: Channel) -> Registration | None:
    if order.account is None or order.objection or order.forced_code:
        return None
    return await find_same(app, channel, order.account, order.brand, order.card_summary)


def _make(app: App, order: registrations.RegistrationOrder, channel: Channel, ndc: str) -> NewRegistration:
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
    answer = registrations.answer_registration(registration, app.envelope)
    unit = [*unit, *keep_answer_writes(app, idempotency_key, registration.merchant_id, answer)]
    if not unit or await app.database.write(unit):
        return answer
    return await answer_taken_key(app, idempotency_key)


_ENDED = {RegistrationState.DELETED: "100.350.101", RegistrationState.ERASED: "100.350.101"}
_NO_UPDATE = Objections(
    "100.150.200",
    {RegistrationState.PENDING: "100.150.201", RegistrationState.REJECTED: "100.350.100", **_ENDED},
)
_NO_CONFIRMATION = Objections(
    "100.350.301",
    {RegistrationState.ACTIVE: "100.350.302", RegistrationState.REJECTED: "100.350.100", **_ENDED},
)
_UNDECIDED = "100.150.201"


async def reregister(
    app: App, fields: Fields, registration_id: str, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    def confirm(kept: Kept) -> Revision:
        return _confirm(app, fields, kept, ndc)

    def update(kept: Kept) -> Revision:
        return _update(app, fields, kept, channel, ndc)

    if registrations.is_confirmation(fields):
        return await revise(
            app, channel.merchant_id, registration_id, fields, idempotency_key, _NO_CONFIRMATION, confirm
        )
    # What is no registration at all is told apart, as it is where one is read.
    await get_registration(app, channel.merchant_id, registration_id)
    return await revise(app, channel.merchant_id, registration_id, fields, idempotency_key, _NO_UPDATE, update)


def _confirm(app: App, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration = kept.registration
    if registration.made_by is not None:
        # Its payment decides, and nobody else.
        raise Refusal(get_result(_UNDECIDED))
    code = SUCCESS_CODES[registrations.find_mode(fields, registration, is_live=app.is_live)]
    confirmed = msgspec.structs.replace(registration, state=RegistrationState.ACTIVE, result_code=code)
    revision = _finish(app, kept, confirmed, kept.sealed_account, RegistrationEvent.CREATED, ndc)
    if wants_token(app, registration.channel_id, registration.brand, registration.test_mode):
        # As one that is usable from the first moment has it.
        job = make_token_job(registration.merchant_id, registration.id, app.clock.now())
        return Revision([*revision.unit, *ensure_job_writes(job)], revision.answer)
    return revision


def _update(app: App, fields: Fields, kept: Kept, channel: Channel, ndc: str) -> Revision:
    registration, sealed, now = kept.registration, kept.sealed_account, app.clock.now()
    registrations.find_mode(fields, registration, is_live=app.is_live)
    owner = name_registration_owner(registration)
    account = None if sealed is None else open_account(sealed, owner=owner, keyring=app.keyring)
    changed, account = registrations.apply_update(fields, registration, account, channel, today=to_datetime(now).date())
    changed = msgspec.structs.replace(changed, used_at=now, keep_until=_find_end(app, registration, changed, now))
    sealed = None if account is None else seal_account(account, owner=owner, keyring=app.keyring)
    return _finish(app, kept, changed, sealed, RegistrationEvent.UPDATED, ndc)


def _find_end(app: App, registration: Registration, changed: Registration, now: Instant) -> Instant:
    """Counted anew from what it is now, but what was extended on request does not end earlier for it."""
    was_extended = registration.keep_until > app.retention.find_end(registration.card, registration.used_at)
    counted = app.retention.find_end(changed.card, now)
    return max(counted, registration.keep_until) if was_extended else counted


def _finish(
    app: App, kept: Kept, changed: Registration, sealed: bytes | None, event: RegistrationEvent, ndc: str
) -> Revision:
    now = app.clock.now()
    unit = change_registration_writes(changed, sealed, kept.sealed_token, event=event, at=now)
    return Revision(unit, registrations.answer_registration(changed, app.envelope, ndc=ndc, at=now))


_NEVER_STORED = "100.350.303"
_DELETION_OBJECTIONS = Objections(_NEVER_STORED, {**UNUSABLE, RegistrationState.REJECTED: _NEVER_STORED})


async def deregister(
    app: App, fields: Fields, registration_id: str, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    return await revise(
        app,
        channel.merchant_id,
        registration_id,
        fields,
        idempotency_key,
        _DELETION_OBJECTIONS,
        lambda kept: _remove(app, fields, kept, ndc),
    )


def _remove(app: App, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, app.clock.now()
    code = SUCCESS_CODES[registrations.find_mode(fields, registration, is_live=app.is_live)]
    removed = msgspec.structs.replace(wipe(registration, RegistrationState.DELETED), result_code=code)
    unit = [
        *change_registration_writes(removed, None, None, event=RegistrationEvent.DELETED, at=now),
        *end_schedules_writes(registration.merchant_id, registration.id, now, UNUSABLE[RegistrationState.DELETED]),
    ]
    return Revision(unit, registrations.answer_removal(registration.id, code, app.envelope, ndc, now))


_NOT_STORED = "100.350.316"
_EXTENSION_OBJECTIONS = Objections(_NOT_STORED, dict.fromkeys(UNUSABLE, _NOT_STORED))


async def extend_life(
    app: App, fields: Fields, registration_id: str, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    return await revise(
        app,
        channel.merchant_id,
        registration_id,
        fields,
        idempotency_key,
        _EXTENSION_OBJECTIONS,
        lambda kept: _extend(app, fields, kept, ndc),
    )


def _extend(app: App, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, app.clock.now()
    registrations.find_mode(fields, registration, is_live=app.is_live)
    extended = msgspec.structs.replace(registration, keep_until=app.retention.extend(registration, now))
    # Nothing that its merchant knows of it has changed, so nothing is announced.
    unit = change_registration_writes(extended, kept.sealed_account, kept.sealed_token, event=None, at=now)
    return Revision(
        unit,
        registrations.answer_registration(extended, app.envelope, ndc=ndc, at=now, **registrations.tell_end(extended)),
    )
