"""The story of removing a stored account: what is sealed is wiped, what would charge it ends, a trace stays.

What ends by itself because its time is over is told in `erase`.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, Fields, answer_removal, find_mode
from tollgate.flows.revise import Kept, Objections, Revision, revise
from tollgate.payments import UNUSABLE, Channel, Claim, RegistrationEvent, RegistrationState, wipe
from tollgate.steps import SUCCESS_CODES, House
from tollgate.store import steps_change_registration, steps_end_schedules

_NEVER_STORED = "100.350.303"
_OBJECTIONS = Objections(_NEVER_STORED, {**UNUSABLE, RegistrationState.REJECTED: _NEVER_STORED})


async def deregister(
    house: House, fields: Fields, registration_id: str, channel: Channel, ndc: str, claim: Claim | None
) -> Answer:
    return await revise(
        house,
        channel.merchant_id,
        registration_id,
        fields,
        claim,
        _OBJECTIONS,
        lambda kept: _remove(house, fields, kept, ndc),
    )


def _remove(house: House, fields: Fields, kept: Kept, ndc: str) -> Revision:
    registration, now = kept.registration, house.clock.now()
    code = SUCCESS_CODES[find_mode(fields, registration, is_live=house.is_live)]
    removed = msgspec.structs.replace(wipe(registration, RegistrationState.DELETED), result_code=code)
    unit = [
        *steps_change_registration(removed, None, None, event=RegistrationEvent.DELETED, at=now),
        *steps_end_schedules(registration.merchant_id, registration.id, now, UNUSABLE[RegistrationState.DELETED]),
    ]
    return Revision(unit, answer_removal(registration.id, code, house.envelope, ndc, now))
