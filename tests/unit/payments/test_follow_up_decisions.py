"""Every request about every payment gets a plan or a code, and the guards of its balance allow what is planned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.results import RESULTS
from tollgate.payments import chain
from tollgate.payments.following import REFUSALS, Action
from tollgate.payments.ledger import Balance, Closure
from tollgate.payments.order import TestMode
from tollgate.payments.payment import NATURES, Payment, State
from tollgate.values import DAY, Money
from unit.payments.samples import TERMS, add, holds, link_alone, make_payment, move, start

AMOUNTS = (None, 1, 4_000, 9_999, 10_000, 10_001, 14_000, 10**12)
BALANCES = [
    Balance(),
    Balance(drawn=4_000, counted=1),
    Balance(reserved=4_000, counted=1),
    Balance(drawn=6_000, reserved=4_000, counted=2),
    Balance(drawn=10_000, chain_net=10_000),
    Balance(drawn=10_000, chain_net=-10_000),
    Balance(added=4_000, drawn=13_999),
    Balance(disputed=10_000, chain_net=-10_000),
    Balance(disputed=1, chain_net=-20_000),
    Balance(chain_net=-5_000),
    Balance(counted=98),
    *(Balance(closed=sum(closures)) for count in range(1, 5) for closures in combinations(Closure, count)),
    *(Balance(closed=2 * closure) for closure in Closure),
]
PRACTICES = {"PA": ("INCREMENTAL_AUTH", "REAUTHORIZATION", None)}


def list_requests(payment_type: str) -> Iterator[chain.FollowUpRequest]:
    for amount, practice, is_final in product(AMOUNTS, PRACTICES.get(payment_type, (None,)), (False, True)):
        money = None if amount is None else Money(amount, "EUR")
        yield chain.FollowUpRequest(payment_type=payment_type, money=money, practice=practice, is_final=is_final)
    yield chain.FollowUpRequest(payment_type=payment_type, money=Money(1, "USD"))
    yield chain.FollowUpRequest(payment_type=payment_type, money=Money(1, "EUR"), test_mode=TestMode.EXTERNAL)
    yield chain.FollowUpRequest(payment_type=payment_type, money=Money(1, "EUR"), test_mode=TestMode.INTERNAL)
    yield chain.FollowUpRequest(payment_type=payment_type, money=Money(1, "EUR"), objection="100.550.300")


def list_links() -> Iterator[chain.ChainContext]:
    """Returns every type in every state with every balance, at the head of its chain and further down."""
    for payment_type, state, balance, age in product(NATURES, State, BALANCES, (0, 8 * DAY)):
        if age and balance.closed:
            continue
        changes: dict[str, Any] = {"state": state, "balance": balance, "created_at": TERMS.now - age}
        yield link_alone(make_payment(payment_type, **changes))
        first = make_payment("PA", balance=Balance(drawn=10_000, chain_net=balance.chain_net, chain_length=2))
        named = add(first, payment_type, 10_000, **{**changes, "balance": replace(balance, chain_net=0)})
        yield chain.ChainContext(named=named, money_source=named, first=first)


LINKS = list(list_links())


@pytest.mark.parametrize("payment_type", REFUSALS)
def test_every_request_about_every_payment_has_an_answer_and_every_plan_can_be_kept_and_undone(
    payment_type: str,
) -> None:
    requests = list(list_requests(payment_type))
    plans = 0
    for context, request in product(LINKS, requests):
        decision = chain.decide_follow_up(request, context, TERMS)
        if isinstance(decision, chain.Refused):
            assert decision.code in RESULTS
            assert RESULTS[decision.code].http_status == 400
            continue
        plans += 1
        check_plan(decision, context, request)
    assert plans > 0


def check_plan(plan: chain.Plan, context: chain.ChainContext, request: chain.FollowUpRequest) -> None:
    assert plan.following.payment_type == request.payment_type
    assert plan.money.currency == context.named.money.currency
    assert plan.releases >= 0
    assert context.named.state is State.APPROVED

    balances: dict[str, Balance] = {
        payment.id: payment.balance for payment in (context.named, context.money_source, context.first)
    }
    payments = {payment.id: payment for payment in (context.named, context.money_source, context.first)}
    attempt = start(context, plan, request.payment_type)
    reserved = chain.list_start_changes(attempt, plan, context.money_source.id)

    assert all(holds(payments[balance_change.payment_id], balance_change) for balance_change in reserved), (
        plan,
        context.named.balance,
    )
    check_completed(attempt, move(balances, reserved), balances, context)


def check_completed(
    attempt: Payment, reserved: dict[str, Balance], before: dict[str, Balance], context: chain.ChainContext
) -> None:
    if attempt.is_decided:
        # A fact cannot be undone, and has moved everything when it was written.
        assert chain.list_completion_changes(attempt, replace(attempt, state=State.APPROVED)) == []
        return
    declined = chain.list_completion_changes(attempt, replace(attempt, state=State.DECLINED))
    undone = move(reserved, declined)
    first = before[context.first.id]

    assert undone == before | {context.first.id: replace(undone[context.first.id], chain_length=first.chain_length + 1)}
    assert undone[context.first.id].chain_net == first.chain_net

    kept = move(reserved, chain.list_completion_changes(attempt, replace(attempt, state=State.APPROVED)))
    after = replace(context.named, balance=kept[context.named.id])
    assert after.left == replace(context.named, balance=reserved[context.named.id]).left + _count_added(attempt)
    assert after.balance.reserved == context.named.balance.reserved
    assert after.balance.closed == context.named.balance.closed + attempt.closes


@pytest.mark.parametrize("payment_type", REFUSALS)
def test_guards_let_through_only_what_would_be_planned_again(payment_type: str) -> None:
    """However old the balance was that a plan was made from: what its guards allow today, judging today allows too."""
    barred = 0
    requests = [request for request in list_requests(payment_type) if request.objection is None]
    for named_type, request, before in product(PAYMENT_TYPES[payment_type].follows, requests, BALANCES):
        context = link_with_money_source(named_type, before)
        plan = chain.decide_follow_up(request, context, TERMS)
        if isinstance(plan, chain.Refused):
            continue
        balance_changes = chain.list_start_changes(start(context, plan, payment_type), plan, context.money_source.id)
        for today in BALANCES:
            moved = move_named(context, today)
            payments = {payment.id: payment for payment in (moved.first, moved.money_source, moved.named)}
            if not all(
                holds(payments[balance_change.payment_id], balance_change) for balance_change in balance_changes
            ):
                barred += 1
                continue
            again = chain.decide_follow_up(replace(request, money=plan.money), moved, TERMS)
            assert isinstance(again, chain.Plan), (request, before, today)
            assert (again.money, again.releases) == (plan.money, plan.releases), (request, before, today)
    assert barred > 0


def link_with_money_source(payment_type: str, balance: Balance) -> chain.ChainContext:
    """A payment that only moved the money of another has that one as its money source."""
    if payment_type not in ("RF", "CR"):
        return link_alone(make_payment(payment_type, balance=balance))
    debit = make_payment("DB")
    return chain.ChainContext(named=add(debit, payment_type, 10_000, balance=balance), money_source=debit, first=debit)


def move_named(context: chain.ChainContext, balance: Balance) -> chain.ChainContext:
    named = replace(context.named, balance=balance)
    return replace(context, named=named) if context.money_source is not context.named else link_alone(named)


def _count_added(attempt: Payment) -> int:
    return attempt.money.hundredths if attempt.action is Action.INCREMENT else 0


@pytest.mark.parametrize("action", [Action.INCREMENT, Action.RETURN])
@pytest.mark.parametrize("payment_type", REFUSALS)
def test_nothing_follows_what_only_changed_another_payment(action: Action, payment_type: str) -> None:
    named = add(make_payment("DB"), "PA" if action is Action.INCREMENT else "CB", 100, action=action)

    decisions = [chain.decide_follow_up(request, link_alone(named), TERMS) for request in list_requests(payment_type)]

    assert set(decisions) == {chain.Refused(REFUSALS[payment_type].misfit)}


def test_every_closure_forbids_something() -> None:
    """Some request tells two payments apart that differ by one closure only."""
    for closure in Closure:
        told_apart = [
            request.payment_type
            for named_type, payment_type in product(NATURES, REFUSALS)
            for request in list_requests(payment_type)
            if isinstance(chain.decide_follow_up(request, link_alone(make_payment(named_type)), TERMS), chain.Plan)
            and isinstance(
                chain.decide_follow_up(
                    request, link_alone(make_payment(named_type, balance=Balance(closed=closure))), TERMS
                ),
                chain.Refused,
            )
        ]
        assert told_apart, closure
