"""Advice on results: every code has some, no row is for a code that does not exist, and nothing is said twice."""

from __future__ import annotations

from tollgate.catalog.advice import CODE_ADVICE, GROUP_ADVICE, Retry, get_advice
from tollgate.catalog.results import GROUPS, RESULTS, is_pending, is_success
from tollgate.payments.schedule import Reaction, choose_reaction


def test_every_group_has_advice_and_no_other() -> None:
    assert set(GROUP_ADVICE) == {group.id for group in GROUPS}


def test_exceptions_are_for_codes_that_exist_and_differ_from_their_group() -> None:
    assert set(CODE_ADVICE) <= set(RESULTS)
    assert [code for code, advice in CODE_ADVICE.items() if advice == GROUP_ADVICE[RESULTS[code].group]] == []


def test_every_code_says_whether_to_try_again() -> None:
    for code in RESULTS:
        assert (get_advice(code).retry is Retry.DONE) is is_success(code)
        assert (get_advice(code).retry is Retry.WAIT) is is_pending(code)


def test_every_way_to_try_again_is_used() -> None:
    assert {get_advice(code).retry for code in RESULTS} == set(Retry)


def test_schedules_do_what_the_advice_says() -> None:
    """A schedule tries again what may go through later, and nothing that the advice forbids."""
    reactions = {code: (choose_reaction(code), get_advice(code).retry) for code in RESULTS}
    soft = {retry for reaction, retry in reactions.values() if reaction is Reaction.SOFT}
    assert soft == {Retry.LATER}
    assert (Reaction.STOP, Retry.LATER) not in reactions.values()


def test_nobody_is_told_that_nothing_was_charged_while_that_is_not_known() -> None:
    for code in ("900.100.300", "999.999.999"):
        assert "not charged" not in get_advice(code).shopper


def test_a_shopper_is_never_told_the_reason_of_the_bank() -> None:
    """Somebody who tries stolen cards learns from it which of them to try again, and how."""
    bank = {code for code, row in RESULTS.items() if row.group in ("rejected_by_bank", "mac_control", "blacklist")}
    told = " ".join({get_advice(code).shopper.lower() for code in bank})
    reasons = ("stolen", "lost", "funds", "limit", "fraud", "suspect", "security code")
    assert [word for word in reasons if word in told] == []
