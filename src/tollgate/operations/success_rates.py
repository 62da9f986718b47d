"""The success rates of acquirer accounts, as one process knows them: what it counted itself, and the totals of all.

Which account is chosen by them is decided in `payments/routing.py`.
"""

from collections.abc import Callable, Iterable

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment
from tollgate.store.routing_counts import RoutingCount
from tollgate.values import HOUR, Instant, MerchantId

HOURS = 24
"""Older charges do not count."""
HALF_LIFE = 3
"""After so many hours a charge counts half, because acquirers become better and worse."""
_SHARES = tuple(0.5 ** (age / HALF_LIFE) for age in range(HOURS))
_BORROWED_MAX = 10
"""A bucket of few charges borrows up to so many from the one of its whole currency."""

_Key = tuple[MerchantId, str, str]
_Hours = dict[int, tuple[int, int]]


class Rate(msgspec.Struct, frozen=True):
    """Charges of an account, of which the older ones count less."""

    tries: float
    approvals: float


UNTRIED = Rate(0, 0)


def list_buckets(charged: Order | Payment) -> tuple[str, str]:
    """Returns the bucket of charges with the same BIN, or else brand, and currency, and that of the currency alone."""
    card = charged.card_summary if isinstance(charged, Order) else charged.card
    currency = charged.money.currency
    return f"{card.bin if card else charged.brand}/{currency}", f"/{currency}"


class SuccessRates:
    """Counts of charges in memory.

    A process that is killed loses what it counted since the last round, on which no money depends.
    """

    def __init__(self) -> None:
        self._totals: dict[_Key, _Hours] = {}
        """The counts that were read from the store."""
        self._new: dict[_Key, _Hours] = {}
        """The counts of this process that are not in the totals yet."""
        self._sums: dict[_Key, tuple[float, float]] = {}
        """The sums of both at the hour of the last question, because every payment asks for some of them."""
        self._sums_hour = 0
        self._read_hour: int | None = None
        """The hour in which the totals were read; None if they never were."""

    def note(
        self, merchant_id: MerchantId, account_id: str, buckets: Iterable[str], is_approved: bool, now: Instant
    ) -> None:
        """Counts the end of a charge."""
        hour = now // HOUR
        for bucket in buckets:
            key = merchant_id, account_id, bucket
            _add(self._new, key, hour, 1, int(is_approved))
            if hour == self._sums_hour and (known := self._sums.get(key)):
                self._sums[key] = known[0] + 1, known[1] + is_approved

    def estimate(self, merchant_id: MerchantId, account_id: str, buckets: tuple[str, str], now: Instant) -> Rate:
        """Returns the charges of an account that are like this one."""
        hour = now // HOUR
        own, wide = [self._sum((merchant_id, account_id, bucket), hour) for bucket in buckets]
        borrowed = min(wide[0], _BORROWED_MAX)
        return Rate(own[0] + borrowed, own[1] + (wide[1] * borrowed / wide[0] if wide[0] else 0.0))

    def _sum(self, key: _Key, hour: int) -> tuple[float, float]:
        if hour != self._sums_hour:
            self._sums, self._sums_hour = {}, hour
        known = self._sums.get(key)
        if known is None:
            known = self._sums[key] = self._sum_hours(key, hour)
        return known

    def _sum_hours(self, key: _Key, hour: int) -> tuple[float, float]:
        tries = approvals = 0.0
        for counts in (self._totals.get(key, {}), self._new.get(key, {})):
            for counted, (tried, approved) in counts.items():
                age = hour - counted
                if age < HOURS:
                    share = _SHARES[age] if age > 0 else 1.0
                    tries, approvals = tries + tried * share, approvals + approved * share
        return tries, approvals

    def list_new(self) -> list[RoutingCount]:
        """Lists the counts that are to be added to the store."""
        return [
            RoutingCount(merchant_id=key[0], account_id=key[1], bucket=key[2], hour=hour, tries=tries, approvals=good)
            for key, hours in self._new.items()
            for hour, (tries, good) in hours.items()
        ]

    def confirm(self, written: Iterable[RoutingCount]) -> None:
        """Counts what was added to the store as part of the totals from now on."""
        for count in written:
            _add(self._new, _get_key(count), count.hour, -count.tries, -count.approvals)
            _add(self._totals, _get_key(count), count.hour, count.tries, count.approvals)
        self._new = _keep_hours(self._new, lambda _, counts: counts != (0, 0))

    def choose_since(self, now: Instant) -> int:
        """Returns the hour from which totals may have changed since they were read."""
        return now // HOUR - HOURS + 1 if self._read_hour is None else self._read_hour - 1

    def take_totals(self, totals: Iterable[RoutingCount], since: int, now: Instant) -> None:
        """Takes the totals from an hour on in place of those known; of the hours before, old ones are forgotten."""
        self._read_hour, self._sums = now // HOUR, {}
        self._totals = _keep_hours(self._totals, lambda hour, _: now // HOUR - HOURS < hour < since)
        for count in totals:
            _add(self._totals, _get_key(count), count.hour, count.tries, count.approvals)
        newest_first = sorted((hour for hours in self._totals.values() for hour in hours), reverse=True)
        if len(newest_first) > LIMITS.routing_counts_max:
            # Cards of ever new BINs must not fill the memory.
            dropped = newest_first[LIMITS.routing_counts_max]
            self._totals = _keep_hours(self._totals, lambda hour, _: hour > dropped)


def _get_key(count: RoutingCount) -> _Key:
    return count.merchant_id, count.account_id, count.bucket


def _add(counts: dict[_Key, _Hours], key: _Key, hour: int, tries: int, approvals: int) -> None:
    hours = counts.setdefault(key, {})
    before = hours.get(hour, (0, 0))
    hours[hour] = before[0] + tries, before[1] + approvals


def _keep_hours(counts: dict[_Key, _Hours], is_kept: Callable[[int, tuple[int, int]], bool]) -> dict[_Key, _Hours]:
    kept = {key: {hour: each for hour, each in hours.items() if is_kept(hour, each)} for key, hours in counts.items()}
    return {key: hours for key, hours in kept.items() if hours}
