"""What a process left behind when it died or an acquirer fell silent: settle it, then run the errand that is owed.

There is no second path: the same table decides, the same connector speaks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from tollgate.connectors import card
from tollgate.contract import answer_payment
from tollgate.payments import OPEN_STATES, Errand, Outcome, Payment, State, Verdict, settle
from tollgate.steps import SUCCESS_CODES, House, Route, choose_route, dispatch
from tollgate.store import (
    Job,
    find_payment,
    finish_job,
    settle_payment,
    steps_finish_job,
    steps_insert_payment,
    steps_settle,
)
from tollgate.values import PaymentId, make_id

_SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")


async def settle_overdue(house: House, started: Payment) -> None:
    """An attempt past its deadline has nobody working on it and a fate nobody knows; the table says what follows."""
    settlement = settle(started, _SILENT, house.clock.now())
    # Refused where the attempt's own process was faster after all, and then that is the truth.
    await settle_payment(house.database, settlement, answer_payment(settlement.payment, house.envelope))


async def run_errand(house: House, job: Job) -> bool:
    """True when the errand is done and its job gone; False asks for another try later."""
    payment = await find_payment(house.database, job.merchant_id, PaymentId(job.subject_id))
    if payment is None:
        raise LookupError(f"job {job.id} speaks of a payment that does not exist")
    route = choose_route(house, house.directory.get_channel(payment.channel_id), payment.test_mode)
    return await _ERRANDS[Errand(job.topic)](house, job, payment, route)


async def reverse_doubtful(house: House, job: Job, payment: Payment, route: Route) -> bool:
    verdict = await dispatch(card.reverse(payment.id), route.wire, timeout_s=house.acquirer_timeout_s)
    if verdict.outcome is not Outcome.APPROVED:
        return False
    reversal = make_reversal(house, payment, verdict)
    return await house.database.write([*steps_finish_job(job), *steps_insert_payment(reversal)])


async def resolve_open(house: House, job: Job, payment: Payment, route: Route) -> bool:
    if payment.state not in OPEN_STATES:
        # Decided by another way meanwhile; there is nothing left to ask.
        return await finish_job(house.database, job)
    exchange = card.inquire(payment.id, route.approved_code)
    verdict = await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s)
    if verdict.outcome not in (Outcome.APPROVED, Outcome.DECLINED):
        return False
    settlement = settle(payment, verdict, house.clock.now())
    return await house.database.write([*steps_finish_job(job), *steps_settle(settlement, expected=payment.state)])


_ERRANDS: dict[Errand, Callable[[House, Job, Payment, Route], Awaitable[bool]]] = {
    Errand.REVERSE: reverse_doubtful,
    Errand.INQUIRE: resolve_open,
}


def make_reversal(house: House, payment: Payment, verdict: Verdict) -> Payment:
    """The reversal is a transaction of its own, so that reports show both."""
    now = house.clock.now()
    return msgspec.structs.replace(
        payment,
        id=PaymentId(make_id(house.chance)),
        kind="RV",
        state=State.APPROVED,
        created_at=now,
        referenced_id=payment.id,
        echo={},
        result_code=SUCCESS_CODES[payment.test_mode],
        details=verdict.details,
        settled_at=now,
    )
