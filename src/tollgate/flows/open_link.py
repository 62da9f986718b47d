"""The shopper's side of a payment link: see how it stands, and get the one checkout that can be paid.

Paying is told in `submit`, as for any other checkout.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS
from tollgate.contract import LinkFace, fill_link_checkout, make_link_url, read_link_face
from tollgate.flows.check_out import find_promised_script
from tollgate.flows.send_link import find_link_checkout, find_link_payment
from tollgate.payments import (
    Channel,
    Checkout,
    CheckoutKind,
    CheckoutState,
    LinkStatus,
    Payment,
    PaymentLink,
    must_be_replaced,
    tell_link_status,
)
from tollgate.steps import House, find_any_link, open_link_fields, open_prepared, seal_prepared, sign_link
from tollgate.store import give_checkout
from tollgate.values import make_checkout_id


class OpenedLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link as its shopper sees it."""

    link: PaymentLink
    status: LinkStatus
    face: LinkFace | None
    """None where what was prepared is wiped."""
    checkout: Checkout | None = None
    payment: Payment | None = None
    integrity: str = ""
    """The hash of the script that shows the form for this checkout."""

    @property
    def can_be_paid(self) -> bool:
        return self.status is LinkStatus.OPEN and self.checkout is not None and not self.is_being_paid

    @property
    def is_being_paid(self) -> bool:
        return self.checkout is not None and self.checkout.state is CheckoutState.CLAIMED


async def open_link(house: House, link_id: str, *, makes_checkout: bool = True) -> OpenedLink | None:
    """Returns None for a link that does not exist. Of several shoppers at once all get the same checkout."""
    for _ in range(LIMITS.reservation_tries_max):
        link = await find_any_link(house, link_id)
        channel = None if link is None else house.directory.find_channel(link.channel_id)
        if link is None or channel is None:
            return None
        checkout = await find_link_checkout(house, link)
        status = LinkStatus.ENDED if channel.is_closed else tell_link_status(link, checkout, house.clock.now())
        if status is not LinkStatus.OPEN or not makes_checkout or not _needs_checkout(house, checkout):
            return await _describe(house, channel, link, checkout, status)
        await _make_checkout(house, channel, link)
    raise LookupError("a payment link changed whenever it was looked at")


def _needs_checkout(house: House, checkout: Checkout | None) -> bool:
    return checkout is None or must_be_replaced(checkout, LIMITS.checkout_attempts_max, house.clock.now())


async def _make_checkout(house: House, channel: Channel, link: PaymentLink) -> None:
    """Where another was faster, nothing is written: whoever looks again finds what the other made."""
    now, checkout_id = house.clock.now(), make_checkout_id(link.merchant_id, house.chance)
    prepared = open_link_fields(house, link)
    if prepared is None:
        raise LookupError("what was prepared for a payment link was wiped before its end")
    url = make_link_url(link.id, house.base_url)
    checkout = Checkout(
        id=checkout_id,
        merchant_id=link.merchant_id,
        channel_id=channel.id,
        kind=CheckoutKind.PAYMENT,
        created_at=now,
        # Nobody pays after the link's own end.
        expires_at=min(now + LIMITS.checkout_lifetime, link.expires_at),
        return_url=url,
        script=house.script.version,
        sealed_fields=seal_prepared(house, link.merchant_id, checkout_id, fill_link_checkout(prepared, url)),
    )
    changed = sign_link(house, msgspec.structs.replace(link, checkout_id=checkout_id))
    await give_checkout(house.database, link, changed, checkout, now)


async def _describe(
    house: House, channel: Channel, link: PaymentLink, checkout: Checkout | None, status: LinkStatus
) -> OpenedLink:
    prepared = open_link_fields(house, link)
    if prepared is not None and checkout is not None and checkout.sealed_fields is not None:
        # Its merchant may have changed the checkout, and the shopper has to see what the form takes.
        prepared |= {name: text for name, text in open_prepared(house, checkout).items() if name in _MONEY}
    promised = await find_promised_script(house, checkout.id) if checkout else None
    return OpenedLink(
        link=link,
        status=status,
        face=None if prepared is None else read_link_face(prepared, channel.name),
        checkout=checkout,
        payment=await find_link_payment(house, checkout),
        integrity=(promised or house.script).integrity,
    )


_MONEY = ("amount", "currency")
