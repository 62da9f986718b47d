"""The story of what follows a payment: judge, reserve and write, send, write, answer.

What is refused is written down too, so that the merchant finds it in reports; nothing of it is sent.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import BRANDS, LIMITS, get_result
from tollgate.contract import Answer, answer_payment, check_lifecycle
from tollgate.flows.idempotency import find_earlier_answer
from tollgate.flows.look_up import look_up, look_up_registration
from tollgate.payments import (
    SYSTEM_ONLY,
    Channel,
    Claim,
    FollowUp,
    Link,
    Payment,
    Plan,
    Refused,
    Verdict,
    get_known_verdict,
    judge,
)
from tollgate.steps import (
    FateUnknown,
    House,
    Route,
    choose_route,
    dispatch,
    get_payment,
    get_wire_word,
    keep_answer,
    make_link,
    make_start_steps,
    make_terms,
    make_wish,
    plan_attempt,
    refuse_exposed_payment,
    settle_sealed,
    start_after,
)
from tollgate.store import Damaged, Unavailable, settle_follow_up
from tollgate.values import Conflict, Money, Refusal

_UNKNOWN = "700.400.580"
_UNKNOWN_WHEN_LENIENT = {"CP": "700.400.510", "RV": "700.400.530", "RF": "600.200.500"}
_IS_REGISTRATION = "100.350.201"
_OTHER_CHANNEL = "700.400.700"
_CHAIN_FULL = "700.500.001"
_NOT_FOR_BRAND = "600.200.310"


async def follow_up(
    house: House, request: FollowUp, named_id: str, channel: Channel, ndc: str, claim: Claim | None
) -> Answer:
    for _ in range(LIMITS.reservation_tries_max):
        named = await find_named(house, request.kind, named_id, channel)
        route = choose_route(house, channel, named.test_mode, named.brand)
        link = await make_link(house, named)
        check_lifecycle(request.lifecycle_id, named.lifecycle_id or link.first.lifecycle_id)
        await refuse_exposed_payment(house, link.first, request.echo, claim)
        decision = decide(house, request, link, channel)
        refuse_full_chain(link, decision)
        attempt = plan_attempt(start_follow_up(house, request, named, ndc), decision)
        if await house.database.write(make_start_steps(attempt, link, decision, claim)):
            try:
                return await carry_out(house, request, attempt, route, claim)
            except (Unavailable, Damaged) as fault:
                raise FateUnknown(attempt.id) from fault
        earlier = await find_earlier_answer(house, claim)
        if earlier is not None:
            return earlier
        # A neighbour moved the balance between reading and writing, so what may be is judged again.
    raise Conflict(get_result("800.600.100"), "too many requests about this payment at once")


async def find_named(house: House, kind: str, named_id: str, channel: Channel) -> Payment:
    """Another merchant's payment is as unknown as none."""
    named = await look_up(house, channel.merchant_id, named_id)
    if named is None and await look_up_registration(house, channel.merchant_id, named_id) is not None:
        raise Refusal(get_result(_IS_REGISTRATION))
    if named is None:
        lenient_code = _UNKNOWN_WHEN_LENIENT.get(kind, _UNKNOWN)
        raise Refusal(get_result(lenient_code if channel.is_lenient else _UNKNOWN))
    if named.channel_id != channel.id:
        raise Refusal(get_result(_OTHER_CHANNEL))
    return named


def decide(house: House, request: FollowUp, link: Link, channel: Channel) -> Plan | Refused:
    if request.kind in SYSTEM_ONLY:
        return Refused(SYSTEM_ONLY[request.kind])
    if request.kind not in BRANDS[link.named.brand].list_kinds(lenient=channel.is_lenient):
        return Refused(_NOT_FOR_BRAND)
    return judge(make_wish(request, link.named), link, make_terms(house, channel, link.named))


def refuse_full_chain(link: Link, decision: Plan | Refused) -> None:
    """A chain keeps half of its room for what may be: whoever asks again and again fills the other half at most."""
    length = link.first.balance.chain_length
    if isinstance(decision, Refused) and length >= LIMITS.chain_max // 2:
        raise Refusal(get_result(decision.code))
    if length >= LIMITS.chain_max:
        raise Refusal(get_result(_CHAIN_FULL))


def start_follow_up(house: House, request: FollowUp, named: Payment, ndc: str) -> Payment:
    bare = start_after(house, named, request.kind, ndc)
    return msgspec.structs.replace(
        bare,
        money=find_shown_money(request, named),
        descriptor=request.descriptor,
        short_id=request.short_id,
        merchant_transaction_id=request.merchant_transaction_id,
        lifecycle_id=request.lifecycle_id or bare.lifecycle_id,
        echo={**bare.echo, **request.echo},
    )


def find_shown_money(request: FollowUp, named: Payment) -> Money:
    """What a refused request shows; one that is accepted has its amount from its plan."""
    if request.amount is None:
        return Money(named.left or named.money.hundredths, named.money.currency)
    return Money(request.amount, request.currency or named.money.currency)


async def carry_out(house: House, request: FollowUp, attempt: Payment, route: Route, claim: Claim | None) -> Answer:
    # Read again, because its number within the chain was given by the store.
    started = await get_payment(house, attempt, attempt.id)
    verdict = get_known_verdict(started) if started.is_decided else await ask(house, request, started, route)
    settlement = settle_sealed(house, started, verdict)
    answer = answer_payment(settlement.payment, house.envelope)
    kept = keep_answer(house, claim, started.merchant_id, started.id, answer)
    if await settle_follow_up(house.database, settlement, kept):
        return answer
    # Reconcile was faster: the attempt outlived its deadline, so what it decided is the truth.
    return answer_payment(await get_payment(house, started, started.id), house.envelope)


async def ask(house: House, request: FollowUp, started: Payment, route: Route) -> Verdict:
    exchange = route.connector.follow_up(
        started, get_wire_word(started), route.approved_code, is_final=request.is_final, levers=request.levers
    )
    return await dispatch(exchange, route.wire, timeout_s=house.acquirer_timeout_s)
