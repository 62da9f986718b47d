"""A payment link: an address that a merchant sends to a shopper, behind which one checkout at a time can be paid.

What it pays for is sealed and travels as bytes; nothing is read, written or sent here.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from tollgate.payments.checkout import Checkout, CheckoutState
from tollgate.values import ChannelId, CheckoutId, Instant, LinkId, MerchantId


class LinkState(IntEnum):
    """Tells whether the merchant ended the link. The numbers are stored, so none is ever used for something else."""

    OPEN = 0
    ENDED = 1


class LinkStatus(IntEnum):
    """Numbers that tell merchants how a link stands."""

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
    """Seals what is written here, but for what is sealed by itself."""

    @property
    def facts(self) -> tuple[object, ...]:
        """Returns the columns that the seal covers: naming another checkout could make the link look paid."""
        times = self.created_at, self.expires_at
        return self.merchant_id, self.id, self.channel_id, int(self.state), *times, self.checkout_id


def tell_link_status(link: PaymentLink, checkout: Checkout | None, now: Instant) -> LinkStatus:
    """Tells how a link stands: a payment counts, however late it was approved."""
    if checkout is not None and checkout.is_paid:
        return LinkStatus.PAID
    if link.state is LinkState.ENDED:
        return LinkStatus.ENDED
    return LinkStatus.EXPIRED if link.expires_at <= now else LinkStatus.OPEN


def must_be_replaced(checkout: Checkout, now: Instant, *, is_awaited: bool) -> bool:
    """Tells whether a link needs another checkout, because nobody could pay this one and nobody is paying it.

    One whose attempts are used up is kept until its time is over: whoever tries stolen cards gets no more of them.
    """
    is_over = checkout.expires_at <= now and not is_awaited
    return checkout.state is CheckoutState.CANCELLED or (checkout.state is CheckoutState.OPEN and is_over)
