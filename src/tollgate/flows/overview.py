"""Adds up completed payments for the overview: what was counted before, and what came since. Nothing is changed."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

import msgspec

from tollgate.catalog import limits, payment_types, results
from tollgate.operations.app import App
from tollgate.store import search_index
from tollgate.store.search_index import HourTally
from tollgate.values import Instant, MerchantId

Key = TypeVar("Key", bound=Hashable)

_TRIES = 3


class Overview(msgspec.Struct, frozen=True):
    tallies: list[HourTally]
    is_complete: bool
    """It is false while the index is so far behind that the newest payments are missing."""


async def sum_payments(
    app: App,
    merchant_id: MerchantId,
    channel_ids: Collection[str],
    begins_at: Instant,
    ends_at: Instant,
    *,
    hours: int,
) -> Overview:
    """Adds up the completed payments of some channels, by the hour or by the day."""
    database, limit = app.database, limits.LIMITS.tail_events_max
    tallies: list[HourTally] = []
    is_complete = False
    for _ in range(_TRIES):
        cursor = await search_index.get_cursor(database, merchant_id)
        counted = await search_index.list_tallies(database, merchant_id, begins_at, ends_at, hours)
        tail = await search_index.list_tail_tallies(database, merchant_id, cursor, begins_at, ends_at, hours, limit)
        tallies = [*counted, *tail]
        is_complete = not await search_index.is_far_behind(database, merchant_id, cursor, limit)
        # If the cursor moved meanwhile, some payments may be in both.
        if await search_index.get_cursor(database, merchant_id) == cursor:
            break
    return Overview([each for each in tallies if each.channel_id in channel_ids], is_complete)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of payments that are alike in one respect."""

    count: int
    approved: int
    amount: int
    """The approved amount in hundredths."""

    @property
    def declined(self) -> int:
        return self.count - self.approved

    @property
    def approval_rate(self) -> float:
        return self.approved / self.count if self.count else 0.0


def group_tallies(tallies: Iterable[HourTally], key: Callable[[HourTally], Key]) -> dict[Key, Figures]:
    """Adds tallies up by a key; the caller leaves one currency, because amounts of several are never added."""
    counts: Counter[Key] = Counter()
    approved: Counter[Key] = Counter()
    amounts: Counter[Key] = Counter()
    for tally in tallies:
        group = key(tally)
        counts[group] += tally.payments
        if is_approved(tally):
            approved[group] += tally.payments
            amounts[group] += tally.amount
    return {
        group: Figures(count=count, approved=approved[group], amount=amounts[group]) for group, count in counts.items()
    }


def is_approved(tally: HourTally) -> bool:
    """Tells whether payments succeeded; the codes of chargebacks are notices of something that happened."""
    known = results.RESULTS.get(tally.result_code)
    return known is not None and (results.is_success(known.code) or known.group == "chargeback")


def is_incoming(tally: HourTally) -> bool:
    """Tells whether payments began a chain with the shopper's money; volume and approval rate are theirs."""
    known = payment_types.PAYMENT_TYPES.get(tally.payment_type)
    return known is not None and known.starts_with_shopper_money
