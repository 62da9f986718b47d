"""The sightings that a process holds in memory have a bound, whoever reads them."""

from __future__ import annotations

from tollgate.catalog.risk_rows import Attribute
from tollgate.operations.known_values import KnownValues
from tollgate.operations.sightings import PARTS, Sightings
from tollgate.payments.risk_evaluation import Limits, Watched
from tollgate.payments.velocities import History, Sighting
from tollgate.store.sightings import READ_MAX
from tollgate.values import SECOND, MerchantId

KEY = b"\x01the card\x00"


def see(sightings: Sightings, *times: int) -> None:
    for at in times:
        row = Sighting(MerchantId("m"), KEY, at, f"p{at}", 1, 100, "EUR")
        sightings.note([row])
        sightings.settle([row], is_written=True)


def write(sightings: Sightings) -> None:
    sightings.forget(sightings.take(range(PARTS)))


def test_of_what_was_written_only_the_number_and_the_sum_are_held() -> None:
    sightings = Sightings()
    sightings._known = KnownValues(0)
    see(sightings, *range(1000))
    write(sightings)

    [held] = sightings._held.values()
    assert (held.count, held.total, held.fresh, held.history) == (1000, 100_000, [], None)


def test_a_history_that_is_not_read_any_more_does_not_fill_the_memory() -> None:
    """A rule of one channel counts the payments of another, which no rule judges."""
    sightings = Sightings()
    see(sightings, 0)
    [held] = sightings._held.values()
    held.take(History(held.fresh), 0, 0)
    for start in range(1, 3 * READ_MAX, 100):
        see(sightings, *range(start, start + 100))
        write(sightings)
        assert held.size <= 2 * READ_MAX + 100

    assert held.history is None


def test_a_history_is_let_go_when_the_numbers_are_enough_again() -> None:
    sightings = Sightings()
    see(sightings, 0)
    [held] = sightings._held.values()
    held.take(History(held.fresh), 0, 0)
    row = Sighting(MerchantId("m"), KEY, SECOND, "p2", 1, 100, "EUR")

    assert sightings.note([row], [Watched(Attribute.CARD, b"", SECOND, (), Limits(1, 1000, 1000))]) == []

    assert (held.history, held.count, held.total) == (None, 2, 200)


def test_a_payment_that_was_not_written_does_not_count() -> None:
    sightings = Sightings()
    sightings._known = KnownValues(0)
    see(sightings, 1)
    row = Sighting(MerchantId("m"), KEY, 2, "p2", 1, 100, "EUR")
    sightings.note([row])
    sightings.settle([row], is_written=False)

    [held] = sightings._held.values()
    assert (held.count, held.total, len(held.fresh)) == (1, 100, 1)


def test_payments_that_no_rule_counts_leave_nothing_behind() -> None:
    sightings = Sightings()
    for number in range(100):
        sightings.note([])
        sightings.settle([], is_written=True)
        sightings.complete(f"p{number}", number)

    assert sightings._settled == []
