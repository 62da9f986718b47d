"""Recording what happened without being asked: a receipt, a chargeback, its reversal.

The fact is certain, so nothing is sent; the same rows decide what it moves, and a fact that fits nothing is refused.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS, get_result
from tollgate.flows.follow_up import find_named, start_follow_up
from tollgate.operations import (
    SUCCESS_CODES,
    App,
    complete_decided,
    make_follow_up_request,
    make_terms,
    plan_attempt,
    read_chain_context,
    refuse_exposed_payment,
    start_writes,
)
from tollgate.payments import Channel, FollowUp, Payment, Refused, judge
from tollgate.values import Conflict, Refusal


async def record(
    app: App, fact: FollowUp, named_id: str, channel: Channel, ndc: str, notice: str | None = None
) -> Payment:
    """`notice` is the code it came with; without one it reads as a success."""
    for _ in range(LIMITS.reservation_tries_max):
        named = await find_named(app, fact.payment_type, named_id, channel)
        context = await read_chain_context(app, named)
        await refuse_exposed_payment(app, context.first, fact.echo, None)
        decision = judge(make_follow_up_request(fact, named), context, make_terms(app, channel, named))
        if isinstance(decision, Refused):
            raise Refusal(get_result(decision.code))
        result_code = notice or SUCCESS_CODES[named.test_mode]
        bare = msgspec.structs.replace(start_follow_up(app, fact, named, ndc), result_code=result_code)
        attempt = plan_attempt(bare, decision)
        if await app.database.write(start_writes(attempt, context, decision)):
            return await complete_decided(app, attempt)
    raise Conflict(get_result("800.600.100"), "too many requests about this payment at once")
