"""The story of keeping a stored account longer than its time. How long that is follows from the house's retention."""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, Fields, answer_registration, find_mode, tell_end
from tollgate.flows.revise import Kept, Objections, Revision, revise
from tollgate.operations import App
from tollgate.payments import UNUSABLE, Channel, IdempotencyKey
from tollgate.store import change_registration_writes

_NOT_STORED = "100.350.316"
_OBJECTIONS = Objections(_NOT_STORED, dict.fromkeys(UNUSABLE, _NOT_STORED))


async def extend_life(
    app: App, fields: Fields, registration_id: str, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    return await revise(
        app,
        channel.merchant_id,
        registration_id,
        fields,
        idempotency_key,
        _OBJECTIONS,
        lambda kept: _extend(app, fields, kept, ndc),
    )


def _extend(app: App, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, app.clock.now()
    find_mode(fields, registration, is_live=app.is_live)
    extended = msgspec.structs.replace(registration, keep_until=app.retention.extend(registration, now))
    # Nothing that its merchant knows of it has changed, so nothing is announced.
    unit = change_registration_writes(extended, kept.sealed_account, kept.sealed_token, event=None, at=now)
    return Revision(unit, answer_registration(extended, app.envelope, ndc=ndc, at=now, **tell_end(extended)))
