"""The choice of an acquirer account is the same for the same payment, and its reasons are written with it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tollgate.payments.routing import Candidate, Decision, Strategy, choose

FIRST = Candidate(id="first", priority=1, weight=100, cost_fixed=10, cost_rate=0)
SECOND = replace(FIRST, id="second")
THIRD = replace(FIRST, id="third")
AMOUNT = 9200

CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.sampled_from("abcdef"),
        priority=st.integers(1, 3),
        weight=st.integers(0, 200),
        cost_fixed=st.integers(0, 50),
        cost_rate=st.integers(0, 500),
        obstacle=st.sampled_from(["", "", "", "takes no VISA"]),
        is_failing=st.booleans(),
        tries=st.integers(50, 100),
        approvals=st.integers(0, 50),
    ),
    min_size=1,
    unique_by=lambda each: each.id,
)


def pick(
    *candidates: Candidate, strategy: Strategy = Strategy.WEIGHT, exploration: int = 0, seed: str = "1"
) -> Decision:
    return choose(candidates, AMOUNT, strategy, exploration, seed)


def get_reasons(decision: Decision) -> dict[str, str]:
    return {each.account_id: each.reason for each in decision.considered}


@given(candidates=CANDIDATES, strategy=st.sampled_from(Strategy), exploration=st.integers(0, 50), seed=st.text())
def test_priority_is_a_hard_bound_among_accounts_that_work(
    candidates: list[Candidate], strategy: Strategy, exploration: int, seed: str
) -> None:
    decision = choose(candidates, AMOUNT, strategy, exploration, seed)

    known = {each.id: each for each in candidates}
    places = [(known[each].is_failing, known[each].priority) for each in decision.order]
    assert places == sorted(places)
    assert set(decision.order) == {each.id for each in candidates if not each.obstacle}
    # What is written names every account once, those to be tried first, in their order.
    written = [each.account_id for each in decision.considered]
    assert sorted(written) == sorted(known)
    assert written[: len(decision.order)] == list(decision.order)
    assert choose(candidates, AMOUNT, strategy, exploration, seed) == decision


def test_chance_follows_the_weights_and_the_seed() -> None:
    light, none = replace(SECOND, weight=25), replace(THIRD, weight=0)

    chosen = Counter(pick(FIRST, light, none, seed=str(seed)).order[0] for seed in range(2000))

    assert chosen["third"] == 0
    assert 0.17 < chosen["second"] / 2000 < 0.23


@pytest.mark.parametrize("strategy", Strategy)
def test_a_weight_of_zero_gets_what_nobody_else_can_take(strategy: Strategy) -> None:
    best = replace(SECOND, weight=0, cost_fixed=0, tries=1000, approvals=999)

    assert pick(best, FIRST, strategy=strategy).order == ("first", "second")
    assert pick(best, replace(FIRST, obstacle="takes no VISA"), strategy=strategy).order == ("second",)
    assert pick(best, replace(FIRST, is_failing=True), strategy=strategy).order == ("second", "first")
    assert pick(best, replace(FIRST, priority=2), strategy=strategy).order == ("second", "first")


def test_the_cheapest_is_chosen_for_the_amount() -> None:
    by_share, fixed = replace(FIRST, cost_fixed=0, cost_rate=100), replace(SECOND, cost_fixed=50)

    dear, cheap = (choose([by_share, fixed], amount, Strategy.COST, 0, "1").order[0] for amount in (AMOUNT, 1000))

    assert (dear, cheap) == ("second", "first")
    assert by_share.estimate_cost(1) == 1


def test_the_account_that_approves_more_is_chosen_less_its_costs() -> None:
    worse, better = replace(FIRST, tries=1000, approvals=850), replace(SECOND, tries=1000, approvals=900)

    assert pick(worse, better, strategy=Strategy.SUCCESS).order[0] == "second"
    # Ten percent of the amount is more than it wins.
    assert pick(worse, replace(better, cost_rate=1000), strategy=Strategy.SUCCESS).order[0] == "first"


def test_an_account_without_experience_is_tried() -> None:
    assert pick(replace(FIRST, tries=100, approvals=80), SECOND, strategy=Strategy.SUCCESS).order[0] == "second"


@pytest.mark.parametrize("share", [0, 5, 50])
def test_the_stated_share_of_payments_explores(share: int) -> None:
    best, worst = replace(FIRST, tries=1000, approvals=999), replace(SECOND, tries=1000, approvals=1)

    decisions = [
        pick(best, worst, strategy=Strategy.SUCCESS, exploration=share, seed=str(seed)) for seed in range(2000)
    ]

    exploring = [each for each in decisions if each.is_exploring]
    assert abs(len(exploring) / 2000 - share / 100) < 0.03
    assert {each.order[0] for each in decisions if not each.is_exploring} == {"first"}
    assert not exploring or {each.order[0] for each in exploring} == {"first", "second"}
    assert {reason for each in exploring for reason in get_reasons(each).values()} <= {"chosen to learn", "not chosen"}


def test_other_strategies_do_not_explore() -> None:
    for strategy in (Strategy.WEIGHT, Strategy.COST):
        assert not any(
            pick(FIRST, SECOND, strategy=strategy, exploration=50, seed=str(n)).is_exploring for n in range(99)
        )


def test_an_open_circuit_steers_and_a_lone_account_is_tried_all_the_same() -> None:
    failing = replace(FIRST, is_failing=True)

    steered = pick(failing, replace(SECOND, priority=2))

    assert steered.order == ("second", "first")
    assert get_reasons(steered) == {"second": "chosen", "first": "failed too often of late"}
    assert pick(failing).order == ("first",)
    assert pick(failing, replace(SECOND, obstacle="takes no VISA")).order == ("first",)


def test_every_account_has_its_reason() -> None:
    decision = pick(FIRST, replace(SECOND, weight=0), replace(THIRD, priority=2), replace(FIRST, id="x", obstacle="no"))

    assert get_reasons(decision) == {"first": "chosen", "second": "not chosen", "third": "later priority", "x": "no"}
    assert [each.score for each in decision.considered] == [100, 0, 100, None]
