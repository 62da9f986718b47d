"""Hooking a transaction into its chain: where it hooks in, under which terms, and the unit that reserves and starts it.

Whether it may follow is judged by payments; whether anything is sent is the story's affair.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import LIMITS
from tollgate.contract import count_captures, find_fraction_objection, inherit_echo
from tollgate.payments import (
    FOLLOWINGS,
    UNTOUCHED,
    Channel,
    Claim,
    FollowUp,
    Link,
    Payment,
    Plan,
    Refused,
    State,
    Terms,
    Wish,
    find_bearer,
    get_known_verdict,
    list_start_touches,
)
from tollgate.steps.house import House
from tollgate.steps.sealing import settle_sealed, trust
from tollgate.store import Step, find_payment, list_chain, settle_follow_up, steps_start_follow_up
from tollgate.values import SECOND, Money, PaymentId, make_id


async def make_link(house: House, named: Payment) -> Link:
    """For what a merchant may ask: the money is always that of the payment named."""
    first = named if named.chain_id is None else await get_payment(house, named, named.chain_id)
    return Link(named=trust(house, named), bearer=named, first=first)


async def make_deep_link(house: House, named: Payment) -> Link:
    """For disputes and returns, which may move the money of a payment further down the chain."""
    rows = await list_chain(house.database, named.merchant_id, named.first_id, LIMITS.chain_rows_max)
    chain: dict[str, Payment] = {row.id: row for row in rows}
    named, bearer, first = (trust(house, row) for row in (chain[named.id], find_bearer(named, chain), rows[0]))
    return Link(named=named, bearer=bearer, first=first)


def make_wish(request: FollowUp, named: Payment) -> Wish:
    currency = request.currency or named.money.currency
    money = None if request.amount is None else Money(request.amount, currency)
    return Wish(
        kind=request.kind,
        money=money,
        currency=request.currency,
        practice=request.practice,
        is_final=request.is_final,
        test_mode=request.test_mode,
        brand=request.brand,
        # Who names no currency means that of the payment, so only here it is known whether it has such a fraction.
        objection=request.objection or (find_fraction_objection([money]) if money else None),
    )


def make_terms(house: House, channel: Channel, named: Payment) -> Terms:
    return Terms(
        now=house.clock.now(),
        authorization_lifetime=house.authorization_lifetime,
        captures_max=count_captures(named.echo) or LIMITS.captures_max,
        rebills_max=channel.rebills_max,
    )


def start_after(house: House, named: Payment, kind: str, ndc: str) -> Payment:
    """The bare attempt of a later transaction, with all that it inherits from the payment it names."""
    return msgspec.structs.replace(
        named,
        id=PaymentId(make_id(house.chance)),
        kind=kind,
        state=State.STARTED,
        ndc=ndc,
        created_at=house.clock.now(),
        deadline_at=house.clock.wall() + int(house.patience_s * SECOND),
        merchant_transaction_id=None,
        referenced_id=named.id,
        chain_id=named.first_id,
        card=None,
        echo=inherit_echo(named.echo),
        result_code="",
        details={},
        settled_at=None,
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


def make_start_steps(attempt: Payment, link: Link, decision: Plan | Refused, claim: Claim | None = None) -> list[Step]:
    plan = decision if isinstance(decision, Plan) else None
    return steps_start_follow_up(attempt, list_start_touches(attempt, plan, link.bearer.id), claim)


async def settle_decided(house: House, decided: Payment) -> Payment:
    """Writes the result of what is not sent, unless reconcile was faster."""
    started = await get_payment(house, decided, decided.id)
    settlement = settle_sealed(house, started, get_known_verdict(started))
    if await settle_follow_up(house.database, settlement):
        return settlement.payment
    return await get_payment(house, decided, decided.id)


def get_wire_word(attempt: Payment) -> str:
    word = FOLLOWINGS[attempt.action].wire_word if attempt.action else None
    if word is None:
        raise LookupError(f"nothing is sent for {attempt.kind} {attempt.id}")
    return word


async def get_payment(house: House, near: Payment, payment_id: str) -> Payment:
    """One of the same merchant that is known to exist, and still says what was written."""
    payment = await find_payment(house.database, near.merchant_id, payment_id)
    if payment is None:
        raise LookupError(f"payment {payment_id} was written and is gone")
    return trust(house, payment)
