"""The sightings of a process: those that are not written yet, and reads of what is in the store.

A payment only adds to memory; a worker writes. What a crash loses is derived again from the payments.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tollgate.payments.velocities import Sighting, Velocity
from tollgate.store.database import Batcher, Database
from tollgate.store.risk import Look, SightingRow, read_sightings, read_totals
from tollgate.values import SECOND, Instant, MerchantId

_Found = Mapping[bytes, Sequence[Sighting]]

_UNSETTLED: Instant = 3 * SECOND
"""Other processes write their sightings within this time, so sums of older ones do not change any more."""


class _Sum:
    """The sum of one value between two instants, of which both only go forward."""

    __slots__ = ("begin", "by_currency", "lock", "upto")

    def __init__(self, begin: Instant) -> None:
        self.begin = self.upto = begin
        self.by_currency: dict[str, Velocity] = {}
        self.lock = asyncio.Lock()

    def add(self, some: Mapping[str, Velocity], sign: int) -> None:
        for currency, each in some.items():
            known = self.by_currency.get(currency, Velocity())
            self.by_currency[currency] = Velocity(known.count + sign * each.count, known.total + sign * each.total)


class Sightings:
    def __init__(self) -> None:
        self._last_at: Instant = 0
        self._by_key: dict[bytes, dict[str, Sighting]] = {}
        self._started: dict[str, Sequence[SightingRow]] = {}
        """The sightings of payments that are not written themselves."""
        self._held: dict[str, Sequence[SightingRow]] = {}
        """The sightings that count once their payments are completed."""
        self._ready: deque[SightingRow] = deque()
        self._sums: dict[tuple[bytes, int], _Sum] = {}
        self._reads: Batcher[Sequence[Look], _Found] | None = None

    def choose_instant(self, now: Instant) -> Instant:
        """Returns the time of a payment; no two have the same one, so it is clear which of them came first."""
        self._last_at = max(now, self._last_at + 1)
        return self._last_at

    # ---- what is not written yet ----

    def note(self, payment_id: str, rows: Sequence[SightingRow]) -> None:
        """Counts a payment from now on, although it is not written yet."""
        if rows:
            self._started[payment_id] = rows
            for row in rows:
                self._by_key.setdefault(row.key, {})[payment_id] = row.sighting

    def settle(self, payment_id: str, *, is_written: bool) -> None:
        """Lets the worker write the sightings of a payment that was written, and forgets those of another."""
        rows = self._started.pop(payment_id, ())
        if is_written:
            self._ready.extend(rows)
        else:
            self.forget(rows)

    def hold(self, payment_id: str, rows: Sequence[SightingRow]) -> None:
        """Keeps what the result of a payment showed, such as a wrong security code, until the payment is completed."""
        if rows:
            self._held[payment_id] = rows

    def complete(self, payment_id: str, at: Instant) -> None:
        """Counts what was held from the completion of the payment on."""
        for row in self._held.pop(payment_id, ()):
            counted = msgspec.structs.replace(row, at=at)
            self._by_key.setdefault(row.key, {})[payment_id] = counted.sighting
            self._ready.append(counted)

    def take(self, limit: int) -> list[SightingRow]:
        """Takes sightings to write; they count from memory until `forget`."""
        return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def put_back(self, rows: Sequence[SightingRow]) -> None:
        self._ready.extendleft(reversed(rows))

    def forget(self, rows: Iterable[SightingRow]) -> None:
        for row in rows:
            known = self._by_key.get(row.key)
            if known is not None:
                known.pop(row.payment_id, None)
                if not known:
                    del self._by_key[row.key]

    # ---- reading ----

    async def read(self, database: Database, looks: Sequence[Look]) -> dict[bytes, list[Sighting]]:
        """Reads sightings from the store and from memory; reads of several payments at once share a statement."""
        # Memory is read first: what is written meanwhile is in the store by the time that the store is read.
        unwritten = {look.key: dict(self._by_key[look.key]) for look in looks if look.key in self._by_key}
        if self._reads is None:
            self._reads = Batcher(lambda items: asyncio.ensure_future(_read_all(database, items)))
        stored = await self._reads.submit(looks)
        found: dict[bytes, list[Sighting]] = {}
        for look in looks:
            rows = {row.payment_id: row for row in stored.get(look.key, ())} | unwritten.get(look.key, {})
            found[look.key] = [row for row in rows.values() if look.begin <= row.at < look.end]
        return found

    async def add_up(
        self, database: Database, merchant_id: MerchantId, key: bytes, window_s: int, begin: Instant, end: Instant
    ) -> dict[str, Velocity]:
        """Adds up the sightings of a value that very many payments share. Only what changed since is read again."""
        own = self._by_key.get(key, {}).values()
        settled = max(begin, min(end - _UNSETTLED, *[row.at for row in own]) if own else end - _UNSETTLED)
        known = self._sums.get((key, window_s))
        if known is None or known.upto < begin:
            known = self._sums[key, window_s] = _Sum(begin)
        async with known.lock:
            if known.begin > begin or known.upto > settled:
                # Another payment, which came later, was faster.
                known, settled = _Sum(begin), max(begin, end - 2 * _UNSETTLED)
            looks = [Look(merchant_id, key, known.begin, begin), Look(merchant_id, key, known.upto, settled)]
            left, come = await read_totals(database, looks)
            known.add(left, -1)
            known.add(come, 1)
            known.begin, known.upto = begin, settled
            summed = dict(known.by_currency)
        recent = await self.read(database, [Look(merchant_id, key, settled, end)])
        for row in recent[key]:
            before = summed.get(row.currency, Velocity())
            summed[row.currency] = Velocity(before.count + 1, before.total + row.amount)
        return summed


async def _read_all(database: Database, items: Sequence[Sequence[Look]]) -> list[_Found]:
    """Reads what several payments ask for; a value that many ask for is read once."""
    merged: dict[bytes, Look] = {}
    for look in (look for looks in items for look in looks):
        known = merged.get(look.key)
        begin, end = (
            (look.begin, look.end) if known is None else (min(look.begin, known.begin), max(look.end, known.end))
        )
        merged[look.key] = Look(look.merchant_id, look.key, begin, end)
    found = await read_sightings(database, list(merged.values()))
    return [found] * len(items)
