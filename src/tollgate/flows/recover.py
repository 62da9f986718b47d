"""What a process left behind when it died or an acquirer fell silent: settle it, then run the errand that is owed.

There is no second path: the same table decides, the same connector speaks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from tollgate.connectors import Exchange
from tollgate.contract import answer_payment, keep_references, says_final
from tollgate.payments import (
    DECIDED,
    OPEN_STATES,
    Action,
    Errand,
    Outcome,
    Payment,
    Stage,
    State,
    Verdict,
    get_known_verdict,
    list_start_touches,
)
from tollgate.steps import (
    SUCCESS_CODES,
    BrokenSeal,
    House,
    Route,
    choose_route,
    dispatch,
    get_wire_word,
    keep_answer,
    settle_decided,
    settle_sealed,
    start_after,
    trust,
    weigh_lateness,
)
from tollgate.store import (
    Job,
    find_authentication,
    find_claim_of,
    find_payment,
    finish_job,
    settle_follow_up,
    settle_payment,
    steps_close_authentication,
    steps_end_authentication,
    steps_finish_job,
    steps_settle,
    steps_start_follow_up,
)
from tollgate.values import PaymentId

_SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")
OUT_OF_TIME = Verdict(outcome=Outcome.DECLINED, code="100.396.103")
"""What waited for its shopper in vain."""


async def settle_overdue(house: House, started: Payment) -> None:
    """An attempt past its deadline has nobody working on it and a fate nobody knows; the table says what follows.

    Unless its result was known before it was written: then it only has to be written.
    """
    verdict = get_known_verdict(started) if started.is_decided else _SILENT
    settlement = settle_sealed(house, started, verdict)
    stored = await find_claim_of(house.database, started)
    answer = answer_payment(settlement.payment, house.envelope)
    kept = keep_answer(house, stored, started.merchant_id, started.id, answer)
    # Refused where the attempt's own process was faster after all, and then that is the truth.
    write = settle_payment if started.chain_id is None else settle_follow_up
    await write(house.database, settlement, kept)


async def run_errand(house: House, job: Job) -> bool:
    """True when the errand is done and its job gone; False asks for another try later."""
    payment = await find_payment(house.database, job.merchant_id, PaymentId(job.subject_id))
    if payment is None:
        raise LookupError(f"job {job.id} speaks of a payment that does not exist")
    trust(house, payment)
    if job.topic == Errand.EXPIRE:
        # Nobody is asked, so it happens although an address was removed meanwhile.
        return await expire_waiting(house, job, payment)
    if job.topic == Errand.SETTLE:
        if payment.state is State.STARTED:
            await settle_overdue(house, payment)
        return await finish_job(house.database, job)
    channel = house.directory.get_channel(payment.channel_id)
    route = choose_route(house, channel, payment.test_mode, payment.brand)
    return await _ERRANDS[Errand(job.topic)](house, job, payment, route)


async def reverse_doubtful(house: House, job: Job, payment: Payment, route: Route) -> bool:
    """Reverses a payment that was answered as failed, and no other, whatever the job says."""
    if payment.state is not State.DECLINED:
        raise BrokenSeal(f"job {job.id} reverses a payment that did not fail: run `tollgate verify`")
    exchange = route.connector.reverse(payment.id)
    verdict = await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s)
    if verdict.outcome is not Outcome.APPROVED:
        return False
    reversal = make_reversal(house, payment, verdict)
    steps = steps_start_follow_up(reversal, list_start_touches(reversal, None, payment.id))
    if not await house.database.write([*steps_finish_job(job), *steps]):
        return False
    await settle_decided(house, reversal)
    return True


async def inquire_open(house: House, job: Job, payment: Payment, route: Route) -> bool:
    return await _resolve(house, job, payment, route, route.connector.inquire(payment.id, route.approved_code))


async def repeat_open(house: House, job: Job, payment: Payment, route: Route) -> bool:
    exchange = route.connector.repeat(
        payment,
        get_wire_word(payment),
        route.approved_code,
        is_final=says_final(payment.echo),
        was_accepted=payment.state is State.WAITING,
    )
    return await _resolve(house, job, payment, route, exchange)


async def _resolve(house: House, job: Job, payment: Payment, route: Route, exchange: Exchange) -> bool:
    if payment.state not in OPEN_STATES:
        # Decided by another way meanwhile; there is nothing left to ask.
        return await finish_job(house.database, job)
    verdict = await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s)
    verdict = await weigh_lateness(house, payment, verdict)
    if verdict.outcome not in DECIDED:
        return False
    settlement = settle_sealed(house, payment, verdict)
    return await house.database.write([*steps_finish_job(job), *steps_settle(settlement, expected=payment.state)])


async def expire_waiting(house: House, job: Job, payment: Payment) -> bool:
    """The shopper did not come back in time. What was kept for the way back is wiped, whatever the payment became.

    A money message that is under way has its own end; until then it is looked at again. One that the acquirer has not
    decided yet is waited for by another errand.
    """
    if payment.state is State.STARTED:
        return False
    row = await find_authentication(house.database, payment.merchant_id, payment.id)
    if payment.state is not State.WAITING or (row is not None and row.stage is Stage.CLOSED):
        closing = steps_close_authentication(payment.merchant_id, payment.id)
        return await house.database.write([*steps_finish_job(job), *closing])
    settlement = settle_sealed(house, payment, OUT_OF_TIME)
    # Without a row nobody can come back, and nothing was ever sent.
    ending = steps_end_authentication(payment.merchant_id, payment.id) if row else []
    return await house.database.write(
        [*steps_finish_job(job), *steps_settle(settlement, expected=State.WAITING), *ending]
    )


# What is asked of somebody outside.
_ERRANDS: dict[Errand, Callable[[House, Job, Payment, Route], Awaitable[bool]]] = {
    Errand.REVERSE: reverse_doubtful,
    Errand.INQUIRE: inquire_open,
    Errand.REPEAT: repeat_open,
}


def make_reversal(house: House, payment: Payment, verdict: Verdict) -> Payment:
    """The reversal is a transaction of its own, so that reports show both."""
    return msgspec.structs.replace(
        start_after(house, payment, "RV", payment.ndc),
        merchant_transaction_id=payment.merchant_transaction_id,
        card=payment.card,
        echo=keep_references(payment.echo),
        action=Action.TECHNICAL_REVERSAL,
        result_code=SUCCESS_CODES[payment.test_mode],
        details=verdict.details,
    )
