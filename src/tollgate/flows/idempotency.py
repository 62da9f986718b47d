"""What an idempotency key answers: the first answer again, or why not.

Claiming a key is part of the payment's first write.
"""

from __future__ import annotations

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import Answer, Fields, check_key, is_never_stored
from tollgate.operations import App, TamperedRow, open_stored_answer, report_tampering
from tollgate.payments import Channel, IdempotencyKey
from tollgate.store import IdempotencyRecord, find_idempotency_record
from tollgate.values import Conflict
from tollgate.vault import fingerprint


class NotStarted(LookupError):
    """The store refused an attempt that claimed no key: nothing may be sent without a durable one."""


def make_idempotency_key(
    app: App, key: str | None, channel: Channel, method: str, path: str, fields: Fields
) -> IdempotencyKey | None:
    if key is None:
        return None
    check_key(key, fields.values)
    parts = [method, path]
    for name, text in sorted(fields.values.items()):
        # What is never stored, not even as a fingerprint, cannot tell two requests apart.
        if not is_never_stored(name):
            parts += (name, text)
    print_of_request = fingerprint("idempotency", parts, app.keyring)
    return IdempotencyKey(channel_id=channel.id, key=key, fingerprint=print_of_request, created_at=app.clock.now())


async def find_earlier_answer(app: App, idempotency_key: IdempotencyKey | None) -> Answer | None:
    """None where the key is new; a key that is taken answers or is refused."""
    if idempotency_key is None:
        return None
    stored = await find_idempotency_record(
        app.database,
        idempotency_key.channel_id,
        idempotency_key.key,
        idempotency_key.created_at - LIMITS.idempotency_lifetime,
    )
    return None if stored is None else _replay(app, stored, idempotency_key)


async def answer_taken_key(app: App, idempotency_key: IdempotencyKey | None) -> Answer:
    if idempotency_key is None:
        raise NotStarted("an attempt without an Idempotency-Key was refused by the store")
    answer = await find_earlier_answer(app, idempotency_key)
    if answer is None:
        raise Conflict(get_result("800.600.100"), "the Idempotency-Key is in use")
    return answer


def _replay(app: App, stored: IdempotencyRecord, idempotency_key: IdempotencyKey) -> Answer:
    if stored.fingerprint != idempotency_key.fingerprint:
        raise Conflict(get_result("800.110.100"), "the Idempotency-Key was used for another request")
    if stored.status is None or stored.body is None:
        raise Conflict(get_result("800.600.100"), "the first request with this Idempotency-Key is still running")
    answer = open_stored_answer(stored, app.keyring)
    if answer is None:
        report_tampering("payment", stored.payment_id or "none")
        raise TamperedRow("the answer kept for an Idempotency-Key is not the one that was given: run `tollgate verify`")
    return answer
