"""Velocities of a stream of payments as they were at the time of each, for a back-test. Reads no store.

Only what the longest window of an attribute still needs is held, so memory grows with a window and not with the stream.
"""

from collections import deque
from collections.abc import Mapping

from tollgate.catalog.risk_rows import Attribute
from tollgate.payments.risk import Sighting
from tollgate.values import Instant


class Past:
    """The sightings of the payments that came before, by attribute and key."""

    def __init__(self, windows: Mapping[Attribute, Instant]) -> None:
        """windows: the longest time for which a sighting of an attribute counts."""
        self._windows = windows
        self._seen: dict[tuple[Attribute, bytes], deque[Sighting]] = {}
        self._order: dict[Attribute, deque[tuple[Attribute, bytes]]] = {each: deque() for each in windows}
        self.sightings = 0
        """The number that is held."""

    def add(self, attribute: Attribute, key: bytes, sighting: Sighting) -> None:
        """Adds a sighting, which is not older than those of its attribute before it."""
        if attribute in self._windows:
            place = (attribute, key)
            self._seen.setdefault(place, deque()).append(sighting)
            self._order[attribute].append(place)
            self.sightings += 1

    def forget(self, now: Instant) -> None:
        """Drops what no payment from now on can count."""
        for attribute, order in self._order.items():
            begin = now - self._windows[attribute]
            while order and self._seen[order[0]][0].at < begin:
                place = order.popleft()
                rows = self._seen[place]
                rows.popleft()
                if not rows:
                    del self._seen[place]
                self.sightings -= 1

    def list_seen(self, values: Mapping[Attribute, bytes]) -> dict[Attribute, list[Sighting]]:
        found = ((attribute, self._seen.get((attribute, key))) for attribute, key in values.items())
        return {attribute: list(rows) for attribute, rows in found if rows}
