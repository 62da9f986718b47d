"""Registrations: made, changed, deleted and extended. Paying with one is the same flow as any payment."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import get_result, is_pending, is_success
from tollgate.contract import registrations
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields
from tollgate.operations import accounts, idempotency, network_tokens, risk
from tollgate.operations.app import SUCCESS_CODES, App, Call
from tollgate.payments.registration import (
    UNUSABLE,
    NewRegistration,
    Registration,
    RegistrationEvent,
    RegistrationState,
    wipe,
)
from tollgate.store import jobs, schedules
from tollgate.store import registrations as store_registrations
from tollgate.store.statements import Write
from tollgate.values import Instant, Refusal, RegistrationId, is_id, make_id
from tollgate.vault import sealing


class Refusals(msgspec.Struct, frozen=True):
    """The result codes that refuse a change: of an unknown registration, and of one in a state that forbids it."""

    unknown: str
    by_state: Mapping[RegistrationState, str]


_ENDED = {
    RegistrationState.REJECTED: codes.REGISTRATION_REJECTED,
    RegistrationState.DELETED: codes.REGISTRATION_ENDED,
    RegistrationState.ERASED: codes.REGISTRATION_ENDED,
}
_UPDATE_REFUSALS = Refusals(
    codes.REGISTRATION_UNKNOWN, {RegistrationState.PENDING: codes.REGISTRATION_UNCONFIRMED, **_ENDED}
)
_CONFIRMATION_REFUSALS = Refusals(
    codes.CONFIRMATION_BEFORE_REGISTRATION, {RegistrationState.ACTIVE: codes.CONFIRMED_BEFORE, **_ENDED}
)
_DELETION_REFUSALS = Refusals(
    codes.NOTHING_TO_DEREGISTER, {**UNUSABLE, RegistrationState.REJECTED: codes.NOTHING_TO_DEREGISTER}
)
_EXTENSION_REFUSALS = Refusals(codes.NOTHING_TO_EXTEND, dict.fromkeys(UNUSABLE, codes.NOTHING_TO_EXTEND))


class RegistrationRow(msgspec.Struct, frozen=True):
    """A registration as it was read, with its sealed account and token."""

    registration: Registration
    sealed_account: bytes | None
    sealed_token: bytes | None


Change = Callable[[RegistrationRow], tuple[list[Write], Answer]]
"""Decides what is written about a registration, and what is answered once it is."""


async def register(
    app: App,
    order: registrations.RegistrationOrder,
    call: Call,
    *,
    guard: Callable[[Registration], list[Write]] = lambda _: [],
) -> Answer:
    """Creates a registration; a refused one is stored without its account, so that the merchant can read why.

    `guard` returns writes that must succeed in the same commit.
    """
    known = None
    if not order.objection and not order.forced_code:
        known = await accounts.find_same(app, call.channel, order)
    if known is not None:
        return await _write_answer(app, call, guard(known), registrations.answer_registration(known, app.envelope))
    registration_id = RegistrationId(make_id(app.random_bytes))
    judgement = await risk.evaluate_registration(app, order, call.channel, registration_id)
    if judgement.refusal and not order.objection:
        order = msgspec.structs.replace(order, objection=judgement.refusal)
    is_written = False
    try:
        new = _make_registration(app, order, call, registration_id, judgement.at)
        writes = [*guard(new.registration), *store_registrations.insert_registration_writes(new)]
        own = registrations.answer_registration(new.registration, app.envelope)
        answer = await _write_answer(app, call, writes, own)
        # Another request with the same key may have been faster, and its answer is given.
        is_written = answer is own
    finally:
        app.sightings.settle(judgement.sightings, is_written=is_written)
    return answer


def _write_answer(app: App, call: Call, writes: list[Write], answer: Answer) -> Awaitable[Answer]:
    return idempotency.write_answer(app, call, writes, answer, label="registration stored")


def _make_registration(
    app: App, order: registrations.RegistrationOrder, call: Call, registration_id: RegistrationId, at: Instant
) -> NewRegistration:
    """at: the time from which it counts for others, so that its sighting can be derived from its row."""
    code = order.objection or order.forced_code or SUCCESS_CODES[order.test_mode]
    state = RegistrationState.ACTIVE if is_success(code) else RegistrationState.REJECTED
    if is_pending(code):
        state = RegistrationState.PENDING
    registration = msgspec.structs.replace(
        accounts.start_registration(app, order, call, registration_id),
        state=state,
        created_at=at,
        result_code=code,
        initial=order.initial,
    )
    if order.account is None or registration.state is RegistrationState.REJECTED:
        return NewRegistration(registration, None)
    account = accounts.sign_mandate(order.account, registration_id, app.today)
    return accounts.seal_registration(app, registration, account)


async def reregister(app: App, fields: Fields, registration_id: str, call: Call) -> Answer:
    """Confirms a registration that waits for it, or updates one that is active."""
    if registrations.is_confirmation(fields):
        confirm = partial(_confirm, app, fields, call)
        return await _change(app, fields, registration_id, call, _CONFIRMATION_REFUSALS, confirm)
    # The id of a payment is refused with the same code as where a registration is read.
    await accounts.get_registration(app, call.channel.merchant_id, registration_id)
    update = partial(_update, app, fields, call)
    return await _change(app, fields, registration_id, call, _UPDATE_REFUSALS, update)


async def deregister(app: App, fields: Fields, registration_id: str, call: Call) -> Answer:
    def delete(row: RegistrationRow) -> tuple[list[Write], Answer]:
        registration, now = row.registration, app.clock.now()
        code = SUCCESS_CODES[registrations.find_mode(fields, registration, is_live=app.is_live)]
        deleted = msgspec.structs.replace(wipe(registration, RegistrationState.DELETED), result_code=code)
        unit = [
            *store_registrations.change_registration_writes(
                deleted, None, None, event=RegistrationEvent.DELETED, at=now
            ),
            *schedules.end_schedules_writes(
                registration.merchant_id, registration.id, now, UNUSABLE[RegistrationState.DELETED]
            ),
        ]
        return unit, registrations.answer_removal(registration.id, code, app.envelope, call.ndc, now)

    return await _change(app, fields, registration_id, call, _DELETION_REFUSALS, delete)


async def extend_life(app: App, fields: Fields, registration_id: str, call: Call) -> Answer:
    def extend(row: RegistrationRow) -> tuple[list[Write], Answer]:
        registration, now = row.registration, app.clock.now()
        registrations.find_mode(fields, registration, is_live=app.is_live)
        extended = msgspec.structs.replace(registration, keep_until=app.retention.extend(registration, now))
        # Nothing that its merchant knows of it has changed, so nothing is announced.
        unit = store_registrations.change_registration_writes(
            extended, row.sealed_account, row.sealed_token, event=None, at=now
        )
        end = registrations.render_keep_until(extended)
        return unit, registrations.answer_registration(extended, app.envelope, ndc=call.ndc, at=now, **end)

    return await _change(app, fields, registration_id, call, _EXTENSION_REFUSALS, extend)


async def _change(
    app: App, fields: Fields, registration_id: str, call: Call, refusals: Refusals, change: Change
) -> Answer:
    """Reads, decides and writes, again if another request wrote first. Another merchant's registration is unknown."""
    merchant_id = call.channel.merchant_id

    async def attempt() -> Answer | None:
        found = None
        if is_id(registration_id):
            found = await store_registrations.find_sealed_registration(app.database, merchant_id, registration_id)
        refusal = refusals.by_state.get(found[0].state) if found else refusals.unknown
        if found is None or refusal is not None:
            # The same request sent twice may have changed it meanwhile: then its key has the answer.
            earlier = await idempotency.find_earlier_answer(app, call.idempotency_key)
            if earlier is None:
                raise Refusal(get_result(refusal or refusals.unknown))
            return earlier
        row = RegistrationRow(*found)
        owner = accounts.make_registration_owner(row.registration)
        accounts.refuse_exposed_sealed(row.sealed_account, owner, fields.echo, call.idempotency_key, app)
        writes, answer = change(row)
        unit = [*writes, *idempotency.keep_answer_writes(app, call, answer)]
        return answer if await app.database.write(unit, label="registration changed") else None

    return await idempotency.retry(app, call, "registration", attempt)


def _confirm(app: App, fields: Fields, call: Call, row: RegistrationRow) -> tuple[list[Write], Answer]:
    registration, now = row.registration, app.clock.now()
    if registration.made_by is not None:
        # The payment that made it decides.
        raise Refusal(get_result(codes.REGISTRATION_UNCONFIRMED))
    code = SUCCESS_CODES[registrations.find_mode(fields, registration, is_live=app.is_live)]
    confirmed = msgspec.structs.replace(registration, state=RegistrationState.ACTIVE, result_code=code)
    unit = store_registrations.change_registration_writes(
        confirmed, row.sealed_account, row.sealed_token, event=RegistrationEvent.CREATED, at=now
    )
    if network_tokens.wants_token(app, registration):
        unit += jobs.ensure_job_writes(
            store_registrations.make_token_job(registration.merchant_id, registration.id, now)
        )
    return unit, registrations.answer_registration(confirmed, app.envelope, ndc=call.ndc, at=now)


def _update(app: App, fields: Fields, call: Call, row: RegistrationRow) -> tuple[list[Write], Answer]:
    registration, sealed, now = row.registration, row.sealed_account, app.clock.now()
    registrations.find_mode(fields, registration, is_live=app.is_live)
    owner = accounts.make_registration_owner(registration)
    account = None if sealed is None else accounts.open_registered(registration, sealed, app.keyring)
    changed, account = registrations.apply_update(fields, registration, account, call.channel, today=app.today)
    # The lifetime is counted anew; a registration that was extended on request does not end earlier for it.
    keep_until = app.retention.get_end(changed.card, now)
    if registration.keep_until > app.retention.get_end(registration.card, registration.used_at):
        keep_until = max(keep_until, registration.keep_until)
    changed = msgspec.structs.replace(changed, used_at=now, keep_until=keep_until)
    sealed = None if account is None else sealing.seal_account(account, owner=owner, keyring=app.keyring)
    unit = store_registrations.change_registration_writes(
        changed, sealed, row.sealed_token, event=RegistrationEvent.UPDATED, at=now
    )
    return unit, registrations.answer_registration(changed, app.envelope, ndc=call.ndc, at=now)
