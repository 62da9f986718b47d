"""A decline ends a series or leads to another try at a later time."""

from __future__ import annotations

import pytest

from tollgate.catalog.results import RESULTS
from tollgate.payments.schedule import GROUP_REACTIONS, PAUSES, REACTIONS, Reaction, RetryTerms, choose_reaction
from tollgate.values import DAY, HOUR

NO_MONEY = "800.100.203"


def test_every_row_is_about_a_code_or_a_group_that_exists() -> None:
    assert REACTIONS.keys() <= RESULTS.keys()
    assert PAUSES.keys() <= REACTIONS.keys()
    assert GROUP_REACTIONS.keys() <= {result.group for result in RESULTS.values()}


@pytest.mark.parametrize(
    ("code", "reaction"),
    [
        (NO_MONEY, Reaction.SOFT),
        ("900.100.300", Reaction.SOFT),
        ("900.100.600", Reaction.SOFT),
        ("800.100.159", Reaction.HARD),
        ("100.100.303", Reaction.HARD),
        ("300.100.100", Reaction.HARD),
        ("900.100.204", Reaction.HARD),
        ("800.100.500", Reaction.STOP),
        ("800.100.501", Reaction.STOP),
        ("100.150.202", Reaction.STOP),
        ("100.150.206", Reaction.STOP),
    ],
)
def test_a_code_has_its_reaction(code: str, reaction: Reaction) -> None:
    assert choose_reaction(code) is reaction


def test_five_tries_are_spread_over_twenty_days() -> None:
    pauses = [RetryTerms().find_pause(tries, NO_MONEY) for tries in range(1, 6)]

    assert pauses == [2 * DAY, 4 * DAY, 6 * DAY, 8 * DAY, None]


@pytest.mark.parametrize("tries_max", [2, 3, 9])
def test_any_number_of_tries_fills_its_window(tries_max: int) -> None:
    terms = RetryTerms(tries_max=tries_max, window=36 * DAY)

    pauses = [terms.find_pause(tries, NO_MONEY) for tries in range(1, tries_max)]

    assert sum(pause for pause in pauses if pause is not None) == 36 * DAY
    assert terms.find_pause(tries_max, NO_MONEY) is None


@pytest.mark.parametrize("tries_max", [0, 1])
def test_one_try_is_not_followed_by_another(tries_max: int) -> None:
    assert RetryTerms(tries_max=tries_max).find_pause(1, NO_MONEY) is None


@pytest.mark.parametrize("code", ["800.100.159", "800.100.500"])
def test_what_is_not_soft_is_not_tried_again(code: str) -> None:
    assert RetryTerms().find_pause(1, code) is None


def test_an_issuer_is_not_asked_earlier_than_it_wants_to_be() -> None:
    assert RetryTerms().find_pause(1, "700.600.002") == 3 * DAY
    assert RetryTerms(window=DAY).find_pause(1, "700.600.025") == DAY
    assert RetryTerms().find_pause(4, "700.600.002") == 8 * DAY


def test_trouble_on_the_way_is_tried_again_within_hours() -> None:
    pauses = [RetryTerms().find_pause(tries, "900.100.300") for tries in range(1, 6)]

    assert pauses == [HOUR, 4 * HOUR, 16 * HOUR, 64 * HOUR, None]
    assert RetryTerms(window=10 * HOUR).find_pause(2, "900.100.300") == 2 * HOUR
