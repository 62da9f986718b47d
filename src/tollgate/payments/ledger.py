"""Ledger entries and the balances of a chain, with the changes that are made to them.

Which entries a payment posts is decided in `completion`.
"""

from __future__ import annotations

from enum import IntFlag, StrEnum

import msgspec

from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES, PAYMENT_TYPES, Direction
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId


class LedgerAccount(StrEnum):
    """The words are stored."""

    SHOPPER = "shopper"
    """The world outside: what shoppers paid and got back."""
    HELD = "held"
    """Authorised, and neither captured nor released yet."""
    EARNED = "earned"
    """The merchant's money at the acquirer."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """Sorts by time."""
    merchant_id: MerchantId
    payment_id: PaymentId
    channel_id: ChannelId
    currency: str
    source: LedgerAccount
    target: LedgerAccount
    amount: int
    posted_at: Instant


_ENTRIES_BY_DIRECTION = {
    Direction.HOLD: (LedgerAccount.SHOPPER, LedgerAccount.HELD),
    Direction.TAKE: (LedgerAccount.SHOPPER, LedgerAccount.EARNED),
    Direction.GIVE: (LedgerAccount.EARNED, LedgerAccount.SHOPPER),
}
FIRST_ENTRIES: dict[str, tuple[LedgerAccount, LedgerAccount]] = {
    code: _ENTRIES_BY_DIRECTION[PAYMENT_TYPES[code].direction] for code in INITIAL_PAYMENT_TYPES
}
"""Where the money of a payment that begins a chain goes."""


NO_BOUND = 2**62
"""Beyond any sum, count or instant, even where a whole chain raises one authorisation by the largest amount."""


_CLOSURE_BITS = 10


class Closure(IntFlag):
    """What may no longer follow once it is closed; the numbers are stored.

    Each door has ten bits of one whole number, in which those who closed it are counted: one that fails after all opens
    nothing that another has closed, and adding and subtracting is all that a balance needs.
    """

    NONE = 0
    CAPTURES = 1
    REFUNDS = 1 << _CLOSURE_BITS
    REBILLS = 1 << 2 * _CLOSURE_BITS
    INCREMENTS = 1 << 3 * _CLOSURE_BITS


def expand_closures(doors: int) -> int:
    """All bits in which it is counted who closed these doors."""
    return doors * ((1 << _CLOSURE_BITS) - 1)


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """In whole hundredths. A payment that nothing followed has all of it at zero."""

    added: int = 0
    """By incremental authorisations."""
    drawn: int = 0
    """Captured, released, refunded or reversed for good."""
    held: int = 0
    """Reserved by transactions whose fate is open."""
    disputed: int = 0
    """Charged back."""
    draws: int = 0
    """How many captures or rebills there are, those in flight included."""
    closed: int = 0
    """By how many transactions each door was closed, those in flight included."""
    chain_length: int = 1
    """On the first payment of a chain: how many transactions the chain has."""
    chain_net: int = 0
    """On the first payment of a chain: what its later transactions took, less what they gave or are about to give."""


UNTOUCHED = Balance()


class BalanceChange(msgspec.Struct, frozen=True, kw_only=True):
    """How one balance changes, and what must be true of it for that."""

    payment_id: PaymentId
    added: int = 0
    drawn: int = 0
    held: int = 0
    disputed: int = 0
    draws: int = 0
    closed: int = 0
    chain_length: int = 0
    chain_net: int = 0

    left_min: int = -NO_BOUND
    """What must be left to draw on after the change: at least, and at most."""
    left_max: int = NO_BOUND
    draws_max: int = NO_BOUND
    disputed_max: int = NO_BOUND
    """Asked before the change, because what is charged back already stands in the way of more."""
    barred_by: int = Closure.NONE
    """Doors that must be open before the change."""
    net_min: int = -NO_BOUND
    """What the chain's net must be at least after the change."""

    @property
    def is_idle(self) -> bool:
        return self == BalanceChange(payment_id=self.payment_id)


_DIFFERENCES = Balance.__struct_fields__


def subtract(after: BalanceChange, before: BalanceChange) -> BalanceChange:
    """What still has to change for a balance that was moved by `before` to be moved by `after`."""
    differences = {name: getattr(after, name) - getattr(before, name) for name in _DIFFERENCES}
    return BalanceChange(payment_id=after.payment_id, **differences)


def join_balance_changes(balance_changes: list[BalanceChange]) -> list[BalanceChange]:
    """One touch for each payment, in a stable order: the payment named comes before the first one of its chain."""
    joined: dict[str, BalanceChange] = {}
    for balance_change in balance_changes:
        known = joined.get(balance_change.payment_id)
        joined[balance_change.payment_id] = balance_change if known is None else _join(known, balance_change)
    return list(joined.values())


def _join(one: BalanceChange, other: BalanceChange) -> BalanceChange:
    """Of two bounds the narrower one counts; the few that two touches of one payment share are not both narrow."""
    return BalanceChange(
        payment_id=one.payment_id,
        **{name: getattr(one, name) + getattr(other, name) for name in _DIFFERENCES},
        left_min=max(one.left_min, other.left_min),
        left_max=min(one.left_max, other.left_max),
        draws_max=min(one.draws_max, other.draws_max),
        disputed_max=min(one.disputed_max, other.disputed_max),
        barred_by=one.barred_by | other.barred_by,
        net_min=max(one.net_min, other.net_min),
    )


def apply_balance_change(balance: Balance, balance_change: BalanceChange) -> Balance:
    """What the store does to a row, for those who count it again."""
    return Balance(**{name: getattr(balance, name) + getattr(balance_change, name) for name in _DIFFERENCES})
