"""The merchant's side of a checkout: prepare it, change it, ask how it stands. The shopper's is told in `submit`."""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import (
    Answer,
    Fields,
    answer_checkout,
    answer_payment,
    answer_registration,
    asks_for_integrity,
    check_prepared,
    find_prepared_brand,
    find_return_url,
    is_link_url,
    keep_prepared,
    make_session_refusal,
    merge_echo,
    read_fields,
    tell_kind,
)
from tollgate.flows.idempotency import answer_taken_key
from tollgate.payments import Channel, Checkout, CheckoutKind, CheckoutState, Claim, Payment, Script
from tollgate.steps import (
    BrokenSeal,
    House,
    check_reachable,
    find_any_checkout,
    get_own_checkout,
    get_registration,
    open_prepared,
    seal_prepared,
    steps_keep_answer,
    trust,
)
from tollgate.store import (
    cancel_checkout,
    count_read,
    find_payment,
    find_script,
    note_read,
    spend_checkout,
    steps_change_checkout,
    steps_insert_checkout,
)
from tollgate.values import SECOND, Refusal, TooMany, find_checkout_id, make_checkout_id, to_datetime

CREATED, CHANGED, CANCELLED, PENDING = "000.200.100", "000.200.101", "000.200.102", "000.200.000"
BUSY = "800.700.100"


async def prepare_checkout(house: House, fields: Fields, channel: Channel, claim: Claim | None) -> Answer:
    refuse_unpayable(house, fields, channel)
    now, checkout_id = house.clock.now(), make_checkout_id(channel.merchant_id, house.chance)
    checkout = Checkout(
        id=checkout_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        kind=tell_kind(fields.values),
        created_at=now,
        expires_at=now + LIMITS.checkout_lifetime,
        return_url=find_return_url(fields.values),
        script=house.script.version,
        sealed_fields=seal_prepared(house, channel.merchant_id, checkout_id, keep_prepared(fields)),
    )
    integrity = house.script.integrity if asks_for_integrity(fields.values) else ""
    answer = answer_checkout(checkout, house.envelope, CREATED, now, integrity)
    unit = [*steps_insert_checkout(checkout), *steps_keep_answer(house, claim, channel.merchant_id, answer)]
    if await house.database.write(unit):
        return answer
    return await answer_taken_key(house, claim)


def refuse_unpayable(house: House, fields: Fields, channel: Channel) -> None:
    test_mode = check_prepared(fields, channel, today=to_datetime(house.clock.now()).date(), is_live=house.is_live)
    if tell_kind(fields.values) is CheckoutKind.PAYMENT:
        brand = find_prepared_brand(fields.values, channel)
        check_reachable(house, channel, test_mode, None if brand is None else brand.code)


async def change_checkout(
    house: House, fields: Fields, checkout_id: str, channel: Channel, _ndc: str, claim: Claim | None
) -> Answer:
    """What was prepared, with what is said now. While somebody pays it, it stays as it was when the payment began."""
    seen = await get_own_checkout(house, channel, checkout_id, None)
    prepared = open_prepared(house, seen)
    if is_link_url(find_return_url(prepared)):
        # The link's next checkout would be made from what the link says, and the change would be lost.
        raise make_session_refusal(" (a payment link made this one: end the link and make another instead)")
    merged = merge_echo(prepared, keep_prepared(fields))
    situation = house.make_situation("checkout", channel)
    whole = read_fields(list(merged.items()), situation)
    refuse_unpayable(house, whole, channel)
    kind = tell_kind(whole.values)
    changed = msgspec.structs.replace(
        seen,
        kind=kind,
        # What was tried for another purpose is not what is asked for now.
        subject_id=seen.subject_id if kind is seen.kind else None,
        # What the form said remains where the merchant says nothing: a shopper may be on the way there.
        return_url=find_return_url(whole.values) or seen.return_url,
        sealed_fields=seal_prepared(house, seen.merchant_id, seen.id, keep_prepared(whole)),
    )
    now = house.clock.now()
    answer = answer_checkout(changed, house.envelope, CHANGED, now)
    unit = [*steps_change_checkout(seen, changed, now), *steps_keep_answer(house, claim, seen.merchant_id, answer)]
    if await house.database.write(unit):
        return answer
    fresh = await get_own_checkout(house, channel, checkout_id, None)
    # Without a key there is no other reason: whoever was paying may have let go of it by now.
    if claim is None or fresh.state is not CheckoutState.OPEN or fresh.revision != seen.revision:
        raise Refusal(get_result(BUSY), "the checkout was paid or changed at the same time")
    return await answer_taken_key(house, claim)


async def cancel_prepared(house: House, checkout_id: str, channel: Channel) -> Answer:
    """Withdraws a checkout that nobody has paid. Cancelling again answers the same, so that a retry does no harm."""
    now = house.clock.now()
    checkout = await get_own_checkout(house, channel, checkout_id, None, with_cancelled=True)
    if checkout.state is not CheckoutState.CANCELLED and not await cancel_checkout(house.database, checkout, now):
        fresh = await get_own_checkout(house, channel, checkout_id, None, with_cancelled=True)
        if fresh.is_paid:
            # Another code than for one that is being paid: repeating this would never help.
            detail = "the checkout is complete and cannot be cancelled: refund its payment or delete what it stored"
            raise Refusal(get_result("200.300.404"), detail)
        if fresh.state is not CheckoutState.CANCELLED:
            raise Refusal(get_result(BUSY), "the checkout is being paid")
    return answer_checkout(checkout, house.envelope, CANCELLED, now)


async def read_checkout(
    house: House, checkout_id: str, kind: CheckoutKind, channel: Channel, *, is_told: bool = True
) -> Answer:
    """What became of it. A success is told once, and then the checkout is no more.

    An answer that is sent without its body (`is_told` is false) tells nothing, so it spends nothing.
    """
    checkout = await get_own_checkout(house, channel, checkout_id, kind)
    now, limit = house.clock.now(), house.status_reads
    if not await count_read(house.database, checkout, now, limit.count, limit.window_s * SECOND):
        wait_s = max(1, -(-(checkout.window_ends_at - now) // SECOND))
        raise TooMany(get_result("800.120.100"), retry_after_s=wait_s, subject_id=checkout.id)
    checkout = await get_own_checkout(house, channel, checkout_id, kind)
    answer = await _tell(house, checkout)
    if not is_told:
        return answer
    if checkout.state is not CheckoutState.DONE:
        await note_read(house.database, checkout, now)
    elif not await spend_checkout(house.database, checkout, now):
        # Another was told in this very moment.
        await get_own_checkout(house, channel, checkout_id, kind)
    return answer


async def _tell(house: House, checkout: Checkout) -> Answer:
    if checkout.subject_id is None:
        return answer_checkout(checkout, house.envelope, PENDING, house.clock.now())
    if checkout.kind is CheckoutKind.REGISTRATION:
        registration = await get_registration(house, checkout.merchant_id, checkout.subject_id)
        # One that was stored before goes by the name of what was asked for here.
        return answer_registration(msgspec.structs.replace(registration, ndc=checkout.id), house.envelope)
    return answer_payment(await get_attempt(house, checkout, checkout.subject_id), house.envelope)


async def get_attempt(house: House, checkout: Checkout, payment_id: str) -> Payment:
    """Returns the payment that a checkout names, which must have been made for it."""
    payment = await find_payment(house.database, checkout.merchant_id, payment_id)
    if payment is None:
        raise LookupError("a checkout names a payment that does not exist")
    if find_checkout_id(trust(house, payment).ndc) != checkout.id:
        raise BrokenSeal(f"a checkout names payment {payment.id}, which was made for something else")
    return payment


async def find_promised_script(house: House, checkout_id: str) -> Script | None:
    """The bytes that a checkout was promised, where they are not those of this very process."""
    checkout = await find_any_checkout(house, checkout_id)
    if checkout is None or checkout.script == house.script.version or checkout.is_over(house.clock.now()):
        return None
    return await find_script(house.database, checkout.script)
