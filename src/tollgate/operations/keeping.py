"""Answers kept for an Idempotency-Key: each carries a MAC, so that one that was changed in the store is not replayed.

The MAC ties an answer to its key, its request, its merchant, its entity and its payment.
"""

from __future__ import annotations

from hmac import compare_digest

from tollgate.contract import Answer
from tollgate.operations.app import App
from tollgate.payments import IdempotencyKey
from tollgate.store import NO_PAYMENT, IdempotencyRecord, Write, answered_idempotency_writes
from tollgate.values import MerchantId
from tollgate.vault import MAC_BYTES, Keyring, make_mac


def keep_answer(
    app: App,
    idempotency_key: IdempotencyKey | IdempotencyRecord | None,
    merchant_id: MerchantId,
    payment_id: str,
    answer: Answer,
) -> Answer | None:
    """Returns the answer as it is stored, with the MAC before the body; None without an idempotency key."""
    if idempotency_key is None:
        return None
    facts = _list_facts(idempotency_key, merchant_id, payment_id, answer.status, answer.body)
    return Answer(answer.status, make_mac(_PURPOSE, facts, app.keyring) + answer.body)


def keep_answer_writes(
    app: App, idempotency_key: IdempotencyKey | None, merchant_id: MerchantId, answer: Answer
) -> list[Write]:
    """Returns the steps that take the key and store the answer of a request that makes no payment."""
    kept = keep_answer(app, idempotency_key, merchant_id, NO_PAYMENT, answer)
    return (
        []
        if idempotency_key is None or kept is None
        else answered_idempotency_writes(idempotency_key, merchant_id, kept)
    )


def open_stored_answer(stored: IdempotencyRecord, keyring: Keyring) -> Answer | None:
    """Returns the stored answer without its MAC; None if the MAC does not fit."""
    if stored.status is None or stored.body is None:
        return None
    mac, body = stored.body[:MAC_BYTES], stored.body[MAC_BYTES:]
    facts = _list_facts(stored, stored.merchant_id, stored.payment_id, stored.status, body)
    return Answer(stored.status, body) if compare_digest(mac, make_mac(_PURPOSE, facts, keyring)) else None


_PURPOSE = "kept answer"


def _list_facts(
    idempotency_key: IdempotencyKey | IdempotencyRecord, merchant_id: str, payment_id: str, status: int, body: bytes
) -> tuple[object, ...]:
    key = (
        merchant_id,
        idempotency_key.channel_id,
        idempotency_key.key,
        idempotency_key.fingerprint.hex(),
        idempotency_key.created_at,
    )
    # In this encoding every byte is a letter of its own, so no two bodies read the same.
    return (*key, payment_id, status, body.decode("latin-1"))
