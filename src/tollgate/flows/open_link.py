"""The shopper's side of a payment link: see how it stands, and get the one checkout that can be paid.

Paying is told in `submit`, as for any other checkout.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from tollgate.catalog import LIMITS
from tollgate.contract import LinkPage, fill_link_checkout, find_handover, make_link_url, read_link_page
from tollgate.flows.abandon import abandon_attempt
from tollgate.flows.check_out import find_promised_script
from tollgate.flows.send_link import find_link_checkout, find_link_payment
from tollgate.operations import App, find_any_link, open_link_fields, seal_prepared, sign_link
from tollgate.payments import (
    Channel,
    Checkout,
    CheckoutKind,
    CheckoutState,
    LinkStatus,
    Payment,
    PaymentLink,
    Stage,
    State,
    must_be_replaced,
    tell_link_status,
)
from tollgate.store import find_authentication, give_checkout
from tollgate.values import Instant, Refusal, make_checkout_id


class OpenedLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link as its shopper sees it."""

    link: PaymentLink
    status: LinkStatus
    page: LinkPage | None
    """It is None once the prepared fields are wiped."""
    checkout: Checkout | None = None
    payment: Payment | None = None
    integrity: str = ""
    """The hash of the script that shows the form for this checkout."""
    is_awaited: bool = False
    """Whether a bank or a provider may still approve the last attempt."""

    @property
    def is_being_paid(self) -> bool:
        return self.checkout is not None and self.checkout.state is CheckoutState.LOCKED

    @property
    def may_be_given_up(self) -> bool:
        """Only a provider can be asked to forget an attempt; a bank that has it decides."""
        return self.is_awaited and self.payment is not None and find_handover(self.payment.details) is not None

    @property
    def is_used_up(self) -> bool:
        return self.checkout is not None and self.checkout.attempts >= LIMITS.checkout_attempts_max

    @property
    def retries_at(self) -> Instant | None:
        """The next checkout can be made from then on; it is None where the link itself ends first."""
        if self.checkout is None or self.checkout.expires_at >= self.link.expires_at:
            return None
        return self.checkout.expires_at


async def open_link(app: App, link_id: str, *, makes_checkout: bool = True) -> OpenedLink | None:
    """Returns None for a link that does not exist. Of several shoppers at once all get the same checkout."""
    for _ in range(LIMITS.reservation_tries_max):
        link = await find_any_link(app, link_id)
        channel = None if link is None else app.merchants.find_channel(link.channel_id)
        if link is None or channel is None:
            return None
        opened = await _describe(app, channel, link)
        if opened.status is not LinkStatus.OPEN or not makes_checkout or not _needs_checkout(app, opened):
            return opened
        await _make_checkout(app, channel, link)
    raise LookupError("a payment link changed whenever it was looked at")


async def leave_link_attempt(app: App, link_id: str, attempt_id: str) -> PaymentLink | None:
    """Gives up an attempt that waits at a provider, so that its shopper can pay another way.

    What cannot be given up stays as it is, and whoever looks at the link again is told so.
    """
    link = await find_any_link(app, link_id)
    if link is not None and link.checkout_id is not None:
        with suppress(Refusal):
            await abandon_attempt(app, link.checkout_id, attempt_id)
    return link


def _needs_checkout(app: App, opened: OpenedLink) -> bool:
    checkout = opened.checkout
    return checkout is None or must_be_replaced(checkout, app.clock.now(), is_awaited=opened.is_awaited)


async def _is_awaited(app: App, checkout: Checkout | None, payment: Payment | None) -> bool:
    """Tells whether the attempt may still take money.

    One whose shopper is being asked by the bank takes none before the answer, and ends by itself within minutes. What
    is approved for a withdrawn checkout is given back.
    """
    if checkout is None or checkout.state is not CheckoutState.OPEN:
        return False
    if payment is None or payment.state is not State.WAITING:
        return False
    asked = await find_authentication(app.database, payment.merchant_id, payment.id)
    return asked is None or asked.stage is Stage.CLOSED


async def _make_checkout(app: App, channel: Channel, link: PaymentLink) -> None:
    """Writes nothing if another process was faster: the caller looks again and finds the other's checkout."""
    now, checkout_id = app.clock.now(), make_checkout_id(link.merchant_id, app.random_bytes)
    prepared = open_link_fields(app, link)
    if prepared is None:
        raise LookupError("what was prepared for a payment link was wiped before its end")
    url = make_link_url(link.id, app.base_url)
    checkout = Checkout(
        id=checkout_id,
        merchant_id=link.merchant_id,
        channel_id=channel.id,
        kind=CheckoutKind.PAYMENT,
        created_at=now,
        # Nobody pays after the link's own end.
        expires_at=min(now + LIMITS.checkout_lifetime, link.expires_at),
        return_url=url,
        script=app.script.version,
        sealed_fields=seal_prepared(app, link.merchant_id, checkout_id, fill_link_checkout(prepared, url)),
    )
    changed = sign_link(app, msgspec.structs.replace(link, checkout_id=checkout_id))
    await give_checkout(app.database, link, changed, checkout, now)


async def _describe(app: App, channel: Channel, link: PaymentLink) -> OpenedLink:
    checkout = await find_link_checkout(app, link)
    payment = await find_link_payment(app, checkout)
    status = tell_link_status(link, checkout, app.clock.now())
    prepared = open_link_fields(app, link)
    promised = await find_promised_script(app, checkout.id) if checkout else None
    return OpenedLink(
        link=link,
        # A payment that was made counts, whatever became of the channel.
        status=LinkStatus.ENDED if channel.is_closed and status is LinkStatus.OPEN else status,
        page=None if prepared is None else read_link_page(prepared, channel.name),
        checkout=checkout,
        payment=payment,
        integrity=(promised or app.script).integrity,
        is_awaited=await _is_awaited(app, checkout, payment),
    )
