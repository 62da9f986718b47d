"""The decision of a review: the payment is accepted, or its money goes back.

Whether a payment is reviewed is decided by the risk rules when it is completed.
"""

import logging
from collections import Counter

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result, is_technical
from tollgate.contract.answers import render_answered
from tollgate.contract.events import find_notification_url, render_payment_payload
from tollgate.flows import follow_up
from tollgate.flows.pay import look_up
from tollgate.operations import charging, signing
from tollgate.operations.app import SUCCESS_CODES, App, Call
from tollgate.payments import reviews
from tollgate.payments.chain import PENDING_STATES, ChainContext, Plan
from tollgate.payments.following import Action
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.store import events, jobs, payments
from tollgate.store import reviews as stored
from tollgate.store.statements import Write
from tollgate.values import Conflict, MerchantId, Refusal, make_short_id

_log = logging.getLogger("tollgate.reviews")

_UNDOING = ("RV", "RF")
"""A reversal costs less than a refund, and is possible until the end of the day."""
_REFUNDS_MAX = 12
"""The refunds that an acquirer may decline before they are left to the merchant; the last comes after some hours."""


async def decide(
    app: App,
    merchant_id: MerchantId,
    payment_id: str,
    decision: reviews.Decision,
    by: str,
    note: str = "",
    *,
    channel: Channel | None = None,
) -> Payment:
    """Decides a review and returns the payment with its new result; the same decision again changes nothing.

    by: the name of the one who decides, for the row of the review.
    channel: the only channel whose payments may be decided; None for all of the merchant.
    """
    for _ in range(LIMITS.reservation_tries_max):
        payment = await look_up(app, merchant_id, payment_id)
        if payment is None:
            raise Refusal(get_result(codes.PAYMENT_UNKNOWN))
        if channel is not None and payment.channel_id != channel.id:
            raise Refusal(get_result(codes.OTHER_CHANNEL))
        review = await stored.find_review(app.database, merchant_id, payment.id)
        if review is None:
            pending = payment.state in PENDING_STATES
            code = codes.REFERENCE_PENDING if pending else codes.OTHER_TYPE
            raise Refusal(get_result(code), "the payment is not under review")
        if review.state is reviews.ENDS[decision]:
            # Read again, because the decision may have been written after the payment was read.
            return await charging.get_payment(app, payment, payment.id)
        if review.state is not reviews.ReviewState.OPEN:
            words = f"the review has ended: {review.state.name}"
            raise Conflict(get_result(codes.DONE_BEFORE), words)
        decided = await _write_decision(app, payment, review, decision, by, note)
        if decided is not None:
            return decided
    raise Conflict(get_result(codes.REQUEST_IN_PROGRESS), "too many requests about this payment at once")


async def _write_decision(
    app: App, payment: Payment, review: reviews.Review, decision: reviews.Decision, by: str, note: str
) -> Payment | None:
    """Writes the decision, its event and the job that gives money back in one commit; None if another was first."""
    accepted_code = SUCCESS_CODES[payment.test_mode]
    decided = signing.sign(app, reviews.decide(payment, decision, accepted_code, app.clock.now()))
    ended = msgspec.structs.replace(
        review, state=reviews.ENDS[decision], decided_at=decided.told_at, decided_by=by, note=note
    )
    unit = [
        *payments.decide_writes(payment, decided),
        *stored.decide_review_writes(review, ended),
        *_announce_writes(app, decided),
    ]
    if decision is reviews.Decision.REJECT:
        job = jobs.Job(
            id=f"{RecoveryTask.GIVE_BACK}.{payment.id}",
            merchant_id=payment.merchant_id,
            topic=RecoveryTask.GIVE_BACK,
            subject_id=payment.id,
            due_at=app.clock.now(),
        )
        unit += jobs.insert_job_writes(job)
    return decided if await app.database.write(unit, label="review decided") else None


def _announce_writes(app: App, decided: Payment) -> list[Write]:
    """Writes the event of a decision; its payload only if there is somebody to be told, as for every payment."""
    event = payments.make_event(decided)
    url = find_notification_url(decided)
    writes = events.insert_event_writes(event)
    if url is None and not app.merchants.list_webhooks(decided.merchant_id):
        return writes
    body = render_answered(decided, app.envelope)
    announcement = events.Announcement(
        id=event.id,
        merchant_id=event.merchant_id,
        subject_id=event.subject_id,
        channel_id=decided.channel_id,
        payment_type=decided.payment_type,
        created_at=event.created_at,
        payload=render_payment_payload(body, decided, app.merchants.find_channel(decided.channel_id)),
        notification_url=url,
    )
    return [*writes, *events.insert_announcement_writes(announcement)]


async def give_back(app: App, job: jobs.Job, payment: Payment) -> bool:
    """Reverses a rejected payment, or refunds it where a reversal is too late or was declined.

    Returns true when nothing is left; otherwise it is tried again later. Every try reads the chain anew, so a process
    that dies, or a follow-up that the merchant sends meanwhile, never gives anything back twice.
    """
    if not reviews.is_rejected(payment):
        raise signing.TamperedRow(f"job {job.id} gives back a payment that nobody rejected: run `tollgate verify`")
    if payment.balance.reserved:
        # A follow-up is under way; when it has ended, it is known what is left.
        return False
    channel = app.merchants.get_channel(payment.channel_id)
    context = await charging.read_chain_context(app, payment)
    if not payment.left:
        return await jobs.finish_job(app.database, job)
    declined = await _count_declined(app, payment)
    if declined["RF"] >= _REFUNDS_MAX:
        _log.error("refunds of a rejected payment are declined", extra={"payment": payment.id, "left": payment.left})
        return await jobs.finish_job(app.database, job)
    request, is_possible = _choose_undoing(app, payment, context, channel, is_irreversible=bool(declined["RV"]))
    # One that is impossible is recorded all the same, so that the merchant sees why nothing was given back.
    await follow_up.follow_up(app, request, payment.id, Call(channel, payment.ndc, None), judged=context.first)
    if not is_possible:
        _log.warning("rejected payment cannot be given back", extra={"payment": payment.id, "left": payment.left})
        return await jobs.finish_job(app.database, job)
    fresh = await charging.get_payment(app, payment, payment.id)
    return not fresh.left and not fresh.balance.reserved and await jobs.finish_job(app.database, job)


async def _count_declined(app: App, payment: Payment) -> Counter[str]:
    """Counts what acquirers declined to give back of a payment that they took, by type.

    A technical failure says nothing about the next try.
    """
    chain = await payments.list_chain(app.database, payment.merchant_id, payment.first_id, LIMITS.chain_rows_max)
    return Counter(
        row.payment_type
        for row in chain
        if row.action in (Action.REVERSAL, Action.REFUND)
        and row.state is State.DECLINED
        and not is_technical(row.result_code)
    )


def _choose_undoing(
    app: App, payment: Payment, context: ChainContext, channel: Channel, *, is_irreversible: bool
) -> tuple[FollowUp, bool]:
    """Returns the follow-up that gives back all that is left, and whether it is possible."""
    requests = [
        FollowUp(
            payment_type=payment_type,
            amount=None,
            currency=None,
            practice=None,
            is_final=False,
            descriptor=payment.descriptor,
            short_id=make_short_id(app.random_bytes),
        )
        for payment_type in _UNDOING[is_irreversible:]
    ]
    possible = [each for each in requests if isinstance(follow_up.decide(app, each, context, channel), Plan)]
    return (possible[0], True) if possible else (requests[0], False)
