"""Idempotency keys: a repeated request gets the stored answer, and one that runs at the same time is refused.

The web layer decides which requests take a key.
"""

from collections.abc import Awaitable, Callable
from hmac import compare_digest

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract.account_numbers import check_key
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields, is_never_stored
from tollgate.operations.app import App, Call
from tollgate.operations.signing import TamperedRow, report_tampering
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import IdempotencyKey
from tollgate.store import idempotency
from tollgate.store.statements import Write
from tollgate.values import Conflict, MerchantId
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import MAC_BYTES, fingerprint, make_mac


def keep_answer(
    app: App,
    idempotency_key: IdempotencyKey | idempotency.IdempotencyRecord | None,
    merchant_id: MerchantId,
    payment_id: str,
    answer: Answer,
) -> Answer | None:
    """Returns the answer as it is stored, with the MAC before the body; None without an idempotency key."""
    if idempotency_key is None:
        return None
    facts = _list_facts(idempotency_key, merchant_id, payment_id, answer.status, answer.body)
    return Answer(answer.status, make_mac(_PURPOSE, facts, app.keyring) + answer.body)


def keep_answer_writes(app: App, call: Call, answer: Answer) -> list[Write]:
    """Returns the steps that take the key and store the answer of a request that makes no payment."""
    merchant_id = call.channel.merchant_id
    kept = keep_answer(app, call.idempotency_key, merchant_id, idempotency.NO_PAYMENT, answer)
    if call.idempotency_key is None or kept is None:
        return []
    taking = idempotency.answered_idempotency_writes(call.idempotency_key, merchant_id, kept)
    return [*idempotency.pin_writes(call.idempotency_key, merchant_id), *taking]


async def write_answer(app: App, call: Call, writes: list[Write], answer: Answer, *, label: str) -> Answer:
    """Commits writes with the answer of a request that makes no payment. A key that is taken answers instead."""
    unit = [*writes, *keep_answer_writes(app, call, answer)]
    if not unit or await app.database.write(unit, label=label):
        return answer
    return await answer_taken_key(app, call.idempotency_key)


async def retry(app: App, call: Call, subject: str, attempt: Callable[[], Awaitable[Answer | None]]) -> Answer:
    """Repeats an attempt that returns None because another request wrote first, unless that was this very request."""
    for _ in range(LIMITS.reservation_tries_max):
        answer = await attempt() or await find_earlier_answer(app, call.idempotency_key)
        if answer is not None:
            return answer
    raise Conflict(get_result(codes.REQUEST_IN_PROGRESS), f"too many requests about this {subject} at once")


def open_stored_answer(stored: idempotency.IdempotencyRecord, keyring: Keyring) -> Answer | None:
    """Returns the stored answer without its MAC; None if the MAC does not fit."""
    if stored.status is None or stored.body is None:
        return None
    mac, body = stored.body[:MAC_BYTES], stored.body[MAC_BYTES:]
    facts = _list_facts(stored, stored.merchant_id, stored.payment_id, stored.status, body)
    return Answer(stored.status, body) if compare_digest(mac, make_mac(_PURPOSE, facts, keyring)) else None


_PURPOSE = "kept answer"


def _list_facts(
    idempotency_key: IdempotencyKey | idempotency.IdempotencyRecord,
    merchant_id: str,
    payment_id: str,
    status: int,
    body: bytes,
) -> tuple[object, ...]:
    key = (
        merchant_id,
        idempotency_key.channel_id,
        idempotency_key.key,
        idempotency_key.fingerprint.hex(),
        idempotency_key.created_at,
    )
    # In this encoding every byte is one character, so no two bodies are equal.
    return (*key, payment_id, status, body.decode("latin-1"))


class NotStarted(LookupError):
    """The store refused an attempt without an idempotency key; nothing may be sent without a started row."""


def make_idempotency_key(
    app: App, key: str, channel: Channel, method: str, path: str, fields: Fields, *, is_dispatched: bool = False
) -> IdempotencyKey:
    check_key(key, fields.values)
    parts = [method, path]
    for name, text in sorted(fields.values.items()):
        # What is never stored, not even as a fingerprint, cannot tell two requests apart.
        if not is_never_stored(name):
            parts += (name, text)
    print_of_request = fingerprint("idempotency", parts, app.keyring)
    return IdempotencyKey(
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        key=key,
        fingerprint=print_of_request,
        created_at=app.clock.now(),
        is_dispatched=is_dispatched,
    )


async def find_earlier_answer(app: App, idempotency_key: IdempotencyKey | None) -> Answer | None:
    """Returns None where the key is new; a key that is taken answers or is refused."""
    if idempotency_key is None:
        return None
    stored = await idempotency.find_idempotency_record(
        app.database,
        idempotency_key.merchant_id,
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
        raise Conflict(get_result(codes.REQUEST_IN_PROGRESS), "the Idempotency-Key is in use")
    return answer


def _replay(app: App, stored: idempotency.IdempotencyRecord, idempotency_key: IdempotencyKey) -> Answer:
    if stored.fingerprint != idempotency_key.fingerprint:
        raise Conflict(get_result(codes.DUPLICATE_REQUEST), "the Idempotency-Key was used for another request")
    if stored.status is None or stored.body is None:
        raise Conflict(
            get_result(codes.REQUEST_IN_PROGRESS), "the first request with this Idempotency-Key is still running"
        )
    answer = open_stored_answer(stored, app.keyring)
    if answer is None:
        report_tampering("payment", stored.payment_id or "none")
        raise TamperedRow(
            "the answer stored for an Idempotency-Key is not the one that was given: run `tollgate verify`"
        )
    return answer
