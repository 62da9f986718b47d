"""What an idempotency key answers: the first answer again, or why not.

Claiming a key is part of the payment's first write.
"""

from __future__ import annotations

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import Answer, Fields, check_key, is_never_stored
from tollgate.payments import Channel, Claim
from tollgate.steps import BrokenSeal, House, open_kept_answer, report_tampering
from tollgate.store import StoredClaim, find_claim
from tollgate.values import Conflict
from tollgate.vault import fingerprint


class NotStarted(LookupError):
    """The store refused an attempt that claimed no key: nothing may be sent without a durable one."""


def make_claim(house: House, key: str | None, channel: Channel, method: str, path: str, fields: Fields) -> Claim | None:
    if key is None:
        return None
    check_key(key, fields.values)
    parts = [method, path]
    for name, text in sorted(fields.values.items()):
        # What is never stored, not even as a fingerprint, cannot tell two requests apart.
        if not is_never_stored(name):
            parts += (name, text)
    print_of_request = fingerprint("idempotency", parts, house.keyring)
    return Claim(channel_id=channel.id, key=key, fingerprint=print_of_request, created_at=house.clock.now())


async def find_earlier_answer(house: House, claim: Claim | None) -> Answer | None:
    """None where the key is new; a key that is taken answers or is refused."""
    if claim is None:
        return None
    stored = await find_claim(
        house.database, claim.channel_id, claim.key, claim.created_at - LIMITS.idempotency_lifetime
    )
    return None if stored is None else _replay(house, stored, claim)


async def answer_taken_key(house: House, claim: Claim | None) -> Answer:
    if claim is None:
        raise NotStarted("an attempt without an Idempotency-Key was refused by the store")
    answer = await find_earlier_answer(house, claim)
    if answer is None:
        raise Conflict(get_result("800.600.100"), "the Idempotency-Key is in use")
    return answer


def _replay(house: House, stored: StoredClaim, claim: Claim) -> Answer:
    if stored.fingerprint != claim.fingerprint:
        raise Conflict(get_result("800.110.100"), "the Idempotency-Key was used for another request")
    if stored.status is None or stored.body is None:
        raise Conflict(get_result("800.600.100"), "the first request with this Idempotency-Key is still running")
    answer = open_kept_answer(stored, house.keyring)
    if answer is None:
        report_tampering("payment", stored.payment_id or "none")
        raise BrokenSeal("the answer kept for an Idempotency-Key is not the one that was given: run `tollgate verify`")
    return answer
