"""One transaction as it is stored, and what it has left. Pure values; how it ends is told in `settlement`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.payments.account import CardSummary
from tollgate.payments.balance import UNTOUCHED, Balance, Closure
from tollgate.payments.following import TAKEN, Action
from tollgate.payments.moves import State
from tollgate.payments.order import TestMode
from tollgate.values import ChannelId, Instant, MerchantId, Money, PaymentId


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction row. While `state` is STARTED the members of the settlement are empty.

    A result code that stands there all the same was known before the row was written: nothing will be sent.
    """

    id: PaymentId
    merchant_id: MerchantId
    channel_id: ChannelId
    payment_type: str
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
    lifecycle_id: str | None = None
    """Ties an authorization to what follows it; the merchant's own, and the same in the whole chain."""
    referenced_id: PaymentId | None = None
    card: CardSummary | None = None
    echo: Mapping[str, str] = {}
    result_code: str = ""
    details: Mapping[str, str] = {}
    completed_at: Instant | None = None
    action: Action | None = None
    """What it does to the payment it refers to: nothing, where it begins a chain or was refused at once."""
    chain_id: PaymentId | None = None
    """The first payment of its chain; None where that is itself."""
    position: int = 1
    """Its number within the chain, without gaps."""
    releases: int = 0
    """What it gives back of a hold beside its own amount."""
    closes: int = Closure.NONE
    """The doors of the payment it refers to that it closes."""
    balance: Balance = UNTOUCHED
    mac: bytes | None = None
    """Seals what is written here; nothing is sealed before its first result."""

    @property
    def first_id(self) -> PaymentId:
        return self.chain_id or self.id

    @property
    def total(self) -> int:
        return self.money.hundredths + self.balance.added

    @property
    def left(self) -> int:
        """What neither settled nor open transactions have taken."""
        return self.total - self.balance.drawn - self.balance.held

    @property
    def taken(self) -> int:
        """What it took from the shopper by itself."""
        return self.money.hundredths if self.payment_type in TAKEN and self.state is State.APPROVED else 0

    @property
    def is_decided(self) -> bool:
        """Whether its result is known and only has to be written."""
        return self.state is State.STARTED and self.result_code != ""


class IdempotencyKey(msgspec.Struct, frozen=True, kw_only=True):
    """A promise that an idempotency key belongs to one request."""

    channel_id: ChannelId
    key: str
    fingerprint: bytes
    created_at: Instant
