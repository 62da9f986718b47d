"""Payment links: made, read, ended, and opened by a shopper. The pages that a shopper sees are rendered elsewhere."""

from contextlib import suppress

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import checkouts as contract_checkouts
from tollgate.contract import links, shopper_urls
from tollgate.contract.answers import Answer, answer_payment
from tollgate.contract.fields import Fields
from tollgate.flows.checkouts import find_promised_script, get_attempt, refuse_unpayable
from tollgate.flows.submit import abandon_attempt
from tollgate.operations import checkouts, idempotency, signing
from tollgate.operations.app import App, Call
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState, LinkState, LinkStatus, PaymentLink
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment, State
from tollgate.store import authentications
from tollgate.store import checkouts as store_checkouts
from tollgate.store import links as store_links
from tollgate.values import Instant, Refusal, make_checkout_id, make_link_id


async def make_payment_link(app: App, fields: Fields, call: Call) -> Answer:
    """Creates a link; its first checkout is made when a shopper opens it."""
    channel = call.channel
    refuse_unpayable(app, fields, channel)
    now, link_id = app.clock.now(), make_link_id(channel.merchant_id, app.random_bytes)
    unsigned = PaymentLink(
        id=link_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        created_at=now,
        expires_at=links.get_link_expiry(fields.values, now),
        sealed_fields=checkouts.seal_link(app, channel.merchant_id, link_id, contract_checkouts.keep_prepared(fields)),
    )
    link = signing.sign(app, unsigned)
    url = links.make_link_url(link_id, app.base_url)
    code = checkouts.draw_code(url) if links.asks_for_code(fields.values) else ""
    answer = links.answer_new_link(link, url, code, links.Asked(app.envelope, call.ndc, now))
    return await idempotency.write_answer(
        app, call, store_links.insert_link_writes(link), answer, label="payment link created"
    )


async def read_payment_link(app: App, link_id: str, channel: Channel, ndc: str) -> Answer:
    link = await checkouts.get_own_link(app, channel, link_id)
    checkout = await find_link_checkout(app, link)
    payment = await find_link_payment(app, checkout)
    return links.answer_link(link, checkout, payment, links.Asked(app.envelope, ndc, app.clock.now()))


async def read_link_payment(app: App, link_id: str, checkout_id: str, channel: Channel) -> Answer:
    """Answers the payment as often as it is asked for: the link stays, so nothing is spent by telling it."""
    checkout = await find_link_checkout(app, await checkouts.get_own_link(app, channel, link_id))
    if checkout is None or checkout.id != checkout_id:
        raise contract_checkouts.make_session_refusal()
    payment = await find_link_payment(app, checkout)
    if payment is None:
        return contract_checkouts.answer_checkout(checkout, app.envelope, codes.PENDING, app.clock.now())
    await store_checkouts.note_read(app.database, checkout, app.clock.now())
    return answer_payment(payment, app.envelope)


async def end_payment_link(app: App, link_id: str, channel: Channel, ndc: str) -> Answer:
    """Ends a link that nobody has paid. Ending it again answers the same, so that a retry does no harm."""
    for _ in range(LIMITS.reservation_tries_max):
        link = await checkouts.get_own_link(app, channel, link_id)
        ended = signing.sign(app, msgspec.structs.replace(link, state=LinkState.ENDED))
        if link.state is LinkState.ENDED or await store_links.end_link(app.database, link, ended):
            return links.answer_ended_link(link, links.Asked(app.envelope, ndc, app.clock.now()))
        if (await checkouts.get_own_link(app, channel, link_id)).checkout_id == link.checkout_id:
            break
    checkout = await find_link_checkout(app, await checkouts.get_own_link(app, channel, link_id))
    if checkout is not None and checkout.is_paid:
        # The code differs from that of a payment in progress, because a retry would never help.
        detail = "the payment link is paid and cannot be ended: refund its payment instead"
        raise Refusal(get_result(codes.INVALID_REQUEST), detail)
    raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS), "the payment link is being paid")


async def find_link_checkout(app: App, link: PaymentLink) -> Checkout | None:
    if link.checkout_id is None:
        return None
    return await store_checkouts.find_checkout(app.database, link.merchant_id, link.checkout_id)


async def find_link_payment(app: App, checkout: Checkout | None) -> Payment | None:
    """Returns the attempt that counts: the one that paid, or else the last."""
    if checkout is None or checkout.subject_id is None:
        return None
    return await get_attempt(app, checkout, checkout.subject_id)


class OpenedLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link as its shopper sees it."""

    link: PaymentLink
    status: LinkStatus
    page: links.LinkPage | None
    """It is None once the prepared fields are wiped."""
    checkout: Checkout | None = None
    payment: Payment | None = None
    integrity: str = ""
    """The hash of the script that shows the form for this checkout."""
    is_awaited: bool = False
    """A bank or a provider may still approve the last attempt."""

    @property
    def is_being_paid(self) -> bool:
        return self.checkout is not None and self.checkout.state is CheckoutState.LOCKED

    @property
    def may_be_given_up(self) -> bool:
        """Tells whether the last attempt waits at a provider, which can cancel it; a bank cannot."""
        return (
            self.is_awaited
            and self.payment is not None
            and shopper_urls.find_handover(self.payment.details) is not None
        )

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
        link = await checkouts.find_any_link(app, link_id)
        channel = None if link is None else app.merchants.find_channel(link.channel_id)
        if link is None or channel is None:
            return None
        opened = await _describe(app, channel, link)
        checkout = opened.checkout
        is_needed = checkout is None or checkout.must_be_replaced(app.clock.now(), is_awaited=opened.is_awaited)
        if opened.status is not LinkStatus.OPEN or not makes_checkout or not is_needed:
            return opened
        await _make_checkout(app, channel, link)
    raise LookupError("a payment link changed whenever it was looked at")


async def leave_link_attempt(app: App, link_id: str, attempt_id: str) -> PaymentLink | None:
    """Gives up an attempt that waits at a provider, so that its shopper can pay another way.

    An attempt that cannot be given up stays as it is.
    """
    link = await checkouts.find_any_link(app, link_id)
    if link is not None and link.checkout_id is not None:
        with suppress(Refusal):
            await abandon_attempt(app, link.checkout_id, attempt_id)
    return link


async def _is_awaited(app: App, checkout: Checkout | None, payment: Payment | None) -> bool:
    """Tells whether the attempt may still take money.

    One whose shopper is being asked by the bank takes none before the answer, and ends by itself within minutes. What
    is approved for a withdrawn checkout is given back.
    """
    if checkout is None or checkout.state is not CheckoutState.OPEN:
        return False
    if payment is None or payment.state is not State.WAITING:
        return False
    asked = await authentications.find_authentication(app.database, payment.merchant_id, payment.id)
    return asked is None or asked.is_closed


async def _make_checkout(app: App, channel: Channel, link: PaymentLink) -> None:
    """Writes nothing if another process was faster: the caller looks again and finds the other's checkout."""
    now, checkout_id = app.clock.now(), make_checkout_id(link.merchant_id, app.random_bytes)
    prepared = checkouts.open_link_fields(app, link)
    if prepared is None:
        raise LookupError("what was prepared for a payment link was wiped before its end")
    url = links.make_link_url(link.id, app.base_url)
    checkout = Checkout(
        id=checkout_id,
        merchant_id=link.merchant_id,
        channel_id=channel.id,
        kind=CheckoutKind.PAYMENT,
        created_at=now,
        # A checkout ends with its link at the latest.
        expires_at=min(now + LIMITS.checkout_lifetime, link.expires_at),
        return_url=url,
        script=app.script.version,
        sealed_fields=checkouts.seal_prepared(
            app, link.merchant_id, checkout_id, links.fill_link_checkout(prepared, url)
        ),
    )
    changed = signing.sign(app, msgspec.structs.replace(link, checkout_id=checkout_id))
    await store_links.give_checkout(app.database, link, changed, checkout, now)


async def _describe(app: App, channel: Channel, link: PaymentLink) -> OpenedLink:
    checkout = await find_link_checkout(app, link)
    payment = await find_link_payment(app, checkout)
    status = link.get_status(checkout, app.clock.now())
    prepared = checkouts.open_link_fields(app, link)
    page = None if prepared is None else links.read_link_page(prepared, channel.name)
    if page is not None and not app.may_lead_to(channel, page.home_url):
        page = msgspec.structs.replace(page, home_url="")
    promised = await find_promised_script(app, checkout.id) if checkout else None
    return OpenedLink(
        link=link,
        # A payment that was made counts, whatever became of the channel.
        status=LinkStatus.ENDED if channel.is_closed and status is LinkStatus.OPEN else status,
        page=page,
        checkout=checkout,
        payment=payment,
        integrity=(promised or app.script).integrity,
        is_awaited=await _is_awaited(app, checkout, payment),
    )
