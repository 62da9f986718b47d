"""The erasure of a person: what is searched for, what was found and how far it has come. No I/O."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from tollgate.values import Instant, MerchantId


class SearchKind(StrEnum):
    EMAIL = "email"
    CUSTOMER = "customer"
    REGISTRATION = "registration"
    PAYMENT = "payment"


class Phase(StrEnum):
    SEARCHING = "searching"
    FOUND = "found"
    """The search is over, and somebody has to confirm that what was found is erased."""
    ERASING = "erasing"
    DONE = "done"


class Sample(msgspec.Struct, frozen=True):
    """A payment that was found, without what names the person."""

    payment_id: str
    created_at: Instant
    amount: int
    currency: str
    email: str
    """The address with most letters masked."""
    last_digits: str


class Postponed(msgspec.Struct, frozen=True):
    table: str
    id: str
    reason: str


class Erasure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One erasure as it is stored, sealed, between its steps."""

    id: str
    merchant_id: MerchantId
    kind: SearchKind
    searched: str
    """A keyed hash of what was searched for."""
    begun_at: Instant
    phase: Phase = Phase.SEARCHING
    emails: tuple[str, ...] = ()
    customer_ids: tuple[str, ...] = ()
    registration_ids: tuple[str, ...] = ()
    """The registrations, and the first payment of a chain, that are looked for by their ids."""
    rows: int = 0
    walked: int = 0
    place: int = 0
    """The table that is searched."""
    after: str = ""
    """The last row of that table that was searched."""
    found: Mapping[str, tuple[str, ...]] = {}
    """The ids of what is still to be erased, by table; a payment stands for its chain."""
    found_counts: Mapping[str, int] = {}
    is_partial: bool = False
    """More was found than one erasure takes."""
    samples: tuple[Sample, ...] = ()
    erased: Mapping[str, int] = {}
    postponed: tuple[Postponed, ...] = ()

    @property
    def progress(self) -> tuple[int, int]:
        """Returns how many rows are done, and of how many."""
        if self.phase is Phase.SEARCHING:
            return self.walked, self.rows
        total = sum(self.found_counts.values())
        return total - sum(map(len, self.found.values())), total
