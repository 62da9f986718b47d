"""A streaming standby of PostgreSQL that is read from: how far it is behind, and whether it is good enough.

What is read from it is decided elsewhere.
"""

import asyncio
import contextlib
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from tollgate.store import statements
from tollgate.store.database import Database, Probe, StoreFault, Unavailable
from tollgate.store.hot import Answer, HotWrite, Row
from tollgate.values import Instant

if TYPE_CHECKING:
    import asyncpg

    from tollgate.store.postgres import PostgresDatabase

_log = logging.getLogger("tollgate.replica")

MEASURE_S = 2.0
"""A standby that does not say within this time how far it is counts as gone."""
_SAMPLES_MAX = 5000
"""One a second for more than the longest lag that may be allowed, so that a standby so far behind can be followed."""

_Found = TypeVar("_Found")

# A standby has the identity of its primary, and a copy that was restored elsewhere has not its place in the log. A
# standby of a primary that was replaced has another timeline; whoever may not see the one that it receives (pg_monitor)
# sees it after its next restart point.
_WHERE_PRIMARY = """
SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint, system_identifier, current_database(),
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int
FROM pg_control_system()
"""
_WHERE_STANDBY = """
SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint END,
    system_identifier, current_database(),
    greatest(timeline_id, min_recovery_end_timeline, (SELECT received_tli FROM pg_stat_wal_receiver))
FROM pg_control_system(), pg_control_checkpoint(), pg_control_recovery()
"""


class Source(msgspec.Struct, frozen=True):
    """Says what the rows of an answer were read from, while a replica is configured."""

    lag_s: float | None
    """The rows of the replica are at most so old; None if they were read from the primary."""
    why: str = ""
    """The reason if they were read from the primary."""


class Replica:
    """A worker measures every second. What the primary had written at the begin of a measurement is compared with what
    the standby has replayed, so no clock of another machine matters, and a standby that is cut off falls behind too."""

    def __init__(
        self, url: str, primary: Database, lag_max_s: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._url, self._lag_max_s, self._now = url, lag_max_s, now
        self._primary = cast("PostgresDatabase", primary)
        self._standby: PostgresDatabase | None = None
        self._samples: deque[tuple[float, int]] = deque(maxlen=_SAMPLES_MAX)
        """The places in the log of the primary, each with the time before it was asked for."""
        self._identity = ""
        self._fresh_at = float("-inf")
        """The time up to which the standby has all that the primary had written."""
        self._trouble = "it was not reached yet"
        self._lost = asyncio.Event()
        self._was_used = False

    @property
    def lag_s(self) -> float:
        """Returns the seconds that the standby is behind at most; infinite while it cannot be used at all."""
        return float("inf") if self._trouble else self._now() - self._fresh_at

    @property
    def trouble(self) -> str:
        """Says why nothing is read from the standby now; "" while it is."""
        if self._trouble:
            return self._trouble
        if self._fresh_at == float("-inf"):
            return "it has not caught up yet"
        return f"it is {self.lag_s:.0f} s behind" if self.lag_s > self._lag_max_s else ""

    @property
    def primary(self) -> Database:
        return self._primary

    @property
    def writes_seen_after_s(self) -> int:
        """Returns the time after which a replica that is used has what was written before."""
        return math.ceil(self._lag_max_s + MEASURE_S)

    async def measure(self) -> None:
        """Never raises because of a database: whatever is wrong is the trouble of the replica."""
        from tollgate.store.postgres_faults import FAULTS

        try:
            await _bound(self._sample())
        except (StoreFault, *FAULTS):
            # Nothing new is known of the primary, so the standby seems to fall behind.
            pass
        try:
            self._trouble = await _bound(self._compare())
        except (StoreFault, *FAULTS) as fault:
            self._trouble = f"it cannot be read ({type(fault).__name__})"
        self._note()

    async def _sample(self) -> None:
        began_at = self._now()
        async with self._primary.borrow() as connection:
            place, identity = _read_place(await connection.fetchrow(_WHERE_PRIMARY))
        if identity != self._identity:
            # Places in the log of a primary that was replaced say nothing of its successor's.
            self._samples.clear()
            self._identity = identity
        self._samples.append((began_at, place))

    async def _compare(self) -> str:
        """Moves the time up to which the standby has everything; returns what is wrong with it."""
        if self._standby is None:
            # Imported here, so that a laptop does not pay for the driver it does not use.
            from tollgate.store import postgres

            self._standby = await postgres.open_postgres(self._url, read_only=True, must_exist=True, contracts=False)
        async with self._standby.borrow() as connection:
            place, identity = _read_place(await connection.fetchrow(_WHERE_STANDBY))
        if not self._identity:
            return "the primary cannot be asked how far it is behind"
        if place < 0 or identity != self._identity:
            return "it is no standby of the primary"
        while self._samples and self._samples[0][1] <= place:
            self._fresh_at = self._samples.popleft()[0]
        return ""

    def _note(self) -> None:
        is_used = not self.trouble
        if is_used:
            self._lost.clear()
        else:
            self._lost.set()
        if is_used != self._was_used:
            if is_used:
                _log.info("reading from the replica")
            else:
                _log.warning("reading from the primary instead of the replica", extra={"why": self.trouble})
        self._was_used = is_used

    def note_fault(self, fault: StoreFault) -> None:
        """Reads nothing from the standby until it was measured again."""
        self._trouble = self._trouble or f"it cannot be read ({type(fault).__name__})"
        self._note()

    def make_source(self) -> Source:
        return Source(None, self.trouble) if self.trouble else Source(self.lag_s)

    def get_database(self) -> Database:
        """Returns a database that reads from the standby and writes to the primary."""
        if self._standby is None:
            raise Unavailable("the replica was not reached yet")
        return ReadingDatabase(self._standby, self._primary)

    async def run(self, reading: Coroutine[Any, Any, _Found]) -> _Found:
        """Waits for a read until it is done or the standby is lost; then it is cut off, and raises Unavailable."""
        task, lost = asyncio.ensure_future(reading), asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait([task, lost], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Unavailable("the replica was lost")
        finally:
            lost.cancel()
            _abandon(task)

    async def close(self) -> None:
        if self._standby is not None:
            with contextlib.suppress(TimeoutError):
                # A connection that hangs must not hold up the end of the process.
                async with asyncio.timeout(MEASURE_S):
                    await self._standby.close()


async def _bound(work: Coroutine[Any, Any, _Found]) -> _Found:
    task = asyncio.ensure_future(work)
    try:
        if (await asyncio.wait([task], timeout=MEASURE_S))[0]:
            return task.result()
        raise TimeoutError
    finally:
        _abandon(task)


def _abandon(task: asyncio.Future[Any]) -> None:
    """Cancels a task without waiting for its end: the driver may wait long for a server that hangs."""
    task.cancel()
    # What it raises has been told, or nobody asks any more.
    task.add_done_callback(lambda done: None if done.cancelled() else done.exception())


def _read_place(record: "asyncpg.Record") -> tuple[int, str]:
    """Returns a place in the log, -1 for a server that is no standby, and what tells histories of databases apart."""
    place, *identity = record
    return -1 if place is None else int(place), "/".join(map(str, identity))


class ReadingDatabase:
    """Reads from the standby. Whatever writes goes to the primary, so a page that reads here can lose nothing."""

    def __init__(self, standby: Database, primary: Database) -> None:
        self._standby, self._primary = standby, primary

    @property
    def dialect(self) -> statements.Dialect:
        return self._primary.dialect

    @property
    def probe(self) -> Probe:
        return self._primary.probe

    async def fetch(self, statement: statements.Statement, params: Mapping[str, Any]) -> list[Row]:
        return await self._choose(statement).fetch(statement, params)

    async def fetch_one(self, statement: statements.Statement, params: Mapping[str, Any]) -> Row | None:
        return await self._choose(statement).fetch_one(statement, params)

    def _choose(self, statement: statements.Statement) -> Database:
        return self._primary if statement.is_write else self._standby

    def read(self, hot: statements.HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        return self._standby.read(hot, params)

    async def write(self, writes: Sequence[statements.Write], *, label: str) -> bool:
        return await self._primary.write(writes, label=label)

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        return self._primary.submit(hot, row, label=label)

    async def make_months(self, now: Instant) -> int:
        return await self._primary.make_months(now)

    async def find_trouble(self) -> str | None:
        return await self._primary.find_trouble()

    async def list_risks(self) -> list[str]:
        return await self._primary.list_risks()

    async def close(self) -> None:
        """Closes nothing: the connections belong to others."""
