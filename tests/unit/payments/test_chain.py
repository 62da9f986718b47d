"""A chain allows follow-ups by example: bounds, times, counts, closures, disputes, and the money source."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.payments.chain import (
    ChainContext,
    FollowUpRequest,
    Plan,
    Refused,
    balance_effects,
    count_chain,
    decide_follow_up,
    get_money_source,
    list_completion_changes,
    list_start_changes,
)
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance, Closure, apply_balance_change, expand_closures
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.values import DAY, HOUR, Money
from unit.payments.samples import NOON, TERMS, add, link_alone, make_payment, start

LIFETIME = TERMS.authorization_lifetime


def request(payment_type: str, amount: int | None = None, **changes: object) -> FollowUpRequest:
    return replace(
        FollowUpRequest(payment_type=payment_type, money=None if amount is None else Money(amount, "EUR")), **changes
    )


def plan(wanted: FollowUpRequest, named: Payment, first: Payment | None = None, **terms: int) -> Plan:
    decision = decide_follow_up(
        wanted, ChainContext(named=named, money_source=named, first=first or named), replace(TERMS, **terms)
    )
    assert isinstance(decision, Plan), decision
    return decision


def refuse(wanted: FollowUpRequest, named: Payment, first: Payment | None = None, **terms: int) -> str:
    decision = decide_follow_up(
        wanted, ChainContext(named=named, money_source=named, first=first or named), replace(TERMS, **terms)
    )
    assert isinstance(decision, Refused), decision
    return decision.code


# ---- how much ----


def test_captures_draw_up_to_what_is_left_and_not_a_hundredth_more() -> None:
    named = make_payment("PA", balance=Balance(drawn=3_000, reserved=2_000))

    assert plan(request("CP", 5_000), named).money == Money(5_000, "EUR")
    assert refuse(request("CP", 5_001), named) == "700.400.100"


def test_an_increment_is_left_to_capture() -> None:
    named = make_payment("PA", balance=Balance(added=500))

    assert plan(request("CP", 10_500), named).money.hundredths == 10_500
    assert refuse(request("CP", 10_501), named) == "700.400.100"


@pytest.mark.parametrize("amount", [None, 6_000])
def test_a_reversal_of_an_authorization_takes_exactly_the_open_rest(amount: int | None) -> None:
    named = make_payment("PA", balance=Balance(drawn=4_000))

    decision = plan(request("RV", amount), named)

    assert (decision.following.action, decision.money.hundredths) == (Action.VOID, 6_000)
    assert {refuse(request("RV", other), named) for other in (1, 5_999, 6_001, 10_000)} == {"700.400.300"}


@pytest.mark.parametrize("payment_type", ["DB", "PA.CP", "CP", "RB"])
def test_a_reversal_of_money_takes_all_of_it_untouched(payment_type: str) -> None:
    named = make_payment(payment_type)
    first = named if payment_type in ("DB", "PA.CP") else make_payment("PA", balance=Balance(chain_net=10_000))

    assert plan(request("RV"), named, first).money.hundredths == 10_000
    assert plan(request("RV", 10_000), named, first).following.action is Action.REVERSAL
    assert refuse(request("RV", 9_999), named, first) == "700.400.300"
    assert refuse(request("RV"), replace(named, balance=Balance(drawn=1)), first) == "700.400.300"
    assert refuse(request("RV"), replace(named, balance=Balance(reserved=1)), first) == "700.400.300"
    assert refuse(request("RV", 9_999), replace(named, balance=Balance(drawn=1)), first) == "700.400.300"


def test_a_rebill_is_at_most_as_large_as_what_it_repeats_and_draws_nothing() -> None:
    named = make_payment("DB", balance=Balance(drawn=10_000))

    assert plan(request("RB", 10_000), named).money.hundredths == 10_000
    assert refuse(request("RB", 10_001), named) == "700.100.300"


def test_a_refund_stays_within_what_the_whole_chain_took() -> None:
    first = make_payment("PA", balance=Balance(drawn=10_000, chain_net=3_000))
    capture = add(first, "CP", 6_000, action=Action.CAPTURE)

    assert plan(request("RF", 3_000), capture, first).money.hundredths == 3_000
    assert refuse(request("RF", 3_001), capture, first) == "700.400.200"


def test_a_chargeback_is_recorded_even_where_nothing_is_left() -> None:
    named = make_payment("DB", balance=Balance(drawn=10_000, chain_net=-10_000, closed=Closure.REFUNDS))

    assert plan(request("CB"), named).money.hundredths == 10_000
    assert refuse(request("CB", 10_001), named) == "700.400.400"


def test_what_a_failed_capture_left_on_a_closed_authorization_can_still_be_reversed() -> None:
    """A reversal overtook the capture: it took the rest and set the closures, and then the capture failed."""
    closed = Closure.CAPTURES | Closure.INCREMENTS
    named = make_payment("PA", balance=Balance(drawn=9_000, closed=closed))

    again = plan(request("RV"), named)

    assert again.money.hundredths == 1_000
    assert refuse(request("CP", 1_000), named) == "700.400.100"
    assert refuse(request("RV"), make_payment("PA", balance=Balance(drawn=10_000, closed=closed))) == "700.400.300"


# ---- how often, until when ----


def test_an_authorization_may_be_captured_so_often_and_no_more() -> None:
    named = make_payment("PA", balance=Balance(counted=2))

    plan(request("CP", 1), named, captures_max=3)
    assert refuse(request("CP", 1), named, captures_max=2) == "700.400.100"


def test_the_channel_says_how_often_a_payment_may_be_rebilled() -> None:
    named = make_payment("DB", balance=Balance(counted=2))

    assert refuse(request("RB", 1), named, rebills_max=2) == "700.500.001"
    plan(request("RB", 1), named, rebills_max=3)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (request("CP", 1), "700.300.400"),
        (request("RV"), "700.300.700"),
        (request("PA", 1, practice="INCREMENTAL_AUTH"), "700.300.400"),
    ],
)
def test_an_authorization_ends_to_the_microsecond(wanted: FollowUpRequest, code: str) -> None:
    named = make_payment("PA")

    plan(wanted, named, now=NOON + LIFETIME - 1)
    assert refuse(wanted, named, now=NOON + LIFETIME) == code


def test_an_expired_authorization_may_be_renewed_and_its_receipt_may_arrive() -> None:
    named = make_payment("PA")

    plan(request("PA", 1, practice="REAUTHORIZATION"), named, now=NOON + LIFETIME)
    plan(request("RC", 1), named, now=NOON + LIFETIME)


def test_money_is_reversed_on_the_day_it_was_taken_and_refunded_on_any() -> None:
    named = make_payment("DB")
    midnight = NOON + 12 * HOUR

    plan(request("RV"), named, now=midnight - 1)
    assert refuse(request("RV"), named, now=midnight) == "700.300.700"
    plan(request("RF", 1), named, now=midnight + 400 * DAY)


# ---- closures and disputes ----


def test_a_final_capture_releases_the_rest_and_closes() -> None:
    decision = plan(request("CP", 4_000, is_final=True), make_payment("PA"))

    assert (decision.money.hundredths, decision.releases) == (4_000, 6_000)
    assert decision.closes == Closure.CAPTURES | Closure.INCREMENTS


def test_final_means_nothing_where_there_is_no_closure_to_set() -> None:
    decision = plan(request("RV", is_final=True), make_payment("PA"))

    assert (decision.releases, decision.closes) == (0, Closure.CAPTURES | Closure.INCREMENTS)


def test_a_closure_stays_until_every_payment_that_set_it_has_failed() -> None:
    raising = request("PA", 1, practice="INCREMENTAL_AUTH")

    for closers in (1, 2, 3):
        closed = make_payment("PA", balance=Balance(closed=closers * Closure.INCREMENTS))
        assert refuse(raising, closed) == "700.400.100"
        plan(request("CP", 1), closed)
    plan(raising, make_payment("PA", balance=Balance(closed=3 * Closure.CAPTURES)))


def test_no_closure_is_set_so_often_that_its_count_runs_into_the_next() -> None:
    most = LIMITS.chain_max * sum(Closure)

    for closure in Closure:
        assert most & expand_closures(closure) == LIMITS.chain_max * closure


@pytest.mark.parametrize(
    ("payment_type", "code"),
    [("RV", "700.300.600"), ("RF", "700.300.600"), ("RB", "700.300.600"), ("CB", "700.400.400")],
)
def test_a_dispute_stands_in_the_way(payment_type: str, code: str) -> None:
    assert refuse(request(payment_type, 10_000), make_payment("DB", balance=Balance(disputed=1))) == code


def test_a_repeated_chargeback_looks_at_the_payment_whose_money_it_is() -> None:
    debit = make_payment("DB")
    chargeback = add(debit, "CB", 10_000, action=Action.CHARGEBACK)
    returned = add(chargeback, "CR", 10_000, action=Action.CHARGEBACK_REVERSAL)
    disputed = replace(debit, balance=Balance(disputed=1))

    free = decide_follow_up(request("CB"), ChainContext(named=returned, money_source=debit, first=debit), TERMS)
    barred = decide_follow_up(request("CB"), ChainContext(named=returned, money_source=disputed, first=disputed), TERMS)

    assert isinstance(free, Plan)
    assert free.following.action is Action.REPEATED_CHARGEBACK
    assert barred == Refused("700.400.400")


# ---- which of several reasons ----


@pytest.mark.parametrize("state", [State.STARTED, State.WAITING, State.UNRESOLVED])
def test_what_is_still_open_is_not_followed(state: State) -> None:
    assert refuse(request("RF", 1), make_payment("DB", state=state)) == "700.400.570"


def test_a_currency_without_an_amount_must_be_that_of_the_payment_too() -> None:
    assert refuse(request("RV", currency="USD"), make_payment("DB")) == "700.100.500"
    assert plan(request("RV", currency="EUR"), make_payment("DB")).money == Money(10_000, "EUR")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"money": Money(1, "USD"), "test_mode": TestMode.EXTERNAL, "objection": "100.550.300"}, "700.100.500"),
        ({"test_mode": TestMode.EXTERNAL, "objection": "100.550.300"}, "700.100.600"),
        ({"objection": "100.550.300"}, "100.550.300"),
        ({}, "700.300.600"),
    ],
)
def test_of_several_reasons_the_first_in_order_is_answered(changes: dict[str, object], code: str) -> None:
    disputed = make_payment("DB", balance=Balance(drawn=10_000, disputed=1, closed=Closure.REFUNDS))

    assert refuse(request("RF", 99_999, **changes), disputed) == code


# ---- money source and balance effects ----


def test_the_money_of_disputes_is_found_at_their_root() -> None:
    debit = make_payment("DB")
    refund = add(debit, "RF", 4_000, action=Action.REFUND)
    back = add(refund, "CB", 4_000, action=Action.RETURN)
    chain: dict[str, Payment] = {payment.id: payment for payment in (debit, refund, back)}

    assert [get_money_source(payment, chain) for payment in chain.values()] == [debit] * 3


def test_an_initial_payment_changes_no_balance_and_a_refused_one_only_its_position() -> None:
    first = make_payment("PA")
    refused = add(first, "CP", 99_999, state=State.DECLINED)

    assert balance_effects(first) == []
    [balance_change] = balance_effects(refused)
    assert (balance_change.payment_id, balance_change.chain_length, balance_change.drawn, balance_change.chain_net) == (
        first.id,
        1,
        0,
        0,
    )


def test_what_gives_money_counts_when_reserved_and_what_takes_it_when_certain() -> None:
    first = make_payment("DB")
    refund = add(first, "RF", 100, action=Action.REFUND, state=State.STARTED, result_code="")
    rebill = add(first, "RB", 100, action=Action.REBILL, state=State.STARTED, result_code="")

    assert [balance_change.chain_net for balance_change in balance_effects(refund)] == [-100]
    assert [balance_change.chain_net for balance_change in balance_effects(rebill)] == [0]
    assert [balance_change.chain_net for balance_change in balance_effects(replace(rebill, state=State.APPROVED))] == [
        100
    ]


@pytest.mark.parametrize("state", [State.WAITING, State.UNRESOLVED])
def test_what_stays_open_keeps_its_reservation(state: State) -> None:
    first = make_payment("DB")
    refund = add(first, "RF", 100, action=Action.REFUND, state=State.STARTED, result_code="")

    assert list_completion_changes(refund, replace(refund, state=state, result_code="000.200.000")) == []


def test_balances_counted_again_are_those_that_were_moved_step_by_step() -> None:
    first = make_payment("PA")
    life: dict[str, Payment] = {first.id: first}
    for wanted, outcome in (
        (request("CP", 2_500), State.APPROVED),
        (request("CP", 2_500), State.DECLINED),
        (request("PA", 700, practice="INCREMENTAL_AUTH"), State.APPROVED),
        (request("CP", 1_000), State.UNRESOLVED),
        (request("CP", 1_200, is_final=True), State.APPROVED),
    ):
        named = life[first.id]
        decision = plan(wanted, named)
        attempt = start(link_alone(named), decision, wanted.payment_type)
        completed = replace(attempt, state=outcome, result_code="000.200.000")
        life[attempt.id] = completed
        balance_changes = list_start_changes(attempt, decision, named.id) + list_completion_changes(attempt, completed)
        for balance_change in balance_changes:
            balance = apply_balance_change(life[balance_change.payment_id].balance, balance_change)
            life[balance_change.payment_id] = replace(life[balance_change.payment_id], balance=balance)

    assert count_chain(life.values())[first.id] == life[first.id].balance
    assert life[first.id].left == 0
    assert life[first.id].balance == Balance(
        added=700,
        drawn=9_700,
        reserved=1_000,
        counted=3,
        closed=Closure.CAPTURES | Closure.INCREMENTS,
        chain_length=6,
        chain_net=3_700,
    )
