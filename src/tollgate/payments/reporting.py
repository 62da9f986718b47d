"""Queries and results of reports. Their spelling and their rows are known elsewhere."""

from typing import Generic, TypeVar

import msgspec

from tollgate.payments.ledger import Entry, LedgerAccount
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment
from tollgate.values import DAY, ChannelId, Instant

Row = TypeVar("Row")

FOREVER: Instant = 2**62
"""Later than any calendar date that can be written down."""


class Place(msgspec.Struct, frozen=True):
    """The position of a row in a list that is sorted by time and then by id."""

    at: Instant
    id: str


BEYOND_ALL = Place(2**63 - 1, "")
"""The place before which a list that shows the newest first begins."""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A filter on the payments of a channel; members that are not set do not narrow it."""

    reference: str | None = None
    """The merchant's own."""
    lifecycle_id: str | None = None
    short_id: str | None = None
    payment_types: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    begins_at: Instant = 0
    ends_at: Instant = FOREVER
    """The first instant that is not meant any more."""
    channel_ids: tuple[ChannelId, ...] | None = None
    """All channels that are searched; None for the one that asks."""

    def fits(self, payment: Payment) -> bool:
        """Tells whether payment type and method pass the filter."""
        return (not self.payment_types or payment.payment_type in self.payment_types) and (
            not self.methods or payment.method in self.methods
        )


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A filter on the ledger entries of a channel that changed what the merchant has earned."""

    begins_at: Instant
    ends_at: Instant
    currency: str | None = None
    test_mode: TestMode | None = None
    payment_types: tuple[str, ...] | None = None
    """The payment types; None means all."""
    is_newest_first: bool = False
    channel_ids: tuple[ChannelId, ...] | None = None
    """All channels whose entries are meant; None for the one that asks."""


class SellerPeriod(Period, frozen=True, kw_only=True):
    """The same for the entries of sellers; its pages are another list."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a long list: a numbered page, or the rows after a cursor."""

    rows_max: int
    page_no: int = 1
    cursor: str | None = None


class Page(msgspec.Struct, Generic[Row], frozen=True, kw_only=True):
    rows: list[Row]
    pages: int | None
    """The number of pages; None after a cursor, because nobody counted."""
    page_no: int | None
    cursor: str | None
    """The cursor of the next page; None on the last one."""


class Listed(msgspec.Struct, Generic[Row], frozen=True):
    """A row of a list as the store has it."""

    place: Place
    row: Row | None
    """It is None if the row cannot be read."""


class ReportEntry(msgspec.Struct, frozen=True):
    """A ledger entry that changed what the merchant has earned, with the payment that posted it."""

    entry: Entry
    payment: Payment

    @property
    def gain(self) -> int:
        """The amount as the merchant's account sees it."""
        return self.entry.amount if self.entry.target == LedgerAccount.EARNED else -self.entry.amount


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of all entries of one day, currency, payment type and direction."""

    day: int
    """Days since 1970."""
    currency: str
    payment_type: str
    target: LedgerAccount
    count: int
    amount: int

    @property
    def gain(self) -> int:
        return self.amount if self.target is LedgerAccount.EARNED else -self.amount

    @property
    def begins_at(self) -> Instant:
        return self.day * DAY


class SellerSums(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one seller's entries in one currency, each as it is reported."""

    currency: str
    seller_id: str
    count: int
    gross: int
    refunded: int
    charged_back: int
    """Less the refunds that a bank returned."""
    charge_back_reversed: int

    @property
    def net(self) -> int:
        return self.gross - self.refunded - self.charged_back + self.charge_back_reversed
