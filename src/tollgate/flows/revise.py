"""How every change of a stored account is written: read, judge, write where nobody else did meanwhile, else again.

What the change is belongs to its own story.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import Answer, Fields
from tollgate.flows.idempotency import find_earlier_answer
from tollgate.operations import App, keep_answer_writes, name_registration_owner, refuse_exposed_sealed
from tollgate.payments import IdempotencyKey, Registration, RegistrationState
from tollgate.store import Write, find_sealed_registration
from tollgate.values import Conflict, MerchantId, Refusal, is_id


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
