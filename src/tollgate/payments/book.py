"""The double-entry book: which account gives and which receives for every transaction that succeeded. Pure.

A line takes an amount from one account and gives it to another, so it cannot be out of balance; an account's balance is
what it received less what it gave. Accounts exist per merchant, channel and currency.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

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


FIRST_ENTRIES: dict[str, tuple[LedgerAccount, LedgerAccount]] = {
    "PA": (LedgerAccount.SHOPPER, LedgerAccount.HELD),
    "DB": (LedgerAccount.SHOPPER, LedgerAccount.EARNED),
    "PA.CP": (LedgerAccount.SHOPPER, LedgerAccount.EARNED),
    "CD": (LedgerAccount.EARNED, LedgerAccount.SHOPPER),
}
"""Where the money of a payment that begins a chain goes."""
