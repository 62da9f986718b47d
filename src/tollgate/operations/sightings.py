"""The sightings of a process: those that are not written yet, and reads of what is in the store.

A payment only adds to memory; a worker writes. What a crash loses is derived again from the payments.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Iterable, Mapping, Sequence, Set
from itertools import islice

import msgspec

from tollgate.operations.known_values import KnownValues
from tollgate.payments.velocities import History, Sighting, Velocity
from tollgate.store import risk as store
from tollgate.store.database import Batcher, Database
from tollgate.store.risk import READ_MAX, Look, SightingRow
from tollgate.store.statements import Dialect
from tollgate.values import SECOND, Instant, MerchantId

_Found = Mapping[bytes, Sequence[Sighting]]

UNSETTLED: Instant = 3 * SECOND
"""Other processes write their sightings within this time, and tell it if they write older ones."""

_NEVER: Instant = 1 << 62
_VALUES_MAX = 20_000
"""The number of values whose sightings are held in memory."""
_ROWS_MAX = 100_000
"""The number of sightings that are held in memory."""
_VALUES_AT_ONCE = 500
_PAUSE_S = 0.01
"""Between two pages of values, payments have their turn."""


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


class _Held(History):
    """The sightings of one value that this process knows: those it has not written yet, or all since some time."""

    __slots__ = ("edition", "readers", "since")

    def __init__(self) -> None:
        super().__init__()
        self.since: Instant = _NEVER
        """The time from which all sightings are known; `_NEVER` before the value was read."""
        self.edition = 0
        self.readers = 0


class Sightings:
    def __init__(self) -> None:
        self._last_at: Instant = 0
        self._held: dict[bytes, _Held] = {}
        """The sightings by the key of their value; those that were asked for last are at the end."""
        self._started: dict[str, Sequence[SightingRow]] = {}
        """The sightings of payments that are not written themselves."""
        self._promised: dict[str, Sequence[SightingRow]] = {}
        """The sightings that count once their payments are completed."""
        self._ready: deque[SightingRow] = deque()
        self._unwritten: dict[str, int] = {}
        """The number of sightings of each payment that are not in the store."""
        self._sums: dict[tuple[bytes, int], _Sum] = {}
        self._reads: Batcher[Sequence[Look], _Found] | None = None
        self._edition = 0
        """It grows when something else than this changed the sightings in the store."""
        self._own_changes = 0
        self._other_changes = -1
        self._past_changes = -1
        self._rows = 0
        """The number of sightings that are held."""
        self._known: KnownValues | None = None
        """All values in the store and in memory; None before they are read, and where other processes add to them."""
        self._growing: KnownValues | None = None
        """The same while they are being read."""

    def choose_instant(self, now: Instant) -> Instant:
        """Returns the time of a payment; no two have the same one, so it is clear which of them came first."""
        self._last_at = max(now, self._last_at + 1)
        return self._last_at

    # ---- what is not written yet ----

    def note(self, payment_id: str, rows: Sequence[SightingRow]) -> None:
        """Counts a payment from now on, although it is not written yet."""
        if rows:
            self._started[payment_id] = rows
            self._add(payment_id, rows)

    def _add(self, payment_id: str, rows: Sequence[SightingRow]) -> None:
        self._unwritten[payment_id] = self._unwritten.get(payment_id, 0) + len(rows)
        self._rows += len(rows)
        for row in rows:
            (self._held.get(row.key) or self._open(row.key)).add(row.sighting)
        if len(self._held) > _VALUES_MAX or self._rows > _ROWS_MAX:
            self._evict(2 * len(rows))

    def _open(self, key: bytes) -> _Held:
        """Begins to hold a value. If it is a new one, there is nothing to read of it."""
        held = self._held[key] = _Held()
        if self._growing is not None:
            self._growing.add(key)
        if self._known is not None and self._known.add(key):
            held.since, held.edition = 0, self._edition
        return held

    def settle(self, payment_id: str, *, is_written: bool) -> None:
        """Lets the worker write the sightings of a payment that was written, and forgets those of another."""
        rows = self._started.pop(payment_id, ())
        if is_written:
            self._ready.extend(rows)
        else:
            self._drop(rows)

    def hold(self, payment_id: str, rows: Sequence[SightingRow]) -> None:
        """Keeps what the result of a payment showed, such as a wrong security code, until the payment is completed."""
        if rows:
            self._promised[payment_id] = rows

    def complete(self, payment_id: str, at: Instant) -> None:
        """Counts what was held from the completion of the payment on."""
        rows = [msgspec.structs.replace(row, at=at) for row in self._promised.pop(payment_id, ())]
        if rows:
            self._add(payment_id, rows)
            self._ready.extend(rows)

    @property
    def ready(self) -> int:
        """The number of sightings that can be written."""
        return len(self._ready)

    def take(self, limit: int) -> list[SightingRow]:
        """Takes sightings to write; they count from memory until `forget`."""
        return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def put_back(self, rows: Sequence[SightingRow]) -> None:
        self._ready.extendleft(reversed(rows))

    def forget(self, rows: Sequence[SightingRow]) -> None:
        """Is told that sightings were written, in one change of the store; of values that are not held all go."""
        self._own_changes += 1
        self._count_down(rows)
        for row in rows:
            held = self._held.get(row.key)
            if held is None or held.readers:
                continue
            if held.since == _NEVER:
                self._remove(held, row)
            else:
                # A value may be counted in one channel, and come in another where no rule reads it.
                self._keep_newest(held)

    def erase(self, payment_ids: Set[str]) -> None:
        """Forgets payments whose sightings are erased, so that none is written afterwards."""
        self._drop([row for row in self._ready if row.payment_id in payment_ids])
        self._ready = deque(row for row in self._ready if row.payment_id not in payment_ids)

    def _drop(self, rows: Sequence[SightingRow]) -> None:
        self._count_down(rows)
        for row in rows:
            if (held := self._held.get(row.key)) is not None:
                self._remove(held, row)

    def _count_down(self, rows: Iterable[SightingRow]) -> None:
        for row in rows:
            left = self._unwritten.get(row.payment_id, 1) - 1
            if left:
                self._unwritten[row.payment_id] = left
            else:
                self._unwritten.pop(row.payment_id, None)

    def _remove(self, held: _Held, row: SightingRow) -> None:
        self._rows -= len(held.rows)
        held.remove(row.sighting)
        self._rows += len(held.rows)
        if not held.rows and held.since == _NEVER and not held.readers:
            del self._held[row.key]

    def _evict(self, tries: int) -> None:
        """Lets go of the values that nobody asked for since long, so that memory has a bound."""
        for key in list(islice(self._held, tries)):
            held = self._held.pop(key)
            if held.readers or not self._unwritten.keys().isdisjoint([row.payment_id for row in held.rows]):
                self._held[key] = held
            else:
                self._rows -= len(held.rows)

    # ---- reading ----

    async def follow(self, database: Database) -> None:
        """Looks whether other processes changed the sightings; what is held is then read again.

        Sums begin anew only if old sightings were changed, because the new ones are added anyway.
        """
        others = await store.count_changes(database) - self._own_changes
        if others == self._other_changes:
            return
        past = await store.count_past_changes(database)
        if past != self._past_changes:
            self._past_changes = past
            self._sums.clear()
        self._other_changes = others
        self._edition += 1
        self._known = None

    async def learn_values(self, database: Database) -> None:
        """Reads which values are in the store, where no other process adds to them."""
        if database.dialect is not Dialect.SQLITE or not (self._known is None or self._known.is_too_small):
            return
        edition, after = self._edition, (MerchantId(""), b"")
        known = self._growing = KnownValues(await store.count_sightings(database))
        for key in self._held:
            known.add(key)
        while some := await store.list_values(database, after, _VALUES_AT_ONCE):
            for _, key in some:
                known.add(key)
            after = some[-1]
            await asyncio.sleep(_PAUSE_S)
        self._growing = None
        self._known = known if edition == self._edition else None

    async def read(
        self, database: Database, merchant_id: MerchantId, begins: Mapping[bytes, Instant], end: Instant
    ) -> Mapping[bytes, History]:
        """Returns the sightings of values, each from a time of its own on, with some that are older or too new.

        What this process has read once it holds, and adds its own. Reads of several payments at once share a statement.
        """
        found: dict[bytes, _Held] = {}
        missing: list[Look] = []
        for key, begin in begins.items():
            held = self._held.pop(key, None)
            if held is None:
                held = self._open(key)
            else:
                self._held[key] = held
            found[key] = held
            if held.since > begin or held.edition != self._edition:
                missing.append(Look(merchant_id, key, begin, end))
            elif held.rows and (held.rows[0].at < begin or len(held.rows) > 2 * READ_MAX):
                self._trim(held, begin)
        if missing:
            await self._fill(database, missing, [found[look.key] for look in missing])
        return found

    def _trim(self, held: _Held, begin: Instant) -> None:
        self._rows -= len(held.rows)
        held.forget_before(begin)
        held.since = begin
        self._rows += len(held.rows)
        self._keep_newest(held)

    def _keep_newest(self, held: _Held) -> None:
        if len(held.rows) > 2 * READ_MAX:
            self._rows -= len(held.rows) - READ_MAX
            held.keep_newest(READ_MAX)

    async def _fill(self, database: Database, looks: Sequence[Look], some: Sequence[_Held]) -> None:
        edition = self._edition
        # What is written meanwhile may be missing in what is read, so only what was written before is replaced by it.
        before = [{row.payment_id for row in held.rows if row.payment_id not in self._unwritten} for held in some]
        for held in some:
            held.readers += 1
        try:
            stored = await self._read_stored(database, looks)
        finally:
            for held in some:
                held.readers -= 1
        for look, held, written in zip(looks, some, before, strict=True):
            kept = [row for row in held.rows if row.payment_id not in written]
            if look.key in stored or len(kept) < len(held.rows):
                rows = {row.payment_id: row for row in (*stored.get(look.key, ()), *kept)}
                self._rows += len(rows) - len(held.rows)
                held.replace(rows.values())
            held.since, held.edition = look.begin, edition

    def _read_stored(self, database: Database, looks: Sequence[Look]) -> Awaitable[_Found]:
        if database.dialect is Dialect.SQLITE:
            # A file is read at once, and waiting for others would take longer.
            return store.read_sightings(database, looks)
        if self._reads is None:
            self._reads = Batcher(lambda items: asyncio.ensure_future(_read_all(database, items)))
        return self._reads.submit(looks)

    def _list_unwritten(self, key: bytes) -> list[Sighting]:
        held = self._held.get(key)
        if held is None:
            return []
        if held.since != _NEVER:
            # Too many payments share it, so those that are written are not held.
            self._rows -= len(held.rows)
            held.replace([row for row in held.rows if row.payment_id in self._unwritten])
            self._rows += len(held.rows)
            held.since = _NEVER
        return list(held.rows)

    async def add_up(
        self, database: Database, merchant_id: MerchantId, key: bytes, window_s: int, begin: Instant, end: Instant
    ) -> dict[str, Velocity]:
        """Adds up the sightings of a value that very many payments share. Only what changed since is read again."""
        own = self._list_unwritten(key)
        settled = max(begin, min(end - UNSETTLED, own[0].at) if own else end - UNSETTLED)
        known = self._sums.get((key, window_s))
        if known is None or known.upto < begin:
            known = self._sums[key, window_s] = _Sum(begin)
        async with known.lock:
            if known.begin > begin or known.upto > settled:
                # Another payment, which came later, was faster.
                known = _Sum(begin)
            looks = [Look(merchant_id, key, known.begin, begin), Look(merchant_id, key, known.upto, settled)]
            left, come = await store.read_totals(database, looks)
            known.add(left, -1)
            known.add(come, 1)
            known.begin, known.upto = begin, settled
            summed = dict(known.by_currency)
        # Memory is read first: what is written meanwhile is in the store by the time that the store is read.
        unwritten = self._list_unwritten(key)
        stored = await self._read_stored(database, [Look(merchant_id, key, settled, end)])
        recent = {row.payment_id: row for row in (*stored.get(key, ()), *unwritten) if settled <= row.at < end}
        for row in recent.values():
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
    found = await store.read_sightings(database, list(merged.values()))
    return [found] * len(items)
