"""The story of changing what is known of a stored account, or of confirming one; which account it is stays the same."""

from __future__ import annotations

import msgspec

from tollgate.catalog import get_result
from tollgate.contract import Answer, Fields, answer_registration, apply_update, find_mode, is_confirmation
from tollgate.flows.revise import Kept, Objections, Revision, revise
from tollgate.operations import SUCCESS_CODES, App, get_registration, name_registration_owner, wants_token
from tollgate.payments import Channel, IdempotencyKey, Registration, RegistrationEvent, RegistrationState
from tollgate.store import change_registration_writes, ensure_job_writes, make_token_job
from tollgate.values import Instant, Refusal, to_datetime
from tollgate.vault import open_account, seal_account

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

    if is_confirmation(fields):
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
    code = SUCCESS_CODES[find_mode(fields, registration, is_live=app.is_live)]
    confirmed = msgspec.structs.replace(registration, state=RegistrationState.ACTIVE, result_code=code)
    revision = _finish(app, kept, confirmed, kept.sealed_account, RegistrationEvent.CREATED, ndc)
    if wants_token(app, registration.channel_id, registration.brand, registration.test_mode):
        # As one that is usable from the first moment has it.
        job = make_token_job(registration.merchant_id, registration.id, app.clock.now())
        return Revision([*revision.unit, *ensure_job_writes(job)], revision.answer)
    return revision


def _update(app: App, fields: Fields, kept: Kept, channel: Channel, ndc: str) -> Revision:
    registration, sealed, now = kept.registration, kept.sealed_account, app.clock.now()
    find_mode(fields, registration, is_live=app.is_live)
    owner = name_registration_owner(registration)
    account = None if sealed is None else open_account(sealed, owner=owner, keyring=app.keyring)
    changed, account = apply_update(fields, registration, account, channel, today=to_datetime(now).date())
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
    return Revision(unit, answer_registration(changed, app.envelope, ndc=ndc, at=now))
