"""Months that are moved from the database to files: their names and bounds, and how far the move of one has come.

Which payments may be moved is decided in `flows`.
"""

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum

import msgspec

from tollgate.payments.ledger import NO_BOUND
from tollgate.payments.payment import Payment
from tollgate.values import Instant, get_month_end, to_datetime

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_YEAR_MIN = 1970


class MonthState(IntEnum):
    """The state of a part of a month. The numbers are stored."""

    GIVEN_UP = 0
    """Its file was not finished, and its chains are open again. Its number is used by nobody else, so that a process
    that was overtaken and wakes up cannot touch another one's file."""
    WRITING = 1
    """Its file is being written, and its chains are closed. Nothing was removed."""
    WRITTEN = 2
    """Its file is on the disk and was read back. Rows are being removed."""
    MOVED = 3


class ArchivedMonth(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a month. A month that is archived again, with what was open before, gets another part."""

    month: str
    part: int
    state: MonthState = MonthState.WRITING
    chains: int = 0
    payments: int = 0
    archived_at: Instant
    accounts: Mapping[str, int] = {}
    """The sums that the ledger accounts got from its chains, less what they gave, so that totals stay right without the
    file. The names are `merchant/channel/currency/account`."""
    proof: bytes | None = None
    """The MAC of its manifest."""
    next_proof: bytes | None = None
    """The MAC of the manifest that is about to take its place, because a person is being erased."""

    @property
    def name(self) -> str:
        return f"{self.month}.{self.part}"

    @property
    def has_file(self) -> bool:
        """Tells whether its file counts, which one that was not read back never does."""
        return self.state >= MonthState.WRITTEN


def read_month(text: str) -> Instant | None:
    """Returns the first instant of a month that is written `yyyy-MM`; None for any other text."""
    matched = _MONTH.fullmatch(text)
    if matched is None or int(matched[1]) < _YEAR_MIN:
        return None
    year, month = int(matched[1]), int(matched[2])
    return get_month_end(year - (month == 1), 12 if month == 1 else month - 1)


def render_month(at: Instant) -> str:
    """Returns the month of an instant, in UTC."""
    moment = to_datetime(at)
    return f"{moment.year:04}-{moment.month:02}"


def get_end(month: str) -> Instant:
    """Returns the instant at which a month is over."""
    year, number = month.split("-")
    return get_month_end(int(year), int(number))


def list_months(first_at: Instant, before: Instant) -> Iterator[str]:
    """Yields the months from that of an instant to the last one that is over before another."""
    month = render_month(first_at)
    while (end := get_end(month)) <= before:
        yield month
        month = render_month(end)


# ---- closing a chain ----

CLOSED_FOR_ARCHIVE = NO_BOUND
"""It is added to the length of a chain that is being archived, which no follow-up may then lengthen: the bound on the
length is a condition of every reservation."""


def is_being_archived(first: Payment) -> bool:
    return first.balance.chain_length >= CLOSED_FOR_ARCHIVE


def open_again(first: Payment) -> Payment:
    """Returns the first payment of a chain with the chain's own length."""
    if not is_being_archived(first):
        return first
    length = first.balance.chain_length - CLOSED_FOR_ARCHIVE
    return msgspec.structs.replace(first, balance=msgspec.structs.replace(first.balance, chain_length=length))


def get_last_change(payment: Payment) -> Instant:
    """Returns when a payment was last changed by what happened to it."""
    return max(payment.created_at, payment.completed_at or 0, payment.told_at or 0)
