"""Every request about every payment gets a plan or a code, and the guards of its balance allow what is planned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog import KINDS, RESULTS
from tollgate.payments import (
    NATURES,
    REFUSALS,
    Action,
    Balance,
    Link,
    Payment,
    Plan,
    Refused,
    State,
    TestMode,
    Wish,
    judge,
    list_settle_touches,
    list_start_touches,
)
from tollgate.payments.balance import Door
from tollgate.values import DAY, Money
from unit.payments.samples import TERMS, add, holds, link_alone, make_payment, move, start

AMOUNTS = (None, 1, 4_000, 9_999, 10_000, 10_001, 14_000, 10**12)
BALANCES = [
    Balance(),
    Balance(drawn=4_000, draws=1),
    Balance(held=4_000, draws=1),
    Balance(drawn=6_000, held=4_000, draws=2),
    Balance(drawn=10_000, chain_net=10_000),
    Balance(drawn=10_000, chain_net=-10_000),
    Balance(added=4_000, drawn=13_999),
    Balance(disputed=10_000, chain_net=-10_000),
    Balance(disputed=1, chain_net=-20_000),
    Balance(chain_net=-5_000),
    Balance(draws=98),
    *(Balance(closed=sum(doors)) for count in range(1, 5) for doors in combinations(Door, count)),
    *(Balance(closed=2 * door) for door in Door),
]
PRACTICES = {"PA": ("INCREMENTAL_AUTH", "REAUTHORIZATION", None)}


def list_wishes(kind: str) -> Iterator[Wish]:
    for amount, practice, is_final in product(AMOUNTS, PRACTICES.get(kind, (None,)), (False, True)):
        money = None if amount is None else Money(amount, "EUR")
        yield Wish(kind=kind, money=money, practice=practice, is_final=is_final)
    yield Wish(kind=kind, money=Money(1, "USD"))
    yield Wish(kind=kind, money=Money(1, "EUR"), test_mode=TestMode.EXTERNAL)
    yield Wish(kind=kind, money=Money(1, "EUR"), test_mode=TestMode.INTERNAL)
    yield Wish(kind=kind, money=Money(1, "EUR"), objection="100.550.300")


def list_links() -> Iterator[Link]:
    """Every type in every state with every balance, at the head of its chain and further down."""
    for kind, state, balance, age in product(NATURES, State, BALANCES, (0, 8 * DAY)):
        if age and balance.closed:
            continue
        changes: dict[str, Any] = {"state": state, "balance": balance, "created_at": TERMS.now - age}
        yield link_alone(make_payment(kind, **changes))
        first = make_payment("PA", balance=Balance(drawn=10_000, chain_net=balance.chain_net, chain_length=2))
        named = add(first, kind, 10_000, **{**changes, "balance": replace(balance, chain_net=0)})
        yield Link(named=named, bearer=named, first=first)


LINKS = list(list_links())


@pytest.mark.parametrize("kind", REFUSALS)
def test_every_request_about_every_payment_has_an_answer_and_every_plan_can_be_kept_and_undone(kind: str) -> None:
    wishes = list(list_wishes(kind))
    plans = 0
    for link, wish in product(LINKS, wishes):
        decision = judge(wish, link, TERMS)
        if isinstance(decision, Refused):
            assert decision.code in RESULTS
            assert RESULTS[decision.code].http_status == 400
            continue
        plans += 1
        check_plan(decision, link, wish)
    assert plans > 0


def check_plan(plan: Plan, link: Link, wish: Wish) -> None:
    assert plan.following.kind == wish.kind
    assert plan.money.currency == link.named.money.currency
    assert plan.releases >= 0
    assert link.named.state is State.APPROVED

    balances: dict[str, Balance] = {payment.id: payment.balance for payment in (link.named, link.bearer, link.first)}
    payments = {payment.id: payment for payment in (link.named, link.bearer, link.first)}
    attempt = start(link, plan, wish.kind)
    reserved = list_start_touches(attempt, plan, link.bearer.id)

    assert all(holds(payments[touch.payment_id], touch) for touch in reserved), (plan, link.named.balance)
    check_settled(attempt, move(balances, reserved), balances, link)


def check_settled(attempt: Payment, reserved: dict[str, Balance], before: dict[str, Balance], link: Link) -> None:
    if attempt.is_decided:
        # A fact cannot be undone, and has moved everything when it was written.
        assert list_settle_touches(attempt, replace(attempt, state=State.APPROVED)) == []
        return
    declined = list_settle_touches(attempt, replace(attempt, state=State.DECLINED))
    undone = move(reserved, declined)
    first = before[link.first.id]

    assert undone == before | {link.first.id: replace(undone[link.first.id], chain_length=first.chain_length + 1)}
    assert undone[link.first.id].chain_net == first.chain_net

    kept = move(reserved, list_settle_touches(attempt, replace(attempt, state=State.APPROVED)))
    after = replace(link.named, balance=kept[link.named.id])
    assert after.left == replace(link.named, balance=reserved[link.named.id]).left + _count_added(attempt)
    assert after.balance.held == link.named.balance.held
    assert after.balance.closed == link.named.balance.closed + attempt.closes


@pytest.mark.parametrize("kind", REFUSALS)
def test_guards_let_through_only_what_would_be_planned_again(kind: str) -> None:
    """However old the balance was that a plan was made from: what its guards allow today, judging today allows too."""
    barred = 0
    wishes = [wish for wish in list_wishes(kind) if wish.objection is None]
    for named_kind, wish, before in product(KINDS[kind].follows, wishes, BALANCES):
        link = link_with_bearer(named_kind, before)
        plan = judge(wish, link, TERMS)
        if isinstance(plan, Refused):
            continue
        touches = list_start_touches(start(link, plan, kind), plan, link.bearer.id)
        for today in BALANCES:
            moved = move_named(link, today)
            payments = {payment.id: payment for payment in (moved.first, moved.bearer, moved.named)}
            if not all(holds(payments[touch.payment_id], touch) for touch in touches):
                barred += 1
                continue
            again = judge(replace(wish, money=plan.money), moved, TERMS)
            assert isinstance(again, Plan), (wish, before, today)
            assert (again.money, again.releases) == (plan.money, plan.releases), (wish, before, today)
    assert barred > 0


def link_with_bearer(kind: str, balance: Balance) -> Link:
    """What only moved the money of another payment has that one behind it."""
    if kind not in ("RF", "CR"):
        return link_alone(make_payment(kind, balance=balance))
    debit = make_payment("DB")
    return Link(named=add(debit, kind, 10_000, balance=balance), bearer=debit, first=debit)


def move_named(link: Link, balance: Balance) -> Link:
    named = replace(link.named, balance=balance)
    return replace(link, named=named) if link.bearer is not link.named else link_alone(named)


def _count_added(attempt: Payment) -> int:
    return attempt.money.hundredths if attempt.action is Action.INCREMENT else 0


@pytest.mark.parametrize("action", [Action.INCREMENT, Action.RETURN])
@pytest.mark.parametrize("kind", REFUSALS)
def test_nothing_follows_what_only_changed_another_payment(action: Action, kind: str) -> None:
    named = add(make_payment("DB"), "PA" if action is Action.INCREMENT else "CB", 100, action=action)

    decisions = [judge(wish, link_alone(named), TERMS) for wish in list_wishes(kind)]

    assert set(decisions) == {Refused(REFUSALS[kind].misfit)}


def test_every_door_stands_in_the_way_of_something() -> None:
    """Of two payments that differ by one closed door only, some request tells them apart."""
    for door in Door:
        told_apart = [
            wish.kind
            for named_kind, kind in product(NATURES, REFUSALS)
            for wish in list_wishes(kind)
            if isinstance(judge(wish, link_alone(make_payment(named_kind)), TERMS), Plan)
            and isinstance(
                judge(wish, link_alone(make_payment(named_kind, balance=Balance(closed=door))), TERMS), Refused
            )
        ]
        assert told_apart, door
