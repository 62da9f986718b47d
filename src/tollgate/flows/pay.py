"""The story of a payment: write, send, write, answer.

A process killed anywhere in it leaves a row that reconcile finishes.
"""

from __future__ import annotations

from tollgate.connectors import card
from tollgate.contract import Answer, answer_payment
from tollgate.flows.idempotency import answer_taken_key
from tollgate.payments import Channel, Claim, Order, Outcome, Payment, State, Verdict
from tollgate.steps import House, Route, choose_route, dispatch, get_payment, settle_sealed
from tollgate.store import settle_payment, start_payment
from tollgate.values import SECOND, PaymentId, make_id
from tollgate.vault import name_owner, seal_account


async def pay(house: House, order: Order, channel: Channel, ndc: str, claim: Claim | None) -> Answer:
    route = choose_route(house, channel, order.test_mode)
    started = start_attempt(house, order, channel, ndc)
    owner = name_owner("payment", started.merchant_id, started.id)
    sealed = seal_account(order.account, owner=owner, keyring=house.keyring)
    if not await start_payment(house.database, started, sealed, claim):
        return await answer_taken_key(house, claim)
    verdict = await ask(house, order, started, route)
    settlement = settle_sealed(house, started, verdict)
    answer = answer_payment(settlement.payment, house.envelope)
    if await settle_payment(house.database, settlement, answer if claim else None):
        return answer
    # Reconcile was faster: the attempt outlived its deadline, so what it decided is the truth.
    return answer_payment(await get_payment(house, started, started.id), house.envelope)


def start_attempt(house: House, order: Order, channel: Channel, ndc: str) -> Payment:
    return Payment(
        id=PaymentId(make_id(house.chance)),
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        kind=order.kind,
        state=State.STARTED,
        money=order.money,
        brand=order.brand,
        method=order.method,
        descriptor=order.descriptor,
        short_id=order.short_id,
        ndc=ndc,
        created_at=house.clock.now(),
        deadline_at=house.clock.wall() + int(house.patience_s * SECOND),
        test_mode=order.test_mode,
        merchant_transaction_id=order.merchant_transaction_id,
        card=order.face,
        echo=order.echo,
    )


async def ask(house: House, order: Order, started: Payment, route: Route) -> Verdict:
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    exchange = card.charge(order, started.id, route.approved_code)
    return await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s)
