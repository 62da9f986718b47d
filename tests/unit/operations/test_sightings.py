"""The sightings that a process holds in memory have a bound, whoever reads them."""

from __future__ import annotations

from tollgate.operations.known_values import KnownValues
from tollgate.operations.sightings import Sightings
from tollgate.store.risk import READ_MAX, SightingRow
from tollgate.values import MerchantId


def test_a_value_that_is_counted_and_never_read_does_not_fill_the_memory() -> None:
    """A rule of one channel counts the payments of another, which no rule judges."""
    sightings = Sightings()
    sightings._known = KnownValues(0)
    for at in range(5 * READ_MAX):
        sightings.note(f"p{at}", [SightingRow(MerchantId("m"), b"the channel", at, f"p{at}", 100, "EUR")])
        sightings.settle(f"p{at}", is_written=True)
        if at % 100 == 99:
            sightings.forget(sightings.take(100))

    [held] = sightings._held.values()
    assert READ_MAX <= len(held.rows) <= 2 * READ_MAX
    assert sightings._rows == len(held.rows)
