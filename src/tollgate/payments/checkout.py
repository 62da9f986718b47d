"""Checkouts and payment links, and the states they pass through. They are stored elsewhere."""

from enum import IntEnum, StrEnum

import msgspec

from tollgate.values import ChannelId, CheckoutId, Instant, LinkId, MerchantId

REMIND_TOPIC = "remind"
"""The topic of jobs that remind a shop to ask for the result of a submission."""


class CheckoutKind(StrEnum):
    """The result of a checkout; also the last part of the path at which it is submitted and read."""

    PAYMENT = "payment"
    REGISTRATION = "registration"


class CheckoutState(IntEnum):
    """The state of a checkout. The numbers are stored, so a number is never reused."""

    OPEN = 0
    LOCKED = 1
    """One attempt is about to move money, or may have: no other may begin."""
    DONE = 2
    """The attempt that it names paid it or stored the account; nothing more can be paid."""
    SPENT = 3
    """The merchant has read the success, so the checkout is over."""
    CANCELLED = 4
    """The merchant cancelled it before it was paid; an approval that comes later is given back."""


class Reminder(StrEnum):
    """The result of the call that reminds a shop to ask."""

    SENT = "sent"
    UNNEEDED = "unneeded"
    MISSED = "missed"
    """No worker ran in the minute in which it was due."""
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
    """The number of changes that the merchant made; a write that read an older revision is refused."""
    attempts: int = 0
    subject_id: str | None = None
    """The attempt that succeeded, or else the last one."""
    submitted_at: Instant | None = None
    """The time of the shopper's last submission."""
    read_at: Instant | None = None
    """The time at which the merchant last read the result."""
    window_ends_at: Instant = 0
    window_reads: int = 0
    """The number of reads in the present window."""
    return_url: str | None = None
    """The address to which the shopper returns; known with the first submission at the latest."""
    reminder: str = ""
    """Empty until it is decided."""
    reminded_at: Instant | None = None
    script: str = ""
    """The version of the script that was promised for it."""
    sealed_fields: bytes | None
    """The fields that the merchant prepared; wiped when nobody needs them any more."""

    def is_over(self, now: Instant) -> bool:
        return self.state in (CheckoutState.SPENT, CheckoutState.CANCELLED) or self.expires_at <= now

    def must_be_replaced(self, now: Instant, *, is_awaited: bool) -> bool:
        """Tells whether a link needs another checkout, because nobody could pay this one and nobody is paying it.

        One whose attempts are used up stays until it expires, so that nobody can test many stolen cards with a link.
        """
        is_over = self.expires_at <= now and not is_awaited
        return self.state is CheckoutState.CANCELLED or (self.state is CheckoutState.OPEN and is_over)

    @property
    def is_paid(self) -> bool:
        """Tells whether it was paid, or the account registered."""
        return self.state in (CheckoutState.DONE, CheckoutState.SPENT)

    @property
    def is_unread(self) -> bool:
        """Tells whether something was submitted that its merchant has not asked for since."""
        return self.submitted_at is not None and (self.read_at is None or self.read_at < self.submitted_at)


class CheckoutEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The change to a checkout when its attempt is completed."""

    id: CheckoutId
    merchant_id: MerchantId
    subject_id: str
    is_done: bool
    """The attempt succeeded; otherwise the checkout is open again."""
    is_sole: bool
    """Whether no other attempt may succeed beside it."""
    seen_revision: int | None = None
    """The revision of the checkout for which it holds; None means any."""


class Script(msgspec.Struct, frozen=True):
    """The payment form's script, as it was promised to a checkout."""

    version: str
    integrity: str
    body: bytes


class LinkState(IntEnum):
    """Tells whether the merchant ended the link. The numbers are stored, so none is ever used for something else."""

    OPEN = 0
    ENDED = 1


class LinkStatus(IntEnum):
    """The status of a link in answers to merchants."""

    OPEN = 1
    PAID = 2
    EXPIRED = 3
    ENDED = 4


class PaymentLink(msgspec.Struct, frozen=True, kw_only=True):
    id: LinkId
    merchant_id: MerchantId
    channel_id: ChannelId
    state: LinkState = LinkState.OPEN
    created_at: Instant
    expires_at: Instant
    checkout_id: CheckoutId | None = None
    """The only checkout that can be paid; None until a shopper opens the link."""
    sealed_fields: bytes | None
    """The merchant prepared these; they are wiped when nobody needs them any more."""
    mac: bytes = b""
    """The signature; the sealed fields are protected by themselves."""

    @property
    def facts(self) -> tuple[object, ...]:
        """Returns what the signature covers: naming another checkout could make the link look paid."""
        times = self.created_at, self.expires_at
        return self.merchant_id, self.id, self.channel_id, int(self.state), *times, self.checkout_id

    def get_status(self, checkout: Checkout | None, now: Instant) -> LinkStatus:
        """Returns the status for merchants; a payment counts, however late it was approved."""
        if checkout is not None and checkout.is_paid:
            return LinkStatus.PAID
        if self.state is LinkState.ENDED:
            return LinkStatus.ENDED
        return LinkStatus.EXPIRED if self.expires_at <= now else LinkStatus.OPEN
