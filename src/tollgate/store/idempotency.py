"""Idempotency keys and the answers stored for them. Answers are signed before they arrive here."""

from typing import Protocol

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.store.codec import Codec
from tollgate.store.database import Database
from tollgate.store.hot import TAKE_KEY
from tollgate.store.schema import idempotency_keys, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId

NO_PAYMENT = PaymentId("")
"""Stands in the record of what makes no payment; such a record is written together with its answer."""


class Answer(Protocol):
    """An answer that an idempotency key replays."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


class IdempotencyRecord(msgspec.Struct, frozen=True):
    """A key without a status belongs to a request that is still running."""

    channel_id: ChannelId
    key: str
    merchant_id: MerchantId
    fingerprint: bytes
    payment_id: PaymentId
    created_at: Instant
    status: int | None
    body: bytes | None


KEYS = Codec(idempotency_keys, IdempotencyRecord, key=("merchant_id", "channel_id", "key"))

_find = Statement(
    KEYS.select(
        idempotency_keys.c.merchant_id == sa.bindparam("merchant_id"),
        idempotency_keys.c.channel_id == sa.bindparam("channel_id"),
        idempotency_keys.c.key == sa.bindparam("key"),
        idempotency_keys.c.created_at >= sa.bindparam("cutoff"),
    ),
    is_quick=True,
)
_is_key_of_payment = sa.and_(
    idempotency_keys.c.channel_id == payments.c.channel_id,
    idempotency_keys.c.key == payments.c.idempotency_key,
    idempotency_keys.c.merchant_id == payments.c.merchant_id,
    idempotency_keys.c.payment_id == payments.c.id,
)
_find_of_payment = Statement(
    KEYS.select(
        payments.c.merchant_id == sa.bindparam("merchant_id"),
        payments.c.id == sa.bindparam("id"),
        payments.c.created_at == sa.bindparam("created_at"),
    ).select_from(payments.join(idempotency_keys, _is_key_of_payment))
)
_answer = KEYS.update(new=["status", "body"])

purge_idempotency_records = KEYS.purge(idempotency_keys.c.created_at)


def answered_idempotency_writes(
    idempotency_key: IdempotencyKey, merchant_id: MerchantId, answer: Answer
) -> list[Write]:
    """Takes the key and keeps the answer with it, for what is done in one unit and makes no payment."""
    key = (merchant_id, idempotency_key.channel_id, idempotency_key.key)
    kept = _answer.by_key(*key, new_status=answer.status, new_body=answer.body)
    return [_take(idempotency_key, merchant_id, NO_PAYMENT), *kept]


def replace_answer_writes(record: IdempotencyRecord, answer: Answer) -> list[Write]:
    """Stores another answer for a key that is taken already."""
    key = (record.merchant_id, record.channel_id, record.key)
    return _answer.by_key(*key, rows=None, new_status=answer.status, new_body=answer.body)


def pin_writes(idempotency_key: IdempotencyKey | None, merchant_id: MerchantId) -> list[Write]:
    """Pins the key of a dispatched request to its channel, in the commit that takes the key.

    The dispatch rows or the hour may have changed when the request comes again, and it must not run on two channels.
    The pin is a record under the merchant's id, whose fingerprint is the channel.
    """
    if idempotency_key is None or not idempotency_key.is_dispatched:
        return []
    pin = msgspec.structs.replace(
        idempotency_key, channel_id=ChannelId(merchant_id), fingerprint=idempotency_key.channel_id.encode()
    )
    return [_take(pin, merchant_id, NO_PAYMENT)]


async def find_pinned_channel(db: Database, merchant_id: MerchantId, key: str, cutoff: Instant) -> str | None:
    record = await find_idempotency_record(db, merchant_id, ChannelId(merchant_id), key, cutoff)
    return None if record is None else record.fingerprint.decode("latin-1")


def _take(idempotency_key: IdempotencyKey, merchant_id: MerchantId, payment_id: PaymentId) -> Write:
    params = {
        "channel_id": idempotency_key.channel_id,
        "idempotency_key": idempotency_key.key,
        "merchant_id": merchant_id,
        "fingerprint": idempotency_key.fingerprint,
        "id": payment_id,
        "key_created_at": idempotency_key.created_at,
    }
    return Write(TAKE_KEY.statement, params, rows=1)


async def find_idempotency_record(
    db: Database, merchant_id: MerchantId, channel_id: ChannelId, key: str, cutoff: Instant
) -> IdempotencyRecord | None:
    """Finds the record of a key; one made before the cutoff has outlived its lifetime and counts as absent."""
    params = {"merchant_id": merchant_id, "channel_id": channel_id, "key": key, "cutoff": cutoff}
    return await KEYS.fetch_one(db, _find, params)


async def find_idempotency_record_of(db: Database, payment: Payment) -> IdempotencyRecord | None:
    """Finds the key with which a payment was started; None if it had none, or another request has the key now."""
    params = {"merchant_id": payment.merchant_id, "id": payment.id, "created_at": payment.created_at}
    return await KEYS.fetch_one(db, _find_of_payment, params)
