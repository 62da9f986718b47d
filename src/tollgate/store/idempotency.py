"""Idempotency keys and the answers stored for them. Answers are signed before they arrive here."""

from __future__ import annotations

from typing import Protocol

import msgspec
import sqlalchemy as sa

from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.store.database import Database
from tollgate.store.hot import INSERT_IDEMPOTENCY_KEY, TAKE_OVER
from tollgate.store.schema import idempotency_records, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId

NO_PAYMENT = PaymentId("")
"""In a claim of what makes no payment; such a claim is written together with its answer."""


class Answer(Protocol):
    """What an idempotency key replays."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


class IdempotencyRecord(msgspec.Struct, frozen=True):
    """Without a status the first request is still running."""

    channel_id: ChannelId
    key: str
    merchant_id: MerchantId
    fingerprint: bytes
    payment_id: PaymentId
    created_at: Instant
    status: int | None
    body: bytes | None


_COLUMNS = [idempotency_records.c[name] for name in IdempotencyRecord.__struct_fields__]
_find = Statement(
    sa.select(*_COLUMNS).where(
        idempotency_records.c.channel_id == sa.bindparam("channel_id"),
        idempotency_records.c.key == sa.bindparam("key"),
        idempotency_records.c.created_at >= sa.bindparam("cutoff"),
    ),
    is_quick=True,
)
_find_of_payment = Statement(
    sa.select(*_COLUMNS)
    .select_from(
        payments.join(
            idempotency_records,
            sa.and_(
                idempotency_records.c.channel_id == payments.c.channel_id,
                idempotency_records.c.key == payments.c.idempotency_key,
                idempotency_records.c.merchant_id == payments.c.merchant_id,
                idempotency_records.c.payment_id == payments.c.id,
            ),
        )
    )
    .where(payments.c.merchant_id == sa.bindparam("merchant_id"), payments.c.id == sa.bindparam("id"))
)
_oldest = (
    sa.select(idempotency_records.c.channel_id, idempotency_records.c.key, idempotency_records.c.merchant_id)
    .where(idempotency_records.c.created_at < sa.bindparam("before"))
    .order_by(idempotency_records.c.created_at)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_purge = Statement(
    sa.delete(idempotency_records)
    .where(
        sa.tuple_(idempotency_records.c.channel_id, idempotency_records.c.key, idempotency_records.c.merchant_id).in_(
            _oldest
        )
    )
    .returning(idempotency_records.c.key)
)


_idempotency_key = Statement(
    sa.text(
        f"{INSERT_IDEMPOTENCY_KEY} VALUES (:channel_id, :key, :merchant_id, :fingerprint, :payment_id, :at) {TAKE_OVER}"
    ),
    is_write=True,
)


_answer = Statement(
    sa.update(idempotency_records)
    .where(
        idempotency_records.c.channel_id == sa.bindparam("of_channel_id"),
        idempotency_records.c.key == sa.bindparam("of_key"),
        idempotency_records.c.merchant_id == sa.bindparam("of_merchant_id"),
    )
    .values(status=sa.bindparam("new_status"), body=sa.bindparam("new_body"))
)


def idempotency_writes(idempotency_key: IdempotencyKey, payment: Payment) -> list[Write]:
    """Takes the key for a payment; the unit is undone where it is taken already."""
    return [_take(idempotency_key, payment.merchant_id, payment.id)]


def answered_idempotency_writes(
    idempotency_key: IdempotencyKey, merchant_id: MerchantId, answer: Answer
) -> list[Write]:
    """For what is done in one unit and makes no payment: takes the key and keeps the answer with it."""
    params = {
        "of_channel_id": idempotency_key.channel_id,
        "of_key": idempotency_key.key,
        "of_merchant_id": merchant_id,
        "new_status": answer.status,
        "new_body": answer.body,
    }
    return [_take(idempotency_key, merchant_id, NO_PAYMENT), Write(_answer, params, rows=1)]


def _take(idempotency_key: IdempotencyKey, merchant_id: MerchantId, payment_id: PaymentId) -> Write:
    params = {
        "channel_id": idempotency_key.channel_id,
        "key": idempotency_key.key,
        "merchant_id": merchant_id,
        "fingerprint": idempotency_key.fingerprint,
        "payment_id": payment_id,
        "at": idempotency_key.created_at,
    }
    return Write(_idempotency_key, params, rows=1)


async def find_idempotency_record(
    db: Database, channel_id: ChannelId, key: str, cutoff: Instant
) -> IdempotencyRecord | None:
    """A claim made before the cutoff has outlived its lifetime and counts as absent."""
    row = await db.fetch_one(_find, {"channel_id": channel_id, "key": key, "cutoff": cutoff})
    return None if row is None else IdempotencyRecord(*row)


async def find_idempotency_record_of(db: Database, payment: Payment) -> IdempotencyRecord | None:
    """Finds the claim with which a payment was started; None if it had none, or another request has the key now."""
    row = await db.fetch_one(_find_of_payment, {"merchant_id": payment.merchant_id, "id": payment.id})
    return None if row is None else IdempotencyRecord(*row)


async def purge_idempotency_records(db: Database, before: Instant, limit: int) -> int:
    """Remove the oldest; how many went."""
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))
