"""Idempotency keys and the answers they replay. The first payment of a chain claims its key in its hot write."""

from __future__ import annotations

from typing import Protocol

import msgspec
import sqlalchemy as sa

from tollgate.payments import Claim, Payment
from tollgate.store.database import Database
from tollgate.store.hot import INSERT_CLAIM, TAKE_OVER
from tollgate.store.schema import claims, payments
from tollgate.store.statements import Statement, Step
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId

NO_PAYMENT = PaymentId("")
"""In a claim of what makes no payment; such a claim is written together with its answer."""


class Answer(Protocol):
    """What an idempotency key replays."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


class StoredClaim(msgspec.Struct, frozen=True):
    """Without a status the first request is still running."""

    channel_id: ChannelId
    key: str
    merchant_id: MerchantId
    fingerprint: bytes
    payment_id: PaymentId
    created_at: Instant
    status: int | None
    body: bytes | None


_COLUMNS = [claims.c[name] for name in StoredClaim.__struct_fields__]
_find = Statement(
    sa.select(*_COLUMNS).where(
        claims.c.channel_id == sa.bindparam("channel_id"),
        claims.c.key == sa.bindparam("key"),
        claims.c.created_at >= sa.bindparam("cutoff"),
    ),
    is_quick=True,
)
_find_of_payment = Statement(
    sa.select(*_COLUMNS)
    .select_from(
        payments.join(
            claims,
            sa.and_(
                claims.c.channel_id == payments.c.channel_id,
                claims.c.key == payments.c.idempotency_key,
                claims.c.merchant_id == payments.c.merchant_id,
                claims.c.payment_id == payments.c.id,
            ),
        )
    )
    .where(payments.c.merchant_id == sa.bindparam("merchant_id"), payments.c.id == sa.bindparam("id"))
)
_oldest = (
    sa.select(claims.c.channel_id, claims.c.key, claims.c.merchant_id)
    .where(claims.c.created_at < sa.bindparam("before"))
    .order_by(claims.c.created_at)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_purge = Statement(
    sa.delete(claims)
    .where(sa.tuple_(claims.c.channel_id, claims.c.key, claims.c.merchant_id).in_(_oldest))
    .returning(claims.c.key)
)


_claim = Statement(
    sa.text(f"{INSERT_CLAIM} VALUES (:channel_id, :key, :merchant_id, :fingerprint, :payment_id, :at) {TAKE_OVER}"),
    is_write=True,
)


_answer = Statement(
    sa.update(claims)
    .where(
        claims.c.channel_id == sa.bindparam("of_channel_id"),
        claims.c.key == sa.bindparam("of_key"),
        claims.c.merchant_id == sa.bindparam("of_merchant_id"),
    )
    .values(status=sa.bindparam("new_status"), body=sa.bindparam("new_body"))
)


def steps_claim(claim: Claim, payment: Payment) -> list[Step]:
    """Takes the key for a payment; the unit is undone where it is taken already."""
    return [_take(claim, payment.merchant_id, payment.id)]


def steps_claim_answered(claim: Claim, merchant_id: MerchantId, answer: Answer) -> list[Step]:
    """For what is done in one unit and makes no payment: takes the key and keeps the answer with it."""
    params = {
        "of_channel_id": claim.channel_id,
        "of_key": claim.key,
        "of_merchant_id": merchant_id,
        "new_status": answer.status,
        "new_body": answer.body,
    }
    return [_take(claim, merchant_id, NO_PAYMENT), Step(_answer, params, rows=1)]


def _take(claim: Claim, merchant_id: MerchantId, payment_id: PaymentId) -> Step:
    params = {
        "channel_id": claim.channel_id,
        "key": claim.key,
        "merchant_id": merchant_id,
        "fingerprint": claim.fingerprint,
        "payment_id": payment_id,
        "at": claim.created_at,
    }
    return Step(_claim, params, rows=1)


async def find_claim(db: Database, channel_id: ChannelId, key: str, cutoff: Instant) -> StoredClaim | None:
    """A claim made before the cutoff has outlived its lifetime and counts as absent."""
    row = await db.fetch_one(_find, {"channel_id": channel_id, "key": key, "cutoff": cutoff})
    return None if row is None else StoredClaim(*row)


async def find_claim_of(db: Database, payment: Payment) -> StoredClaim | None:
    """Finds the claim with which a payment was started; None if it had none, or another request has the key now."""
    row = await db.fetch_one(_find_of_payment, {"merchant_id": payment.merchant_id, "id": payment.id})
    return None if row is None else StoredClaim(*row)


async def purge_claims(db: Database, before: Instant, limit: int) -> int:
    """Remove the oldest; how many went."""
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))
