"""The plan says how much is measured and what a kind of database must do for it. Starts and measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tools.bench.signing import Sign
from tools.bench.specimen import Specimen


class Part(StrEnum):
    """Each part can be run alone; they run in this order."""

    RATES = "rates"
    OPERATIONS = "operations"
    PAGES = "pages"
    OFFICE = "office"
    GROWTH = "growth"
    WEBHOOKS = "webhooks"
    RULES = "rules"
    MEMORY = "memory"
    RIVAL = "rival"


@dataclass(frozen=True)
class Plan:
    rounds: int
    seconds: int
    """The duration of each single measurement."""
    stored_few: int
    stored_many: int
    passes: int
    """Each operation is measured in so many passes."""
    operations: int
    """So many of each on each server in a pass; the small store has to hold those of all passes and some more."""
    far_page: int
    page_rounds: int
    neighbour_payments: int
    """The payments whose events a healthy endpoint hears of beside broken ones."""
    memory_payments: int
    """The payments after which the memory of a server is read last."""
    memory_s: int
    """The time after which it is read last in any case."""
    parts: frozenset[Part] = frozenset(Part)


class Side(Protocol):
    """A kind of database, seen without the server."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def is_embedded(self) -> bool:
        """Tells whether the database works in the process of the server and in its memory."""
        ...

    @property
    def process_counts(self) -> Sequence[int]:
        """Lists the counts of server processes that are worth trying, the default of one first."""
        ...

    def create_database(self) -> str: ...

    def read_specimen(self, address: str) -> Specimen: ...

    def count_completed(self, address: str) -> tuple[int, int]: ...

    def count_refunds(self, address: str) -> tuple[int, int]: ...

    def pick_stored(self, address: str, count: int) -> list[str]: ...

    def measure_limit(self, address: str, specimen: Specimen, seconds: int) -> Mapping[str, float]: ...

    def fill(self, address: str, specimen: Specimen, count: int, sign: Sign) -> None: ...
