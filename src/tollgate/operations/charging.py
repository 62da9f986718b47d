"""The money message of a first payment, and the second write with which it ends.

Whether a shopper has to prove something before is the story's affair.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, answer_payment, tell_registration, write_shopper_token
from tollgate.operations.app import App
from tollgate.operations.chaining import get_payment
from tollgate.operations.dispatch import dispatch
from tollgate.operations.keeping import keep_answer
from tollgate.operations.lateness import check_lateness
from tollgate.operations.network_tokens import Means, use_network_token
from tollgate.operations.route import Route
from tollgate.operations.sealing import complete_signed
from tollgate.payments import IdempotencyKey, Order, Outcome, Payment, State, Verdict
from tollgate.store import complete_payment


class FateUnknown(Exception):
    """A payment was started and its result could not be written.

    The answer must not invite a retry: the reconcile worker settles the payment later.
    """

    def __init__(self, payment_id: str) -> None:
        super().__init__(f"the result of payment {payment_id} could not be written; it will be settled by reconcile")


_CHECKS = 2
"""Of an approval: another that pays for the same thing may come in between, once."""


def make_shopper_url(app: App, payment: Payment, key: bytes = b"") -> str:
    """The page by which a shopper comes back to a payment."""
    return f"{app.base_url}/v1/shopper/{write_shopper_token(payment.merchant_id, payment.id, key)}"


async def charge(app: App, order: Order, started: Payment, route: Route) -> Verdict:
    """With the network's token in place of a stored card's number, where there is a good one."""
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    means = await use_network_token(app, order, started) if tell_registration(started.echo) else Means(order)
    back_url = make_shopper_url(app, started) if order.return_url else ""
    exchange = route.connector.charge(means.order, started.id, route.approved_code, back_url=back_url)
    verdict = await dispatch(exchange, route.wire, timeout_s=app.acquirer_timeout_s - means.spent_s)
    return msgspec.structs.replace(verdict, details={**verdict.details, **means.told}) if means.told else verdict


async def conclude(app: App, started: Payment, verdict: Verdict, idempotency_key: IdempotencyKey | None) -> Answer:
    found = started
    for _ in range(_CHECKS):
        completion = complete_signed(app, started, await check_lateness(app, started, verdict))
        answer = answer_payment(completion.payment, app.envelope)
        kept = keep_answer(app, idempotency_key, started.merchant_id, started.id, answer)
        if await complete_payment(app.database, completion, kept):
            return answer
        found = await get_payment(app, started, started.id)
        if found.state is not State.STARTED:
            break
    # Reconcile was faster: the attempt outlived its deadline, so what it decided is the truth.
    return answer_payment(found, app.envelope)
