"""Hooking a transaction into its chain: where it hooks in, under which terms, and the unit that reserves and starts it.

Whether it may follow is judged by payments; whether anything is sent is the story's affair.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS
from tollgate.contract import count_captures, find_fraction_objection, inherit_echo
from tollgate.operations.app import App
from tollgate.operations.sealing import complete_signed, trust
from tollgate.payments import (
    FOLLOWINGS,
    UNTOUCHED,
    ChainContext,
    Channel,
    FollowUp,
    FollowUpRequest,
    IdempotencyKey,
    Payment,
    Plan,
    Refused,
    State,
    Terms,
    find_money_source,
    get_known_verdict,
    list_start_changes,
)
from tollgate.store import Write, complete_follow_up, find_payment, list_chain, start_follow_up_writes
from tollgate.values import SECOND, Money, PaymentId, make_id


async def make_chain_context(app: App, named: Payment) -> ChainContext:
    """For what a merchant may ask: the money is always that of the payment named."""
    first = named if named.chain_id is None else await get_payment(app, named, named.chain_id)
    return ChainContext(named=trust(app, named), money_source=named, first=first)


async def read_chain_context(app: App, named: Payment) -> ChainContext:
    """For disputes and returns, which may move the money of a payment further down the chain."""
    rows = await list_chain(app.database, named.merchant_id, named.first_id, LIMITS.chain_rows_max)
    chain: dict[str, Payment] = {row.id: row for row in rows}
    named, money_source, first = (
        trust(app, row) for row in (chain[named.id], find_money_source(named, chain), rows[0])
    )
    return ChainContext(named=named, money_source=money_source, first=first)


def make_follow_up_request(request: FollowUp, named: Payment) -> FollowUpRequest:
    currency = request.currency or named.money.currency
    money = None if request.amount is None else Money(request.amount, currency)
    return FollowUpRequest(
        payment_type=request.payment_type,
        money=money,
        currency=request.currency,
        practice=request.practice,
        is_final=request.is_final,
        test_mode=request.test_mode,
        brand=request.brand,
        # Who names no currency means that of the payment, so only here it is known whether it has such a fraction.
        objection=request.objection or (find_fraction_objection([money]) if money else None),
    )


def make_terms(app: App, channel: Channel, named: Payment) -> Terms:
    return Terms(
        now=app.clock.now(),
        authorization_lifetime=app.authorization_lifetime,
        captures_max=count_captures(named.echo) or LIMITS.captures_max,
        rebills_max=channel.rebills_max,
    )


def start_after(app: App, named: Payment, payment_type: str, ndc: str) -> Payment:
    """The bare attempt of a later transaction, with all that it inherits from the payment it names."""
    return msgspec.structs.replace(
        named,
        id=PaymentId(make_id(app.random_bytes)),
        payment_type=payment_type,
        state=State.STARTED,
        ndc=ndc,
        created_at=app.clock.now(),
        deadline_at=app.clock.wall() + int(app.patience_s * SECOND),
        merchant_transaction_id=None,
        referenced_id=named.id,
        chain_id=named.first_id,
        card=None,
        echo=inherit_echo(named.echo),
        result_code="",
        details={},
        completed_at=None,
        action=None,
        releases=0,
        closes=0,
        mac=None,
        balance=UNTOUCHED,
    )


def plan_attempt(attempt: Payment, decision: Plan | Refused) -> Payment:
    """A refusal is a result that is known before anything is written."""
    if isinstance(decision, Refused):
        return msgspec.structs.replace(attempt, result_code=decision.code)
    return msgspec.structs.replace(
        attempt,
        money=decision.money,
        action=decision.following.action,
        releases=decision.releases,
        closes=decision.closes,
    )


def start_writes(
    attempt: Payment, context: ChainContext, decision: Plan | Refused, idempotency_key: IdempotencyKey | None = None
) -> list[Write]:
    plan = decision if isinstance(decision, Plan) else None
    return start_follow_up_writes(attempt, list_start_changes(attempt, plan, context.money_source.id), idempotency_key)


async def complete_decided(app: App, decided: Payment) -> Payment:
    """Writes the result of what is not sent, unless reconcile was faster."""
    started = await get_payment(app, decided, decided.id)
    completion = complete_signed(app, started, get_known_verdict(started))
    if await complete_follow_up(app.database, completion):
        return completion.payment
    return await get_payment(app, decided, decided.id)


def get_wire_word(attempt: Payment) -> str:
    word = FOLLOWINGS[attempt.action].wire_word if attempt.action else None
    if word is None:
        raise LookupError(f"nothing is sent for {attempt.payment_type} {attempt.id}")
    return word


async def get_payment(app: App, near: Payment, payment_id: str) -> Payment:
    """One of the same merchant that is known to exist, and still says what was written."""
    payment = await find_payment(app.database, near.merchant_id, payment_id)
    if payment is None:
        raise LookupError(f"payment {payment_id} was written and is gone")
    return trust(app, payment)
