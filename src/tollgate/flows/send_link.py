"""The merchant's side of a payment link: make it, ask how it stands, end it. The shopper's is told in `open_link`."""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import (
    Answer,
    Asked,
    Fields,
    answer_checkout,
    answer_ended_link,
    answer_link,
    answer_new_link,
    answer_payment,
    asks_for_code,
    find_link_expiry,
    keep_prepared,
    make_link_url,
    make_session_refusal,
)
from tollgate.flows.check_out import BUSY, PENDING, get_attempt, refuse_unpayable
from tollgate.flows.idempotency import answer_taken_key
from tollgate.operations import App, draw_code, get_own_link, keep_answer_writes, seal_link, sign_link
from tollgate.payments import Channel, Checkout, IdempotencyKey, LinkState, Payment, PaymentLink
from tollgate.store import end_link, find_checkout, insert_link_writes, note_read
from tollgate.values import Refusal, make_link_id


async def make_payment_link(
    app: App, fields: Fields, channel: Channel, ndc: str, idempotency_key: IdempotencyKey | None
) -> Answer:
    """The first checkout is made when a shopper opens the link."""
    refuse_unpayable(app, fields, channel)
    now, link_id = app.clock.now(), make_link_id(channel.merchant_id, app.random_bytes)
    unsigned = PaymentLink(
        id=link_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        created_at=now,
        expires_at=find_link_expiry(fields.values, now),
        sealed_fields=seal_link(app, channel.merchant_id, link_id, keep_prepared(fields)),
    )
    link = sign_link(app, unsigned)
    url = make_link_url(link_id, app.base_url)
    code = draw_code(url) if asks_for_code(fields.values) else ""
    answer = answer_new_link(link, url, code, Asked(app.envelope, ndc, now))
    unit = [*insert_link_writes(link), *keep_answer_writes(app, idempotency_key, channel.merchant_id, answer)]
    if await app.database.write(unit):
        return answer
    return await answer_taken_key(app, idempotency_key)


async def read_payment_link(app: App, link_id: str, channel: Channel, ndc: str) -> Answer:
    link = await get_own_link(app, channel, link_id)
    checkout = await find_link_checkout(app, link)
    payment = await find_link_payment(app, checkout)
    return answer_link(link, checkout, payment, Asked(app.envelope, ndc, app.clock.now()))


async def read_link_payment(app: App, link_id: str, checkout_id: str, channel: Channel) -> Answer:
    """Answers the payment as often as it is asked for: the link stays, so nothing is spent by telling it."""
    checkout = await find_link_checkout(app, await get_own_link(app, channel, link_id))
    if checkout is None or checkout.id != checkout_id:
        raise make_session_refusal()
    payment = await find_link_payment(app, checkout)
    if payment is None:
        return answer_checkout(checkout, app.envelope, PENDING, app.clock.now())
    await note_read(app.database, checkout, app.clock.now())
    return answer_payment(payment, app.envelope)


async def end_payment_link(app: App, link_id: str, channel: Channel, ndc: str) -> Answer:
    """Ends a link that nobody has paid. Ending it again answers the same, so that a retry does no harm."""
    for _ in range(LIMITS.reservation_tries_max):
        link = await get_own_link(app, channel, link_id)
        ended = sign_link(app, msgspec.structs.replace(link, state=LinkState.ENDED))
        if link.state is LinkState.ENDED or await end_link(app.database, link, ended):
            return answer_ended_link(link, Asked(app.envelope, ndc, app.clock.now()))
        if (await get_own_link(app, channel, link_id)).checkout_id == link.checkout_id:
            break
    checkout = await find_link_checkout(app, await get_own_link(app, channel, link_id))
    if checkout is not None and checkout.is_paid:
        # Another code than for one that is being paid: repeating this would never help.
        detail = "the payment link is paid and cannot be ended: refund its payment instead"
        raise Refusal(get_result("200.300.404"), detail)
    raise Refusal(get_result(BUSY), "the payment link is being paid")


async def find_link_checkout(app: App, link: PaymentLink) -> Checkout | None:
    if link.checkout_id is None:
        return None
    return await find_checkout(app.database, link.merchant_id, link.checkout_id)


async def find_link_payment(app: App, checkout: Checkout | None) -> Payment | None:
    """Returns the attempt that counts: the one that paid, or else the last."""
    if checkout is None or checkout.subject_id is None:
        return None
    return await get_attempt(app, checkout, checkout.subject_id)
