"""Follow-ups as the flows plan and write them, and chains that are checked afterwards."""

from __future__ import annotations

from typing import Any

from databases.samples import MERCHANT, NOON, make_completion, make_payment
from tollgate.payments.chain import (
    ChainContext,
    FollowUpRequest,
    Plan,
    Terms,
    count_chain,
    decide_follow_up,
    list_start_changes,
)
from tollgate.payments.completion import complete
from tollgate.payments.payment import IdempotencyKey, Outcome, Payment, Verdict
from tollgate.store.database import Database
from tollgate.store.payments import complete_payment, find_payment, list_chain, start_follow_up, start_payment
from tollgate.values import DAY, Money

TERMS = Terms(now=NOON, authorization_lifetime=7 * DAY, captures_max=12, rebills_max=98)
APPROVED = Verdict(outcome=Outcome.APPROVED, code="000.100.110")
DECLINED = Verdict(outcome=Outcome.DECLINED, code="800.100.151")
CHAIN_MAX = 1000


async def begin(db: Database, payment_type: str, amount: int = 10_000, **changes: Any) -> Payment:
    payment = make_payment(payment_type=payment_type, money=Money(amount, "EUR"), created_at=NOON, **changes)
    await start_payment(db, payment, None, None)
    await complete_payment(db, make_completion(payment), None)
    return await read(db, payment.id)


async def read(db: Database, payment_id: str) -> Payment:
    payment = await find_payment(db, MERCHANT, payment_id)
    assert payment is not None
    return payment


def plan_attempt(named: Payment, first: Payment, request: FollowUpRequest) -> tuple[Payment, Plan]:
    """Plans an attempt as the flows do, from what was read before the write."""
    plan = decide_follow_up(request, ChainContext(named=named, money_source=named, first=first), TERMS)
    assert isinstance(plan, Plan), plan
    attempt = make_payment(
        payment_type=request.payment_type,
        money=plan.money,
        action=plan.following.action,
        releases=plan.releases,
        closes=plan.closes,
        referenced_id=named.id,
        chain_id=named.first_id,
    )
    return attempt, plan


async def reserve(
    db: Database, attempt: Payment, plan: Plan, named: Payment, key: IdempotencyKey | None = None
) -> bool:
    return bool(await start_follow_up(db, attempt, list_start_changes(attempt, plan, named.id), key))


async def follow(
    db: Database, named: Payment, payment_type: str, amount: int, verdict: Verdict = APPROVED, **request: Any
) -> Payment:
    first = named if named.chain_id is None else await read(db, named.chain_id)
    attempt, plan = plan_attempt(
        named, first, FollowUpRequest(payment_type=payment_type, money=Money(amount, "EUR"), **request)
    )
    assert await reserve(db, attempt, plan, named)
    return await finish(db, attempt, verdict)


async def finish(db: Database, attempt: Payment, verdict: Verdict = APPROVED) -> Payment:
    started = await read(db, attempt.id)
    assert await complete_payment(db, complete(started, verdict, started.created_at + 9))
    return await read(db, attempt.id)


async def check_chain(db: Database, first_id: str) -> dict[str, Payment]:
    """Numbered without gaps, and every balance is what the transactions add up to."""
    rows = await list_chain(db, MERCHANT, first_id, CHAIN_MAX)
    chain: dict[str, Payment] = {row.id: row for row in rows}
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert {row.id: row.balance for row in rows} == count_chain(rows)
    return chain
