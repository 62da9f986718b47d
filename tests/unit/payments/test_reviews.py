"""Reviews: which results open one, what a decision makes of a payment, and what may still follow."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog import codes
from tollgate.catalog.results import RESULTS
from tollgate.payments import chain, reviews
from tollgate.payments.following import FOLLOWINGS, GIVES_BACK, Action
from tollgate.payments.payment import State
from tollgate.payments.reviews import Decision, ReviewState
from tollgate.payments.risk import RiskFinding
from tollgate.store.payments import make_event, recall_before_review
from tollgate.values import Money
from unit.payments.samples import NOON, TERMS, add, link_alone, make_payment

SUCCESS = "000.100.110"
TAKING = [Action.CAPTURE, Action.REBILL, Action.INCREMENT, Action.RENEWAL]
PRACTICES = {Action.INCREMENT: "INCREMENTAL_AUTH", Action.RENEWAL: "REAUTHORIZATION"}


def make_reviewed(payment_type: str = "DB", **changes: Any) -> Any:
    return make_payment(payment_type, **{"result_code": codes.REVIEW, "events": 1, **changes})


@pytest.mark.parametrize("payment_type", ["DB", "PA", "PA.CP"])
def test_the_completion_of_a_doubtful_payment_opens_a_review(payment_type: str) -> None:
    payment = make_reviewed(payment_type)

    review = reviews.open_review(payment)

    assert review == reviews.Review(
        merchant_id=payment.merchant_id, id=payment.id, channel_id=payment.channel_id, opened_at=NOON
    )


@pytest.mark.parametrize("code", sorted(RESULTS))
def test_codes_that_leave_nothing_to_decide_open_no_review(code: str) -> None:
    is_opened = reviews.open_review(make_payment(result_code=code)) is not None

    doubtful = code.startswith("000.400.") and RESULTS[code].group == "success_review"
    assert is_opened == (doubtful and code not in (codes.OWN_RISK, codes.REVIEW_REJECTED))


@pytest.mark.parametrize(
    "changes",
    [{"state": State.DECLINED}, {"state": State.WAITING}, {"completed_at": None}, {"payment_type": "CD"}],
    ids=str,
)
def test_what_took_no_money_opens_no_review(changes: dict[str, Any]) -> None:
    assert reviews.open_review(make_reviewed(**changes)) is None


def test_a_follow_up_opens_no_review_whatever_its_code() -> None:
    assert reviews.open_review(add(make_payment("PA"), "CP", 100, result_code=codes.REVIEW)) is None


@pytest.mark.parametrize(
    ("decision", "code", "is_rejected"),
    [(Decision.ACCEPT, SUCCESS, False), (Decision.REJECT, codes.REVIEW_REJECTED, True)],
)
def test_a_decision_changes_the_result_and_remembers_the_doubt(decision: str, code: str, is_rejected: bool) -> None:
    payment = make_reviewed(risk=RiskFinding(score=30))

    decided = reviews.decide(payment, Decision(decision), SUCCESS, NOON + 5)

    assert (decided.result_code, decided.told_at, decided.events) == (code, NOON + 5, 2)
    assert decided.risk == RiskFinding(score=30, reviewed_code=codes.REVIEW, decided_at=NOON + 5)
    assert (reviews.is_decided(decided), reviews.is_rejected(decided)) == (True, is_rejected)
    assert not reviews.awaits_decision(decided)
    assert recall_before_review(decided) == payment


def test_a_decision_in_the_moment_of_the_completion_has_an_event_of_its_own() -> None:
    payment = make_reviewed(risk=RiskFinding())

    decided = reviews.decide(payment, Decision.ACCEPT, SUCCESS, NOON - 1)

    assert make_event(decided).id > make_event(payment).id


def test_a_payment_that_came_with_the_code_of_a_rejection_was_rejected_by_nobody() -> None:
    assert not reviews.is_rejected(make_payment(result_code=codes.REVIEW_REJECTED))


@pytest.mark.parametrize("action", sorted(FOLLOWINGS))
def test_only_what_gives_money_back_closes_a_review(action: Action) -> None:
    later = add(make_reviewed(), FOLLOWINGS[action].payment_type, 100, action=action)

    assert reviews.closes_review(later) == (action in GIVES_BACK)
    assert not reviews.closes_review(replace(later, state=State.UNRESOLVED))


@pytest.mark.parametrize("action", sorted(FOLLOWINGS))
def test_a_follow_up_that_takes_more_is_barred_before_and_after_a_rejection(action: Action) -> None:
    assert FOLLOWINGS[action].is_barred_by_review == (action in TAKING)


@pytest.mark.parametrize("action", TAKING)
def test_what_is_barred_says_whether_it_may_be_tried_again(action: Action) -> None:
    row = FOLLOWINGS[action]
    payment = make_reviewed(sorted(row.names)[0])
    request = chain.FollowUpRequest(
        payment_type=row.payment_type, money=Money(100, "EUR"), practice=PRACTICES.get(action)
    )
    rejected = link_alone(reviews.decide(payment, Decision.REJECT, SUCCESS, NOON))
    accepted = link_alone(reviews.decide(payment, Decision.ACCEPT, SUCCESS, NOON))

    waiting = chain.decide_follow_up(request, replace(link_alone(payment), is_under_review=True), TERMS)
    refused = chain.decide_follow_up(request, rejected, TERMS)

    assert waiting == chain.Refused("700.400.570")
    assert isinstance(refused, chain.Refused)
    assert refused.code in ("700.400.510", "700.300.200")
    assert isinstance(chain.decide_follow_up(request, accepted, TERMS), chain.Plan)


def test_every_decision_ends_a_review_in_a_state_of_its_own() -> None:
    assert set(reviews.ENDS) == set(Decision)
    assert set(reviews.ENDS.values()) == {ReviewState.ACCEPTED, ReviewState.REJECTED}
