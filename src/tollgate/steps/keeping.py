"""Answers kept for an Idempotency-Key: each carries a MAC, so that one that was changed in the store is not replayed.

The MAC ties an answer to its key, its request, its merchant, its entity and its payment.
"""

from __future__ import annotations

from hmac import compare_digest

from tollgate.contract import Answer
from tollgate.payments import Claim
from tollgate.steps.house import House
from tollgate.store import NO_PAYMENT, Step, StoredClaim, steps_claim_answered
from tollgate.values import MerchantId
from tollgate.vault import MAC_BYTES, Keyring, make_mac


def keep_answer(
    house: House, claim: Claim | StoredClaim | None, merchant_id: MerchantId, payment_id: str, answer: Answer
) -> Answer | None:
    """Returns the answer as it is stored, with the MAC before the body; None without an idempotency key."""
    if claim is None:
        return None
    facts = _list_facts(claim, merchant_id, payment_id, answer.status, answer.body)
    return Answer(answer.status, make_mac(_PURPOSE, facts, house.keyring) + answer.body)


def steps_keep_answer(house: House, claim: Claim | None, merchant_id: MerchantId, answer: Answer) -> list[Step]:
    """Returns the steps that take the key and store the answer of a request that makes no payment."""
    kept = keep_answer(house, claim, merchant_id, NO_PAYMENT, answer)
    return [] if claim is None or kept is None else steps_claim_answered(claim, merchant_id, kept)


def open_kept_answer(stored: StoredClaim, keyring: Keyring) -> Answer | None:
    """Returns the stored answer without its MAC; None if the MAC does not fit."""
    if stored.status is None or stored.body is None:
        return None
    mac, body = stored.body[:MAC_BYTES], stored.body[MAC_BYTES:]
    facts = _list_facts(stored, stored.merchant_id, stored.payment_id, stored.status, body)
    return Answer(stored.status, body) if compare_digest(mac, make_mac(_PURPOSE, facts, keyring)) else None


_PURPOSE = "kept answer"


def _list_facts(
    claim: Claim | StoredClaim, merchant_id: str, payment_id: str, status: int, body: bytes
) -> tuple[object, ...]:
    key = (merchant_id, claim.channel_id, claim.key, claim.fingerprint.hex(), claim.created_at)
    # In this encoding every byte is a letter of its own, so no two bodies read the same.
    return (*key, payment_id, status, body.decode("latin-1"))
