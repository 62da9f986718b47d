"""The counters of card testing: they leak, they are bounded, and the highest are dropped last."""

from __future__ import annotations

import pytest

from tollgate.catalog.card_testing import (
    COUNTERS,
    ENTRIES_MAX,
    WAIT_S_MAX,
    WAIT_S_MIN,
    WAITING_MAX,
    WAITING_PER_KEY_MAX,
)
from tollgate.catalog.results import RESULTS
from tollgate.docs import texts
from tollgate.payments.card_testing import Levels, find_judgement, get_retry_after_s
from tollgate.values import HOUR, MINUTE, SECOND

IP = COUNTERS["i"]


def test_every_counter_that_refuses_has_a_result_and_slows_down_first() -> None:
    for letter, row in COUNTERS.items():
        assert letter == row.letter
        if row.code:
            assert row.code in RESULTS
            assert 0 < row.slow_from < row.refuse_from


def test_the_guide_has_the_numbers_of_every_counter() -> None:
    guide = (texts.ROOT / "docs/card-testing.md").read_text()

    for row in (each for each in COUNTERS.values() if each.code):
        assert f"| {row.slow_from} declines | {row.refuse_from} declines | `{row.code}` |" in guide
        assert f"{row.refuse_from} declines in an hour" in guide or f"{row.refuse_from} for a BIN" in guide
    for number in (WAITING_PER_KEY_MAX, WAITING_MAX, IP.undecided_max, COUNTERS["b"].undecided_max):
        assert f" {number} " in guide


def test_a_counter_forgets_what_it_refuses_from_within_an_hour() -> None:
    levels = Levels()
    for _ in range(IP.refuse_from):
        levels.add("ix", 1, 0, 0)

    assert levels.get("ix", 0) == IP.refuse_from
    assert levels.get("ix", HOUR // 2) == IP.refuse_from / 2
    assert levels.get("ix", HOUR) == levels.get("ix", 9 * HOUR) == 0


def test_a_counter_is_bounded_so_that_a_block_ends() -> None:
    levels = Levels()
    for _ in range(1000):
        levels.add("ix", 1, 0, 0)

    assert levels.get("ix", 2 * HOUR) == 0


def test_an_approval_lowers_a_counter_and_never_below_zero() -> None:
    levels = Levels()
    levels.add("ix", 1, 0, 0)

    assert levels.add("ix", -1, 0, 0) == levels.add("ix", -1, 0, 0) == 0
    assert levels.add("ix", 1, 0, 0) == 1
    assert len(levels) == 1


def test_what_happened_earlier_in_another_process_has_leaked_since() -> None:
    levels = Levels()
    levels.add("ix", IP.refuse_from, 0, HOUR // 2)
    levels.add("iy", IP.refuse_from, 0, 2 * HOUR)

    assert levels.get("ix", HOUR // 2) == IP.refuse_from / 2
    assert levels.get("iy", 2 * HOUR) == 0


def test_a_process_that_starts_anew_counts_as_one_that_ran_on() -> None:
    ran_on, anew = Levels(), Levels()
    changes = [(number * 10 * SECOND, -1 if number % 5 == 4 else 1) for number in range(60)]
    for at, change in changes:
        ran_on.add("ix", change, at, at)
    for at, change in changes:
        anew.add("ix", change, at, HOUR // 2)

    assert ran_on.get("ix", HOUR // 2) > IP.refuse_from
    assert anew.get("ix", HOUR // 2) == pytest.approx(ran_on.get("ix", HOUR // 2))
    assert anew.get("ix", HOUR) == pytest.approx(ran_on.get("ix", HOUR))


def test_a_change_of_a_process_whose_clock_is_ahead_leaks_from_now_on() -> None:
    levels = Levels()
    levels.add("ix", IP.refuse_from, HOUR, 0)

    assert levels.get("ix", HOUR // 2) == IP.refuse_from / 2


def test_a_million_addresses_fit_and_do_not_push_out_one_that_is_refused() -> None:
    levels = Levels()
    levels.add("iattacker", IP.refuse_from, 0, 0)
    for number in range(1_000_000):
        levels.add(f"i{number}", 1, 0, 0)

    assert len(levels) <= ENTRIES_MAX
    assert levels.get("iattacker", 0) == IP.refuse_from


def test_a_flood_of_counters_that_are_all_refused_stays_bounded_too() -> None:
    levels = Levels(100)
    for number in range(10_000):
        levels.add(f"i{number}", IP.refuse_from, 0, 0)

    assert len(levels) <= 100
    assert levels.get("i9999", 0) == IP.refuse_from


def test_payments_wait_longer_the_nearer_a_refusal_is() -> None:
    waits = []
    for count in range(IP.slow_from, IP.refuse_from):
        levels = Levels()
        levels.add("ix", count, 0, 0)
        found = find_judgement(["ix"], levels, {}, 0)
        assert found is not None
        assert not found.is_refused
        waits.append(found.wait_s)

    assert waits == sorted(set(waits))
    assert waits[0] == WAIT_S_MIN
    assert waits[-1] < WAIT_S_MAX


def test_the_worst_of_several_counters_decides() -> None:
    levels = Levels()
    levels.add("ix", IP.slow_from, 0, 0)
    levels.add("by", COUNTERS["b"].refuse_from, 0, 0)

    assert find_judgement([], levels, {}, 0) is None
    assert find_judgement(["iz"], levels, {}, 0) is None
    found = find_judgement(["ix", "by"], levels, {}, 0)
    assert found is not None
    assert found.is_refused
    assert found.counter.name == "bin"
    assert get_retry_after_s(found) >= 1


def test_a_crowd_of_undecided_payments_counts_before_any_of_them_is_declined() -> None:
    crowd = IP.undecided_max + IP.slow_from

    assert find_judgement(["ix"], Levels(), {"ix": crowd - 1}, 0) is None
    found = find_judgement(["ix"], Levels(), {"ix": 100 * crowd}, 0)
    assert found is not None
    assert not found.is_refused
    assert found.wait_s == WAIT_S_MAX


def test_a_clock_that_goes_back_raises_nothing() -> None:
    levels = Levels()
    levels.add("ix", 3, HOUR, HOUR)

    assert levels.get("ix", HOUR - MINUTE) == 3
