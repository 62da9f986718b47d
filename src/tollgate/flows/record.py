"""Recording what happened without being asked: a receipt, a chargeback, its reversal.

The fact is certain, so nothing is sent; the same rows decide what it moves, and a fact that fits nothing is refused.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.flows.follow_up import find_named
from tollgate.payments import Channel, Link, Payment, Refused, Wish, judge
from tollgate.steps import (
    SUCCESS_CODES,
    House,
    make_deep_link,
    make_start_steps,
    make_terms,
    plan_attempt,
    settle_decided,
    start_after,
)
from tollgate.values import Conflict, Money, Refusal


async def record(
    house: House, kind: str, named_id: str, channel: Channel, amount: int | None, code: str | None, ndc: str
) -> Payment:
    """`code` is the notice it came with; without one it reads as a success."""
    for _ in range(LIMITS.reservation_tries_max):
        named = await find_named(house, kind, named_id, channel)
        link = await make_deep_link(house, named)
        money = None if amount is None else Money(amount, named.money.currency)
        decision = judge(Wish(kind=kind, money=money), link, make_terms(house, channel))
        if isinstance(decision, Refused):
            raise Refusal(get_result(decision.code))
        result_code = code or SUCCESS_CODES[named.test_mode]
        attempt = plan_attempt(describe(house, kind, link, ndc, result_code), decision)
        if await house.database.write(make_start_steps(attempt, link, decision)):
            return (await settle_decided(house, attempt)).payment
    raise Conflict(get_result("800.600.100"), "too many requests about this payment at once")


def describe(house: House, kind: str, link: Link, ndc: str, result_code: str) -> Payment:
    return msgspec.structs.replace(start_after(house, link.named, kind, ndc), result_code=result_code)
