"""The life of one transaction: started, settled, read again.

Pure values; the store writes them, the contract renders them.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.payments.account import CardFace
from tollgate.payments.moves import MOVES, NATURES, Errand, State
from tollgate.payments.order import TestMode
from tollgate.payments.verdict import Verdict
from tollgate.values import ChannelId, Instant, MerchantId, Money, PaymentId


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction row. While `state` is STARTED the members of the settlement are empty."""

    id: PaymentId
    merchant_id: MerchantId
    channel_id: ChannelId
    kind: str
    state: State
    money: Money
    brand: str
    method: str
    descriptor: str
    short_id: str
    ndc: str
    created_at: Instant
    deadline_at: Instant
    """Wall time after which nobody is still working on it and reconcile may settle it."""
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    referenced_id: PaymentId | None = None
    card: CardFace | None = None
    echo: Mapping[str, str] = {}
    result_code: str = ""
    details: Mapping[str, str] = {}
    settled_at: Instant | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A promise that an idempotency key belongs to one request."""

    channel_id: ChannelId
    key: str
    fingerprint: bytes
    created_at: Instant


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """What the second write makes durable, in one commit."""

    payment: Payment
    errand: Errand | None


def settle(started: Payment, verdict: Verdict, now: Instant) -> Settlement:
    """Apply the table; the only way an attempt ends."""
    move = MOVES[NATURES[started.kind], verdict.outcome]
    settled = msgspec.structs.replace(
        started,
        state=move.state,
        result_code=move.code or verdict.code,
        details=verdict.details,
        settled_at=now,
    )
    return Settlement(payment=settled, errand=move.errand)
