"""Recording what happened without being asked: a receipt, a chargeback, its reversal.

The fact is certain, so nothing is sent; the same rows decide what it moves, and a fact that fits nothing is refused.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.flows.follow_up import find_named, start_follow_up
from tollgate.payments import Channel, FollowUp, Payment, Refused, judge
from tollgate.steps import (
    SUCCESS_CODES,
    House,
    make_deep_link,
    make_start_steps,
    make_terms,
    make_wish,
    plan_attempt,
    refuse_exposed_payment,
    settle_decided,
)
from tollgate.values import Conflict, Refusal


async def record(
    house: House, fact: FollowUp, named_id: str, channel: Channel, ndc: str, notice: str | None = None
) -> Payment:
    """`notice` is the code it came with; without one it reads as a success."""
    for _ in range(LIMITS.reservation_tries_max):
        named = await find_named(house, fact.kind, named_id, channel)
        link = await make_deep_link(house, named)
        await refuse_exposed_payment(house, link.first, fact.echo, None)
        decision = judge(make_wish(fact, named), link, make_terms(house, channel, named))
        if isinstance(decision, Refused):
            raise Refusal(get_result(decision.code))
        result_code = notice or SUCCESS_CODES[named.test_mode]
        bare = msgspec.structs.replace(start_follow_up(house, fact, named, ndc), result_code=result_code)
        attempt = plan_attempt(bare, decision)
        if await house.database.write(make_start_steps(attempt, link, decision)):
            return await settle_decided(house, attempt)
    raise Conflict(get_result("800.600.100"), "too many requests about this payment at once")
