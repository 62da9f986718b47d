"""The sightings of a process: those that are not written yet, and reads of what is in the store.

A payment only adds to memory; a worker writes. What a crash loses is derived again from the payments.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence, Set
from itertools import chain, islice, repeat

import msgspec

from tollgate.operations.held_values import NEVER, Held, Sum, merge
from tollgate.operations.known_values import KnownValues
from tollgate.payments.risk_evaluation import Watched
from tollgate.payments.velocities import History, Sighting, Velocity
from tollgate.store import sightings as store
from tollgate.store.database import Batcher, Database
from tollgate.store.sightings import READ_MAX, Look
from tollgate.store.statements import Dialect
from tollgate.values import SECOND, Instant, MerchantId

_Found = Mapping[bytes, Sequence[Sighting]]

UNSETTLED: Instant = 3 * SECOND
"""Other processes write their sightings within this time, and tell it if they write older ones."""

_VALUES_MAX = 50_000
"""The number of values that are held in memory, with the number of their sightings and the sum of their amounts."""
_ROWS_MAX = 100_000
"""The number of written sightings that are held in memory."""
PARTS = 32
"""Values are in parts by their hashes, and those of one part stand together in the store."""
_VALUES_AT_ONCE = 500
_ALONE_S = 60.0
"""A process that saw no other write for so long knows all values by itself."""
_PAUSE_S = 0.01
"""Between two pages of values, payments have their turn."""


class Sightings:
    def __init__(self) -> None:
        self._last_at: Instant = 0
        self._held: dict[bytes, Held] = {}
        """Values by their keys; those that came last are at the end."""
        self._promised: dict[str, Sequence[Sighting]] = {}
        """The sightings that count once their payments are completed."""
        self._settled: list[Sequence[Sighting]] = []
        """The sightings of payments that were written."""
        self._ready: list[list[Sighting]] = [[] for _ in range(PARTS)]
        """The same by their parts."""
        self._sums: dict[tuple[bytes, int], Sum] = {}
        self._reads: Batcher[Sequence[Look], _Found] | None = None
        self._edition = 0
        """It grows when something else than this changed the sightings in the store."""
        self._own_changes = 0
        self._other_changes: int | None = None
        self._past_changes = -1
        self._alone_since = -math.inf
        """The time when another process was last seen to write."""
        self._rows = 0
        """The number of sightings in all histories."""
        self._known: KnownValues | None = None
        """All values in the store and in memory; None before they are read, and while other processes add to them."""
        self._growing: KnownValues | None = None
        """The same while they are being read."""

    def choose_instant(self, now: Instant) -> Instant:
        """Returns the time of a payment; no two have the same one, so it is clear which of them came first."""
        self._last_at = max(now, self._last_at + 1)
        return self._last_at

    # ---- what is not written yet ----

    def note(self, rows: Sequence[Sighting], watched: Iterable[Watched | None] = repeat(None)) -> list[Watched]:
        """Counts a payment from now on, although it is not written yet.

        watched: the rules that count the value of each sighting. Those that may be hit are returned; for the others,
        the known numbers of earlier payments are low enough.
        """
        reachable: list[Watched] = []
        get_held, edition = self._held.get, self._edition
        for row, each in zip(rows, watched, strict=False):
            held = get_held(row.key) or self._open(row.key)
            if each is not None:
                if (
                    held.edition != edition
                    or held.since > row.at - each.window
                    or not each.limits.allow(held.count, held.total, row.amount)
                ):
                    reachable.append(each)
                elif held.history is not None:
                    # The numbers are enough again.
                    self._let_go_history(held)
            held.fresh.append(row)
            held.count += 1
            held.total += row.amount
            if held.history is not None:
                held.history.add(row)
                self._rows += 1
        if len(self._held) > _VALUES_MAX or self._rows > _ROWS_MAX:
            self._evict(2 * len(rows))
        return reachable

    def _open(self, key: bytes) -> Held:
        """Begins to hold a value. If it is a new one, there is nothing to read of it."""
        held = self._held[key] = Held()
        if self._growing is not None:
            self._growing.add(key)
        if self._known is not None and self._known.add(key):
            held.since, held.edition = 0, self._edition
        return held

    def settle(self, rows: Sequence[Sighting], *, is_written: bool) -> None:
        """Lets the worker write the sightings of a payment that was written, and forgets those of another."""
        if is_written:
            self.put_back(rows)
        else:
            self._drop(rows)

    def hold(self, payment_id: str, rows: Sequence[Sighting]) -> None:
        """Keeps what the result of a payment showed, such as a wrong security code, until the payment is completed."""
        if rows:
            self._promised[payment_id] = rows

    def complete(self, payment_id: str, at: Instant) -> None:
        """Counts what was held from the completion of the payment on."""
        # Few results show something that counts.
        if promised := self._promised.pop(payment_id, ()):
            rows = [msgspec.structs.replace(row, at=at) for row in promised]
            self.note(rows)
            self.put_back(rows)

    def take(self, parts: Iterable[int]) -> list[Sighting]:
        """Takes sightings of some parts to write; they count as fresh until `forget`."""
        self._deal_out()
        taken: list[Sighting] = []
        for part in parts:
            taken += self._ready[part]
            self._ready[part] = []
        return taken

    def put_back(self, rows: Sequence[Sighting]) -> None:
        # Most payments of a merchant without rules have none.
        if rows:
            self._settled.append(rows)

    def _deal_out(self) -> None:
        settled, self._settled = self._settled, []
        for row in chain.from_iterable(settled):
            self._ready[row.key[1] % PARTS].append(row)

    def count_own_change(self) -> None:
        """Is told that some of them were written: it is no change by another process."""
        self._own_changes += 1

    def forget(self, rows: Iterable[Sighting]) -> None:
        """Is told that sightings were written: from now on they are only counted."""
        for row in rows:
            held = self._held.get(row.key)
            if held is not None:
                held.let_go(row)
                # Of most values that come often only numbers are held, and there is nothing to bound.
                if held.count <= 1 or held.since == NEVER or held.history is not None:
                    self._bound(row.key, held)

    def erase(self, payment_ids: Set[str]) -> None:
        """Forgets payments whose sightings are erased, so that none is written afterwards."""
        self._deal_out()
        for part, rows in enumerate(self._ready):
            self._drop([row for row in rows if row.payment_id in payment_ids])
            self._ready[part] = [row for row in rows if row.payment_id not in payment_ids]

    def _drop(self, rows: Iterable[Sighting]) -> None:
        for row in rows:
            held = self._held.get(row.key)
            if held is not None:
                self._rows -= held.size
                held.drop(row)
                self._rows += held.size
                self._bound(row.key, held)

    def _bound(self, key: bytes, held: Held) -> None:
        """Forgets a value of which nothing is known or that was seen once, as most are: it is read if it comes again.

        Also forgets the history of one that comes often and is not read: a value may be counted in one channel, and
        come in another where no rule reads it.
        """
        if held.readers:
            return
        if held.size > 2 * READ_MAX:
            self._let_go_history(held)
        if not held.fresh and (held.since == NEVER or held.count <= 1):
            self._rows -= held.size
            del self._held[key]

    def _let_go_history(self, held: Held) -> None:
        self._rows -= held.size
        held.history = None

    def _evict(self, tries: int) -> None:
        """Lets go of the values that are held for the longest time, so that memory has a bound."""
        for key in list(islice(self._held, tries)):
            held = self._held.pop(key)
            if not held.readers:
                self._let_go_history(held)
            if held.fresh or held.readers:
                self._held[key] = held

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
        if self._other_changes is not None:
            self._alone_since = time.monotonic()
        self._other_changes = others
        self._edition += 1
        self._known = None

    async def learn_values(self, database: Database) -> None:
        """Reads which values are in the store, while no other process adds to them."""
        is_alone = database.dialect is Dialect.SQLITE or time.monotonic() - self._alone_since > _ALONE_S
        if not is_alone or not (self._known is None or self._known.is_too_small):
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

    def was_seen(self, key: bytes) -> bool:
        """Tells whether a value may have been seen before."""
        return key in self._held or self._known is None or self._known.has(key)

    async def read(
        self, database: Database, merchant_id: MerchantId, begins: Mapping[bytes, Instant], end: Instant
    ) -> Mapping[bytes, History]:
        """Returns the sightings of values, each from a time of its own on, with some that are older or too new.

        What this process has read once it holds, and adds its own. Reads of several payments at once share a statement.
        """
        found: dict[bytes, History] = {}
        missing: dict[Look, Held] = {}
        for key, begin in begins.items():
            held = self._held.get(key) or self._open(key)
            if held.history is None or held.since > begin or held.edition != self._edition:
                missing[Look(merchant_id, key, begin, end)] = held
                continue
            if (rows := held.history.rows) and (rows[0].at < begin or len(rows) > 2 * READ_MAX):
                self._trim(held, held.history, begin)
            # It may be let go while the others are read.
            found[key] = held.history
        return found | await self._fill(database, missing) if missing else found

    def _trim(self, held: Held, history: History, begin: Instant) -> None:
        self._rows -= held.size
        history.forget_before(begin)
        if len(history.rows) > 2 * READ_MAX:
            history.keep_newest(READ_MAX)
        held.take(history, begin, held.edition)
        self._rows += held.size

    async def _fill(self, database: Database, missing: Mapping[Look, Held]) -> dict[bytes, History]:
        edition, looks, some = self._edition, [*missing], [*missing.values()]
        found: dict[bytes, History] = {}
        # They may be written meanwhile, and be missing in what is read.
        fresh = [list(held.fresh) for held in some]
        for held in some:
            held.is_torn = held.is_torn and held.readers > 0
            held.readers += 1
        try:
            stored = await self._read_stored(database, looks)
        finally:
            for held in some:
                held.readers -= 1
        for look, held, before in zip(looks, some, fresh, strict=True):
            history = found[look.key] = History(merge([*stored.get(look.key, ()), *before, *held.fresh]))
            self._rows += len(history.rows) - held.size
            held.take(history, look.begin, edition)
        return found

    def _read_stored(self, database: Database, looks: Sequence[Look]) -> Awaitable[_Found]:
        if database.dialect is Dialect.SQLITE:
            # A file is read at once, and waiting for others would take longer.
            return store.read_sightings(database, looks)
        if self._reads is None:
            self._reads = Batcher(lambda items: asyncio.ensure_future(_read_all(database, items)))
        return self._reads.submit(looks)

    def _list_fresh(self, key: bytes) -> list[Sighting]:
        held = self._held.get(key)
        return [] if held is None else list(held.fresh)

    async def add_up(
        self, database: Database, merchant_id: MerchantId, key: bytes, window_s: int, begin: Instant, end: Instant
    ) -> dict[str, Velocity]:
        """Adds up the sightings of a value that very many payments share. Only what changed since is read again."""
        own = self._list_fresh(key)
        settled = max(begin, min(end - UNSETTLED, own[0].at) if own else end - UNSETTLED)
        known = self._sums.get((key, window_s))
        if known is None or known.upto < begin:
            known = self._sums[key, window_s] = Sum(begin)
        async with known.lock:
            if known.begin > begin or known.upto > settled:
                # Another payment, which came later, was faster.
                known = Sum(begin)
            looks = [Look(merchant_id, key, known.begin, begin), Look(merchant_id, key, known.upto, settled)]
            left, come = await store.read_totals(database, looks)
            known.add(left, -1)
            known.add(come, 1)
            known.begin, known.upto = begin, settled
            summed = dict(known.by_currency)
        # Memory is read first: what is written meanwhile is in the store by the time that the store is read.
        fresh = self._list_fresh(key)
        stored = await self._read_stored(database, [Look(merchant_id, key, settled, end)])
        recent = {row.payment_id: row for row in (*stored.get(key, ()), *fresh) if settled <= row.at < end}
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
