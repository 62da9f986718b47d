"""The money message of a first payment, and the second write with which it ends.

Whether a shopper has to prove something before is the story's affair.
"""

from __future__ import annotations

import msgspec

from tollgate.contract import Answer, answer_payment, tell_registration, write_ticket
from tollgate.payments import Claim, Order, Outcome, Payment, State, Verdict
from tollgate.steps.chaining import get_payment
from tollgate.steps.dispatch import dispatch
from tollgate.steps.house import House
from tollgate.steps.keeping import keep_answer
from tollgate.steps.lateness import weigh_lateness
from tollgate.steps.network_tokens import Means, use_network_token
from tollgate.steps.route import Route
from tollgate.steps.sealing import settle_sealed
from tollgate.store import settle_payment


class FateUnknown(Exception):
    """A payment was started and its result could not be written.

    The answer must not invite a retry: the reconcile worker settles the payment later.
    """

    def __init__(self, payment_id: str) -> None:
        super().__init__(f"the result of payment {payment_id} could not be written; it will be settled by reconcile")


_WEIGHINGS = 2
"""Of an approval: another that pays for the same thing may come in between, once."""


def make_shopper_url(house: House, payment: Payment, key: bytes = b"") -> str:
    """The page by which a shopper comes back to a payment."""
    return f"{house.base_url}/v1/shopper/{write_ticket(payment.merchant_id, payment.id, key)}"


async def charge(house: House, order: Order, started: Payment, route: Route) -> Verdict:
    """With the network's token in place of a stored card's number, where there is a good one."""
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    means = await use_network_token(house, order, started) if tell_registration(started.echo) else Means(order)
    back_url = make_shopper_url(house, started) if order.return_url else ""
    exchange = route.connector.charge(means.order, started.id, route.approved_code, back_url=back_url)
    verdict = await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s - means.spent_s)
    return msgspec.structs.replace(verdict, details={**verdict.details, **means.told}) if means.told else verdict


async def conclude(house: House, started: Payment, verdict: Verdict, claim: Claim | None) -> Answer:
    found = started
    for _ in range(_WEIGHINGS):
        settlement = settle_sealed(house, started, await weigh_lateness(house, started, verdict))
        answer = answer_payment(settlement.payment, house.envelope)
        kept = keep_answer(house, claim, started.merchant_id, started.id, answer)
        if await settle_payment(house.database, settlement, kept):
            return answer
        found = await get_payment(house, started, started.id)
        if found.state is not State.STARTED:
            break
    # Reconcile was faster: the attempt outlived its deadline, so what it decided is the truth.
    return answer_payment(found, house.envelope)
