"""Advice on results: every code has some, no row is for a code that does not exist, and nothing is said twice."""

from __future__ import annotations

from tollgate.catalog.advice import CODE_ADVICE, GROUP_ADVICE, Retry, get_advice
from tollgate.catalog.results import GROUPS, RESULTS, is_pending, is_success


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
