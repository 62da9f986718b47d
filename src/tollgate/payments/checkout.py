"""A checkout: what a merchant has prepared for a shopper to pay, and how far the shopper has come with it.

What was prepared is sealed and travels as bytes; nothing is read, written or sent here.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from tollgate.values import ChannelId, CheckoutId, Instant, MerchantId

REMIND_TOPIC = "remind"
"""The jobs that tell a shop of a submission whose end it has not asked for."""


class CheckoutKind(StrEnum):
    """What comes of it; also the last word of the address by which it is submitted and read."""

    PAYMENT = "payment"
    REGISTRATION = "registration"


class CheckoutState(IntEnum):
    """How far it has come; the numbers are stored, so a number is never used again for something else."""

    OPEN = 0
    LOCKED = 1
    """One attempt is about to move money, or may have: no other may begin."""
    DONE = 2
    """Paid, or stored, by the attempt it names. Nothing more can be paid."""
    SPENT = 3
    """Its merchant was told, so it is no more."""
    CANCELLED = 4
    """Its merchant withdrew it before anybody had paid. What is approved for it later is given back."""


class Reminder(StrEnum):
    """What became of the call that tells a shop to ask."""

    SENT = "sent"
    UNNEEDED = "unneeded"
    MISSED = "missed"
    """Nobody was there in the minute in which it was due."""
    FAILED = "failed"
    """The shop could not be reached."""
    IMPOSSIBLE = "impossible"
    """The address is not one that can be called, such as an app's."""


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    id: CheckoutId
    merchant_id: MerchantId
    channel_id: ChannelId
    kind: CheckoutKind
    state: CheckoutState = CheckoutState.OPEN
    created_at: Instant
    expires_at: Instant
    revision: int = 0
    """Counts the merchant's changes: what was read before one is not written after it."""
    attempts: int = 0
    subject_id: str | None = None
    """The attempt that counts: the one that did it, or else the last."""
    submitted_at: Instant | None = None
    """When the shopper last pressed the button."""
    read_at: Instant | None = None
    """When the merchant was last told."""
    window_ends_at: Instant = 0
    window_reads: int = 0
    """How often it was asked for in the present window."""
    return_url: str | None = None
    """Where the shopper goes home to; known with the first submission at the latest."""
    reminder: str = ""
    """Empty until it is decided."""
    reminded_at: Instant | None = None
    script: str = ""
    """The version of the script that was promised for it."""
    sealed_fields: bytes | None
    """What the merchant prepared; wiped when nobody needs it any more."""

    def is_over(self, now: Instant) -> bool:
        return self.state in (CheckoutState.SPENT, CheckoutState.CANCELLED) or self.expires_at <= now

    @property
    def is_paid(self) -> bool:
        """Or, of one that stores an account, whether it did."""
        return self.state in (CheckoutState.DONE, CheckoutState.SPENT)

    @property
    def is_unread(self) -> bool:
        """Whether something was submitted that its merchant has not asked for since."""
        return self.submitted_at is not None and (self.read_at is None or self.read_at < self.submitted_at)


class CheckoutEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What the end of an attempt does to the checkout that it was made for."""

    id: CheckoutId
    merchant_id: MerchantId
    subject_id: str
    is_done: bool
    """Or else the checkout is open again."""
    is_sole: bool
    """Whether it must not come to stand beside another that did it already."""
    seen_revision: int | None = None
    """Of the checkout that it was weighed against; None where it holds for any."""


class Script(msgspec.Struct, frozen=True):
    """The payment form's script, as it was promised to a checkout."""

    version: str
    integrity: str
    body: bytes
