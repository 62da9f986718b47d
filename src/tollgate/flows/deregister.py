"""The story of removing a stored account: what is sealed is wiped, what would charge it ends, a trace stays.

What ends by itself because its time is over is told in `erase`.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, Fields, answer_removal, find_mode
from tollgate.flows.revise import Kept, Objections, Revision, revise
from tollgate.operations import SUCCESS_CODES, App
from tollgate.payments import UNUSABLE, Channel, IdempotencyKey, RegistrationEvent, RegistrationState, wipe
from tollgate.store import change_registration_writes, end_schedules_writes

_NEVER_STORED = "100.350.303"
_OBJECTIONS = Objections(_NEVER_STORED, {**UNUSABLE, RegistrationState.REJECTED: _NEVER_STORED})


async def deregister(
    app: App, fields: Fields, registration_id: str, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    return await revise(
        app,
        channel.merchant_id,
        registration_id,
        fields,
        idempotency_key,
        _OBJECTIONS,
        lambda kept: _remove(app, fields, kept, ndc),
    )


def _remove(app: App, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, app.clock.now()
    code = SUCCESS_CODES[find_mode(fields, registration, is_live=app.is_live)]
    removed = msgspec.structs.replace(wipe(registration, RegistrationState.DELETED), result_code=code)
    unit = [
        *change_registration_writes(removed, None, None, event=RegistrationEvent.DELETED, at=now),
        *end_schedules_writes(registration.merchant_id, registration.id, now, UNUSABLE[RegistrationState.DELETED]),
    ]
    return Revision(unit, answer_removal(registration.id, code, app.envelope, ndc, now))
