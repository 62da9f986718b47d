"""Payments that a dead process or a silent acquirer left open are completed, and their recovery tasks run.

The same table decides and the same connectors are used as for any payment.
"""

import msgspec

from tollgate.catalog import codes
from tollgate.contract import follow_ups
from tollgate.flows import reviews
from tollgate.operations import charging, routes, signing
from tollgate.operations.app import SUCCESS_CODES, App
from tollgate.payments.chain import list_start_changes
from tollgate.payments.completion import get_known_verdict
from tollgate.payments.following import Action
from tollgate.payments.payment import DECIDED, OPEN_STATES, Outcome, Payment, RecoveryTask, State, Verdict
from tollgate.store import authentications, jobs, payments
from tollgate.store.idempotency import find_idempotency_record_of
from tollgate.values import PaymentId

_SILENT = Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT)
OUT_OF_TIME = Verdict(outcome=Outcome.DECLINED, code=codes.SHOPPER_TIMED_OUT)
"""The verdict on a payment whose shopper did not come back in time."""


async def complete_overdue(app: App, started: Payment) -> None:
    """Completes an attempt past its deadline: nobody works on it any more, and its outcome is silent.

    If its result was known before it was written, that result is written.
    """
    verdict = get_known_verdict(started) if started.is_decided else _SILENT
    stored = await find_idempotency_record_of(app.database, started)
    # Whoever began it may have slept past its deadline and send it to another account just now: then it stays as it is,
    # and the next round finds it there.
    guards = tuple(payments.keep_account_writes(started)) if started.routing else ()
    await charging.write_completion(app, started, verdict, stored, label="overdue completion", guards=guards)


async def run_recovery_task(app: App, job: jobs.Job) -> bool:
    """Returns true when the recovery task is done and its job removed; false asks for another try later."""
    payment = await payments.find_payment(app.database, job.merchant_id, PaymentId(job.subject_id))
    if payment is None:
        raise LookupError(f"job {job.id} names a payment that does not exist")
    signing.trust(app, payment)
    if job.topic == RecoveryTask.EXPIRE:
        # No acquirer is asked, so this works without a configured address.
        return await expire_waiting(app, job, payment)
    if job.topic == RecoveryTask.GIVE_BACK:
        return await reviews.give_back(app, job, payment)
    if job.topic == RecoveryTask.COMPLETE:
        if payment.state is State.STARTED:
            await complete_overdue(app, payment)
        return await jobs.finish_job(app.database, job)
    channel = app.merchants.get_channel(payment.channel_id)
    route = routes.get_route(app, channel, payment)
    if job.topic == RecoveryTask.REVERSE:
        return await reverse_doubtful(app, job, payment, route)
    return await resolve_open(app, job, payment, route)


async def reverse_doubtful(app: App, job: jobs.Job, payment: Payment, route: routes.Route) -> bool:
    """Reverses a payment that was answered as failed, and no other, whatever the job says."""
    if payment.state is not State.DECLINED:
        raise signing.TamperedRow(f"job {job.id} reverses a payment that did not fail: run `tollgate verify`")
    exchange = route.connector.reverse(await charging.recall_original(app, payment, route))
    verdict = await app.dispatch(exchange, route.wire, about=payment, label="reversal request")
    if verdict.outcome is not Outcome.APPROVED:
        return False
    reversal = make_reversal(app, payment, verdict)
    writes = payments.start_follow_up_writes(reversal, list_start_changes(reversal, None, payment.id))
    if not await app.database.write([*jobs.finish_job_writes(job), *writes], label="reversal recorded"):
        return False
    await charging.complete_decided(app, reversal)
    return True


async def resolve_open(app: App, job: jobs.Job, payment: Payment, route: routes.Route) -> bool:
    """Asks the acquirer about an open payment, or repeats the request of a follow-up under the same key."""
    if payment.state not in OPEN_STATES:
        # It was completed in another way meanwhile.
        return await jobs.finish_job(app.database, job)
    if job.topic == RecoveryTask.INQUIRE:
        exchange = route.connector.inquire(await charging.recall_original(app, payment, route), route.approved_code)
    else:
        named = await charging.get_payment(app, payment, payment.referenced_id or payment.id)
        exchange = route.connector.repeat(
            payment,
            charging.get_wire_word(payment),
            route.approved_code,
            original=await charging.recall_original(app, named, route),
            is_final=follow_ups.says_final(payment.echo),
            was_accepted=payment.state is State.WAITING,
        )
    answered = await app.dispatch(exchange, route.wire, about=payment, label="recovery request")
    verdict = await charging.check_lateness(app, payment, answered)
    if verdict.outcome not in DECIDED:
        return False
    completion = signing.complete_signed(app, payment, verdict)
    is_written = await app.database.write(
        [*jobs.finish_job_writes(job), *payments.completion_writes(completion, expected=payment.state)],
        label="recovery completion",
    )
    if is_written:
        charging.note_decision(app, payment, answered)
    return is_written


async def expire_waiting(app: App, job: jobs.Job, payment: Payment) -> bool:
    """Declines a payment whose shopper did not come back in time, and wipes the sealed security code in any case.

    A charge that is under way is waited for, and so is one that the acquirer has not decided.
    """
    if payment.state is State.STARTED:
        return False
    row = await authentications.find_authentication(app.database, payment.merchant_id, payment.id)
    if payment.state is not State.WAITING or (row is not None and row.is_closed):
        closing = authentications.close_authentication_writes(payment)
        return await app.database.write([*jobs.finish_job_writes(job), *closing], label="authentication closed")
    completion = signing.complete_signed(app, payment, OUT_OF_TIME)
    # Without a row the shopper cannot come back, and nothing was sent.
    ending = authentications.end_authentication_writes(payment) if row else []
    return await app.database.write(
        [*jobs.finish_job_writes(job), *payments.completion_writes(completion, expected=State.WAITING), *ending],
        label="waiting expired",
    )


def make_reversal(app: App, payment: Payment, verdict: Verdict) -> Payment:
    """Returns the reversal as a payment of its own, so that reports show both."""
    return msgspec.structs.replace(
        charging.start_after(app, payment, "RV", payment.ndc),
        merchant_transaction_id=payment.merchant_transaction_id,
        card=payment.card,
        echo=follow_ups.keep_references(payment.echo),
        action=Action.TECHNICAL_REVERSAL,
        result_code=SUCCESS_CODES[payment.test_mode],
        details=verdict.details,
    )
