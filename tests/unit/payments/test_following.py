"""The rows of what may follow what: complete, without a rival, in step with the catalogue's types and codes."""

from __future__ import annotations

from itertools import combinations

import pytest

from tollgate.catalog import codes
from tollgate.catalog.payment_types import FOLLOW_UP_PAYMENT_TYPES, PAYMENT_TYPES, Role
from tollgate.catalog.results import RESULTS
from tollgate.payments import following
from tollgate.payments.ledger import Closure
from tollgate.payments.payment import NATURES, Nature

ROWS = following.FOLLOWINGS.values()


def test_every_action_but_the_technical_reversal_has_a_row() -> None:
    """A technical reversal undoes a payment that failed, so there is no balance it could move."""
    assert set(following.Action) - set(following.FOLLOWINGS) == {following.Action.TECHNICAL_REVERSAL}


@pytest.mark.parametrize("payment_type", FOLLOW_UP_PAYMENT_TYPES)
def test_the_catalogue_says_of_each_type_what_the_rows_say(payment_type: str) -> None:
    by_rows = {named for row in ROWS if row.payment_type == payment_type for named in row.names}

    assert set(PAYMENT_TYPES[payment_type].follows) == by_rows


def test_every_type_that_follows_has_rows_and_refusals_and_no_other_has() -> None:
    assert {row.payment_type for row in ROWS} == set(following.REFUSALS) == set(FOLLOW_UP_PAYMENT_TYPES)


def test_what_only_the_system_makes_is_the_same_in_the_catalogue_and_never_sent() -> None:
    by_role = {payment_type.code for payment_type in PAYMENT_TYPES.values() if payment_type.role is Role.SYSTEM}

    assert set(following.SYSTEM_ONLY) == by_role
    assert {row.payment_type for row in ROWS if row.wire_word is None} == by_role


def test_every_code_of_a_refusal_is_in_the_catalogue_and_is_one() -> None:
    refusals = {getattr(row, name) for row in following.REFUSALS.values() for name in row.__dataclass_fields__}
    refusals |= {codes.REFERENCE_PENDING, codes.OTHER_BRAND, codes.OTHER_CURRENCY, codes.OTHER_MODE}
    refusals |= set(following.SYSTEM_ONLY.values())

    assert refusals <= set(RESULTS)
    assert {RESULTS[code].http_status for code in refusals} == {400}


def test_no_request_fits_two_rows() -> None:
    """The exception is an authorization on an authorization, where the practice tells them apart."""
    rivals = [
        (one.action, other.action)
        for one, other in combinations(ROWS, 2)
        if one.payment_type == other.payment_type and one.names & other.names
    ]

    assert rivals == [(following.Action.INCREMENT, following.Action.RENEWAL)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.action.value)
def test_a_row_is_found_by_the_request_it_is_for(row: following.Following) -> None:
    practice = "INCREMENTAL_AUTH" if row.action is following.Action.INCREMENT else "REAUTHORIZATION"

    assert all(following.choose_following(row.payment_type, named, practice) is row for named in row.names)


@pytest.mark.parametrize("payment_type", FOLLOW_UP_PAYMENT_TYPES)
def test_what_no_row_names_may_not_follow(payment_type: str) -> None:
    strangers = set(PAYMENT_TYPES) - set(PAYMENT_TYPES[payment_type].follows)

    assert [named for named in strangers if following.choose_following(payment_type, named)] == []


def test_only_an_incremental_authorization_raises_the_one_it_names() -> None:
    assert following.get_practice_action("INCREMENTAL_AUTH") is following.Action.INCREMENT
    assert {following.get_practice_action(practice) for practice in ("REAUTHORIZATION", "NO_SHOW", None)} == {
        following.Action.RENEWAL
    }


def test_money_moves_between_two_accounts_and_the_chains_net_agrees_with_the_ledger() -> None:
    for row in ROWS:
        assert row.source is not row.target, row.action
        earned = (row.target.value == "earned") - (row.source.value == "earned")
        assert row.net == earned, row.action


def test_whatever_gives_money_back_to_the_shopper_is_bounded() -> None:
    giving = [row for row in ROWS if row.net < 0]

    assert all(row.draw is not following.Draw.NOTHING or row.is_capped for row in giving)
    assert all(row.is_barred_by_dispute for row in giving)


def test_a_closure_that_something_sets_forbids_something() -> None:
    closed = barred = Closure.NONE
    for row in ROWS:
        closed |= row.closes | row.closes_when_final
        barred |= row.barred_by

    assert closed == barred == sum(Closure)


def test_nothing_sets_a_closure_that_does_not_forbid_itself() -> None:
    """The same request would be accepted twice otherwise. One that takes all finds nothing the second time."""
    closing = [row for row in ROWS if row.closes | row.closes_when_final and row.draw is not following.Draw.REST]

    assert all(row.barred_by & (row.closes | row.closes_when_final) for row in closing)


def test_money_that_was_taken_can_be_given_back() -> None:
    for payment_type in following.TAKEN:
        assert following.choose_following("RF", payment_type) is not None
        assert following.choose_following("RV", payment_type) is not None
        assert NATURES[payment_type] in (Nature.TAKES, Nature.FOLLOWS)
