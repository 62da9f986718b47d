"""A circuit opens where charges fail technically, lets single probes through, and closes when they succeed."""

from __future__ import annotations

from tollgate.operations import circuits
from tollgate.operations.circuits import CHARGES_MIN, PAUSE, PAUSE_MAX, PROBES, WINDOW, Circuits
from tollgate.values import SECOND

NOW = 1_700_000_000 * SECOND
A, B = "account a", "account b"


def open_circuit(known: Circuits, now: int = NOW) -> None:
    for _ in range(CHARGES_MIN):
        known.note(A, True, now)


def test_an_unknown_account_and_one_that_fails_seldom_are_closed() -> None:
    known = Circuits()
    for number in range(200):
        known.note(A, number % 3 == 0, NOW + number * SECOND)
        assert not known.is_open(A, NOW + number * SECOND)
    assert not known.is_open(B, NOW)


def test_few_failures_say_nothing() -> None:
    known = Circuits()
    for _ in range(CHARGES_MIN - 1):
        known.note(A, True, NOW)

    assert not known.is_open(A, NOW)


def test_failures_of_long_ago_do_not_count() -> None:
    known = Circuits()
    for _ in range(CHARGES_MIN - 1):
        known.note(A, True, NOW)
    known.note(A, True, NOW + WINDOW)

    assert not known.is_open(A, NOW + WINDOW)


def test_half_of_the_charges_failing_opens_the_circuit_of_that_account_alone() -> None:
    known = Circuits()
    for number in range(CHARGES_MIN):
        known.note(A, number % 2 == 1, NOW)
        known.note(B, False, NOW)

    assert known.is_open(A, NOW)
    assert not known.is_open(B, NOW)


def test_one_probe_at_a_time_is_let_through() -> None:
    known = Circuits()
    open_circuit(known)
    assert known.is_open(A, NOW + PAUSE - 1)
    assert not known.is_open(A, NOW + PAUSE)

    known.begin_probe(A, NOW + PAUSE)

    assert known.is_open(A, NOW + PAUSE)
    # A probe that never comes to an end is followed by another.
    assert not known.is_open(A, NOW + 2 * PAUSE)


def test_probes_that_succeed_close_the_circuit() -> None:
    known = Circuits()
    open_circuit(known)
    now = NOW + PAUSE
    for _ in range(PROBES):
        assert not known.is_open(A, now)
        known.begin_probe(A, now)
        known.note(A, False, now)

    known.begin_probe(A, now)
    assert not known.is_open(A, now)
    # It is judged anew, and not by what was before.
    known.note(A, True, now)
    assert not known.is_open(A, now)


def test_a_probe_that_fails_doubles_the_pause_up_to_a_limit() -> None:
    known = Circuits()
    open_circuit(known)
    now, pauses = NOW + PAUSE, []
    for _ in range(8):
        known.begin_probe(A, now)
        known.note(A, True, now)
        pause = next(each for each in range(PAUSE, 2 * PAUSE_MAX, PAUSE) if not known.is_open(A, now + each))
        pauses.append(pause)
        now += pause

    assert pauses[:3] == [2 * PAUSE, 4 * PAUSE, 8 * PAUSE]
    assert pauses[-1] == PAUSE_MAX


def test_charges_from_before_that_fail_late_do_not_lengthen_the_pause() -> None:
    known = Circuits()
    open_circuit(known)
    for _ in range(50):
        known.note(A, True, NOW + SECOND)

    assert not known.is_open(A, NOW + PAUSE)


def test_charges_from_before_that_succeed_late_are_no_probes() -> None:
    """If half of the charges fail, the other half is still under way when the circuit opens."""
    known = Circuits()
    open_circuit(known)
    for _ in range(PROBES):
        known.note(A, False, NOW + SECOND, began_at=NOW - 1)

    assert known.is_open(A, NOW + PAUSE - 1)


def test_memory_is_bounded() -> None:
    known = Circuits()
    for number in range(10_000):
        known.note(A, False, NOW + number)

    assert len(known._known[A].ended) == circuits._KEPT
