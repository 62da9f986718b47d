"""The story of keeping a stored account longer than its time. How long that is follows from the house's retention."""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, Fields, answer_registration, find_mode, tell_end
from tollgate.flows.revise import Kept, Objections, Revision, revise
from tollgate.payments import UNUSABLE, Channel, Claim
from tollgate.steps import House
from tollgate.store import steps_change_registration

_NOT_STORED = "100.350.316"
_OBJECTIONS = Objections(_NOT_STORED, dict.fromkeys(UNUSABLE, _NOT_STORED))


async def extend_life(
    house: House, fields: Fields, registration_id: str, channel: Channel, ndc: str, claim: Claim | None
) -> Answer:
    return await revise(
        house,
        channel.merchant_id,
        registration_id,
        fields,
        claim,
        _OBJECTIONS,
        lambda kept: _extend(house, fields, kept, ndc),
    )


def _extend(house: House, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, house.clock.now()
    find_mode(fields, registration, is_live=house.is_live)
    extended = msgspec.structs.replace(registration, keep_until=house.retention.extend(registration, now))
    # Nothing that its merchant knows of it has changed, so nothing is announced.
    unit = steps_change_registration(extended, kept.sealed_account, kept.sealed_token, event=None, at=now)
    return Revision(unit, answer_registration(extended, house.envelope, ndc=ndc, at=now, **tell_end(extended)))
