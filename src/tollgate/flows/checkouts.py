"""Checkouts: prepared, changed, read, cancelled, abandoned, and reminders to a shop that never read its result.

The payment itself is made in `pay`.
"""

import logging

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import checkouts, links, orders, registrations, shopper_urls
from tollgate.contract.answers import Answer, answer_payment
from tollgate.contract.fields import Fields, merge_echo, read_fields
from tollgate.operations import archives, idempotency, routes, signing
from tollgate.operations.accounts import get_registration
from tollgate.operations.app import App, Call
from tollgate.operations.checkouts import find_any_checkout, get_own_checkout, open_prepared, seal_prepared
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState, Reminder, Script
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.store import checkouts as store_checkouts
from tollgate.store import jobs, payments
from tollgate.values import SECOND, Refusal, TooMany, hide_checkout_ids, make_checkout_id
from tollgate.wire import Forbidden, Outgoing, Silent, Unsent


async def prepare_checkout(app: App, fields: Fields, call: Call) -> Answer:
    channel = call.channel
    refuse_unpayable(app, fields, channel)
    now, checkout_id = app.clock.now(), make_checkout_id(channel.merchant_id, app.random_bytes)
    checkout = Checkout(
        id=checkout_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        kind=checkouts.choose_checkout_kind(fields.values),
        created_at=now,
        expires_at=now + LIMITS.checkout_lifetime,
        return_url=orders.find_return_url(fields.values),
        script=app.script.version,
        sealed_fields=seal_prepared(app, channel.merchant_id, checkout_id, checkouts.keep_prepared(fields)),
    )
    integrity = app.script.integrity if checkouts.asks_for_integrity(fields.values) else ""
    answer = checkouts.answer_checkout(checkout, app.envelope, codes.CHECKOUT_CREATED, now, integrity)
    return await idempotency.write_answer(
        app, call, store_checkouts.insert_checkout_writes(checkout), answer, label="checkout prepared"
    )


def refuse_unpayable(app: App, fields: Fields, channel: Channel) -> None:
    test_mode = checkouts.check_prepared(fields, channel, today=app.today, is_live=app.is_live)
    if checkouts.choose_checkout_kind(fields.values) is CheckoutKind.PAYMENT:
        brand = checkouts.find_prepared_brand(fields.values, channel)
        routes.check_reachable(app, channel, test_mode, None if brand is None else brand.code)


async def change_checkout(app: App, fields: Fields, checkout_id: str, call: Call) -> Answer:
    """Merges a change into what was prepared. A payment that has begun is not affected."""
    channel = call.channel
    seen = await get_own_checkout(app, channel, checkout_id, None)
    prepared = open_prepared(app, seen)
    if links.is_link_url(orders.find_return_url(prepared)):
        # The next checkout of the link would be made from the link's own fields, and the change would be lost.
        raise checkouts.make_session_refusal(" (a payment link made this one: end the link and make another instead)")
    merged = merge_echo(prepared, checkouts.keep_prepared(fields))
    situation = app.make_situation("create_checkout", channel)
    whole = read_fields(list(merged.items()), situation)
    refuse_unpayable(app, whole, channel)
    kind = checkouts.choose_checkout_kind(whole.values)
    changed = msgspec.structs.replace(
        seen,
        kind=kind,
        # An attempt for the other kind is not the result of this one.
        subject_id=seen.subject_id if kind is seen.kind else None,
        # The form's address stays if the merchant names none: a shopper may be on the way there.
        return_url=orders.find_return_url(whole.values) or seen.return_url,
        sealed_fields=seal_prepared(app, seen.merchant_id, seen.id, checkouts.keep_prepared(whole)),
    )
    now = app.clock.now()
    answer = checkouts.answer_checkout(changed, app.envelope, codes.CHECKOUT_UPDATED, now)
    unit = [
        *store_checkouts.change_checkout_writes(seen, changed, now),
        *idempotency.keep_answer_writes(app, call, answer),
    ]
    if await app.database.write(unit, label="checkout changed"):
        return answer
    fresh = await get_own_checkout(app, channel, checkout_id, None)
    # Without an idempotency key there is no other reason, although the attempt may have ended by now.
    if call.idempotency_key is None or fresh.state is not CheckoutState.OPEN or fresh.revision != seen.revision:
        raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS), "the checkout was paid or changed at the same time")
    return await idempotency.answer_taken_key(app, call.idempotency_key)


async def cancel_prepared(app: App, checkout_id: str, channel: Channel) -> Answer:
    """Withdraws a checkout that nobody has paid. Cancelling again answers the same, so that a retry does no harm."""
    now = app.clock.now()
    checkout = await get_own_checkout(app, channel, checkout_id, None, with_cancelled=True)
    if checkout.state is not CheckoutState.CANCELLED and not await store_checkouts.cancel_checkout(
        app.database, checkout, now
    ):
        fresh = await get_own_checkout(app, channel, checkout_id, None, with_cancelled=True)
        if fresh.is_paid:
            # The code differs from that of a payment in progress, because a retry would never help.
            detail = "the checkout is complete and cannot be cancelled: refund its payment or delete what it stored"
            raise Refusal(get_result(codes.INVALID_REQUEST), detail)
        if fresh.state is not CheckoutState.CANCELLED:
            raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS), "the checkout is being paid")
    return checkouts.answer_checkout(checkout, app.envelope, codes.CHECKOUT_GONE, now)


async def read_checkout(
    app: App, checkout_id: str, kind: CheckoutKind, channel: Channel, *, is_told: bool = True
) -> Answer:
    """Answers the result of a checkout. A success is answered once, and then the checkout is spent.

    `is_told` is false for an answer without a body, which spends nothing.
    """
    checkout = await get_own_checkout(app, channel, checkout_id, kind)
    now, limit = app.clock.now(), app.status_reads
    if not await store_checkouts.count_read(app.database, checkout, now, limit.count, limit.window_s * SECOND):
        wait_s = max(1, -(-(checkout.window_ends_at - now) // SECOND))
        raise TooMany(get_result(codes.TOO_MANY_REQUESTS), retry_after_s=wait_s, subject_id=checkout.id)
    checkout = await get_own_checkout(app, channel, checkout_id, kind)
    answer = await _answer_state(app, checkout)
    if not is_told:
        return answer
    if checkout.state is not CheckoutState.DONE:
        await store_checkouts.note_read(app.database, checkout, now)
    elif not await store_checkouts.spend_checkout(app.database, checkout, now):
        # Another request got the answer at the same moment.
        await get_own_checkout(app, channel, checkout_id, kind)
    return answer


async def _answer_state(app: App, checkout: Checkout) -> Answer:
    if checkout.subject_id is None:
        return checkouts.answer_checkout(checkout, app.envelope, codes.PENDING, app.clock.now())
    if checkout.kind is CheckoutKind.REGISTRATION:
        registration = await get_registration(app, checkout.merchant_id, checkout.subject_id)
        # A registration that existed before is answered with the trace id of this checkout.
        return registrations.answer_registration(msgspec.structs.replace(registration, ndc=checkout.id), app.envelope)
    return answer_payment(await get_attempt(app, checkout, checkout.subject_id), app.envelope)


async def get_attempt(app: App, checkout: Checkout, payment_id: str) -> Payment:
    """Returns the payment that a checkout names, which must have been made for it."""
    payment = await payments.find_payment(app.database, checkout.merchant_id, payment_id)
    if payment is None:
        payment = await archives.find_payment(app, checkout.merchant_id, payment_id)
    if payment is None:
        raise LookupError("a checkout names a payment that does not exist")
    if signing.trust(app, payment).checkout_id != checkout.id:
        raise signing.TamperedRow(f"a checkout names payment {payment.id}, which was made for something else")
    return payment


async def find_promised_script(app: App, checkout_id: str) -> Script | None:
    """Finds the script that a checkout was promised, where it is not that of this process."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.script == app.script.version or checkout.is_over(app.clock.now()):
        return None
    return await store_checkouts.find_script(app.database, checkout.script)


_log = logging.getLogger("tollgate.reminder")


async def remind(app: App, job: jobs.Job) -> bool:
    """Returns true when the reminder is decided and its job removed; false asks for another try soon."""
    checkout = await store_checkouts.find_checkout(app.database, job.merchant_id, job.subject_id)
    if checkout is None or checkout.reminder == Reminder.SENT:
        return await jobs.finish_job(app.database, job)
    word = _find_word(app, job, checkout) or await _call(app, checkout)
    if word is None:
        return False
    noting = store_checkouts.note_reminder_writes(checkout, word, app.clock.now())
    is_done = await app.database.write([*noting, *jobs.finish_job_writes(job)], label="reminder recorded")
    if is_done:
        level = logging.WARNING if word in (Reminder.MISSED, Reminder.FAILED) else logging.INFO
        facts = {"checkout": hide_checkout_ids(checkout.id), "reminder": word.value}
        _log.log(level, "a reminder was decided", extra=facts)
    return is_done


def _find_word(app: App, job: jobs.Job, checkout: Checkout) -> Reminder | None:
    """Finds the decision that needs no call."""
    if not checkout.is_unread or checkout.state is CheckoutState.CANCELLED:
        return Reminder.UNNEEDED
    if links.is_link_url(checkout.return_url):
        # The shopper comes back to a page of this host, and the merchant reads the link.
        return Reminder.UNNEEDED
    if checkout.expires_at <= app.clock.now():
        return Reminder.MISSED if job.tries <= 1 else Reminder.FAILED
    channel = app.merchants.get_channel(checkout.channel_id)
    may_call = checkout.return_url is not None and app.may_lead_to(channel, checkout.return_url)
    return None if may_call else Reminder.IMPOSSIBLE


async def _call(app: App, checkout: Checkout) -> Reminder | None:
    """Returns None where the shop could not be reached. A shop that was reached is not called again, whatever it
    answered.
    """
    url = shopper_urls.make_checkout_return_url(checkout.return_url or "", checkout)
    app.database.probe("reminder call", "before")
    try:
        status = (await app.notifier.send(Outgoing(url), LIMITS.notification_timeout_s)).status
    except Forbidden:
        return Reminder.IMPOSSIBLE
    except Unsent:
        return None
    except Silent:
        status = 0
    app.database.probe("reminder call", "after")
    _log.info("a shop was called", extra={"checkout": hide_checkout_ids(checkout.id), "status": status or "none"})
    return Reminder.SENT
