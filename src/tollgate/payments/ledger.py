"""Ledger entries and the balances of a chain, with the changes that are made to them.

Which entries a payment posts is decided in `completion`.
"""

from collections.abc import Callable
from enum import IntFlag, StrEnum
from operator import add, attrgetter, sub

import msgspec

from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES, PAYMENT_TYPES, Direction
from tollgate.values import ChannelId, Instant, MerchantId, PaymentId


class LedgerAccount(StrEnum):
    """The accounts of the ledger. The values are stored."""

    SHOPPER = "shopper"
    """The outside world: shoppers pay from it and are paid back to it."""
    HELD = "held"
    """Money that was authorized and is neither captured nor released."""
    EARNED = "earned"
    """The merchant's money at the acquirer."""
    SELLER = "seller"
    """The part of the earnings that belongs to a seller of the marketplace; each seller has an account of its own."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """Ids sort by time."""
    merchant_id: MerchantId
    payment_id: PaymentId
    channel_id: ChannelId
    currency: str
    source: LedgerAccount
    target: LedgerAccount
    amount: int
    posted_at: Instant
    seller_id: str | None = None
    """The owner of the account `seller`; None if the entry does not touch one."""


_ENTRIES_BY_DIRECTION = {
    Direction.HOLD: (LedgerAccount.SHOPPER, LedgerAccount.HELD),
    Direction.TAKE: (LedgerAccount.SHOPPER, LedgerAccount.EARNED),
    Direction.GIVE: (LedgerAccount.EARNED, LedgerAccount.SHOPPER),
}
FIRST_ENTRIES: dict[str, tuple[LedgerAccount, LedgerAccount]] = {
    code: _ENTRIES_BY_DIRECTION[PAYMENT_TYPES[code].direction] for code in INITIAL_PAYMENT_TYPES
}
"""The accounts between which a payment that begins a chain moves money."""


NO_BOUND = 2**62
"""A number beyond any sum, count or instant, even if a whole chain raises one authorization by the largest amount."""


_CLOSURE_BITS = 10


class Closure(IntFlag):
    """The follow-ups for which a payment can be closed. The numbers are stored.

    A balance packs four counters of ten bits into one number, one for each: a follow-up that fails later takes back
    only its own closure, and a balance only has to be added to.
    """

    NONE = 0
    CAPTURES = 1
    REFUNDS = 1 << _CLOSURE_BITS
    REBILLS = 1 << 2 * _CLOSURE_BITS
    INCREMENTS = 1 << 3 * _CLOSURE_BITS


def expand_closures(closures: int) -> int:
    """Returns all bits that count who made these closures."""
    return closures * ((1 << _CLOSURE_BITS) - 1)


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """The balance of a payment in whole hundredths; all are zero until something follows."""

    added: int = 0
    """The sum of incremental authorizations."""
    drawn: int = 0
    """The sum that was captured, released, refunded or reversed."""
    reserved: int = 0
    """The sum that open follow-ups have reserved."""
    disputed: int = 0
    """The sum that was charged back."""
    counted: int = 0
    """The number of captures or rebills, open ones included."""
    closed: int = 0
    """The number of follow-ups that made each closure, open ones included."""
    chain_length: int = 1
    """The number of payments in the chain; kept on its first payment."""
    chain_net: int = 0
    """The sum that follow-ups took, less what they gave or will give; kept on the first payment of the chain."""


UNTOUCHED = Balance()


class BalanceChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one balance, and the conditions under which it may be made."""

    payment_id: PaymentId
    added: int = 0
    drawn: int = 0
    reserved: int = 0
    disputed: int = 0
    counted: int = 0
    closed: int = 0
    chain_length: int = 0
    chain_net: int = 0

    left_min: int = -NO_BOUND
    """The least that must be left after the change; `left_max` is the most."""
    left_max: int = NO_BOUND
    counted_max: int = NO_BOUND
    disputed_max: int = NO_BOUND
    """The condition is checked before the change: a sum that is charged back already forbids another."""
    barred_by: int = Closure.NONE
    """The closures that must not have been made before the change."""
    net_min: int = -NO_BOUND
    """The least that `chain_net` must be after the change."""
    length_max: int = NO_BOUND
    """The most payments that the chain may have after the change: none may have joined it since it was read."""

    @property
    def is_idle(self) -> bool:
        return self == BalanceChange(payment_id=self.payment_id)


_DIFFERENCES = Balance.__struct_fields__
_list_differences = attrgetter(*_DIFFERENCES)


def _combine(
    by: Callable[[int, int], int], one: Balance | BalanceChange, other: Balance | BalanceChange
) -> dict[str, int]:
    return dict(zip(_DIFFERENCES, map(by, _list_differences(one), _list_differences(other)), strict=True))


def subtract(after: BalanceChange, before: BalanceChange) -> BalanceChange:
    """Returns the change that turns the effect of `before` into the effect of `after`."""
    return BalanceChange(payment_id=after.payment_id, **_combine(sub, after, before))


def join_balance_changes(balance_changes: list[BalanceChange]) -> list[BalanceChange]:
    """Joins changes so that each payment has one, in a stable order: the payment named before the first one."""
    joined: dict[str, BalanceChange] = {}
    for balance_change in balance_changes:
        known = joined.get(balance_change.payment_id)
        joined[balance_change.payment_id] = balance_change if known is None else _join(known, balance_change)
    return list(joined.values())


def _join(one: BalanceChange, other: BalanceChange) -> BalanceChange:
    """Adds two changes of one payment; the narrower bound counts."""
    return BalanceChange(
        payment_id=one.payment_id,
        **_combine(add, one, other),
        left_min=max(one.left_min, other.left_min),
        left_max=min(one.left_max, other.left_max),
        counted_max=min(one.counted_max, other.counted_max),
        disputed_max=min(one.disputed_max, other.disputed_max),
        barred_by=one.barred_by | other.barred_by,
        net_min=max(one.net_min, other.net_min),
        length_max=min(one.length_max, other.length_max),
    )


def apply_balance_change(balance: Balance, balance_change: BalanceChange) -> Balance:
    """Computes a balance as the store does, for the audit."""
    return Balance(**_combine(add, balance, balance_change))
