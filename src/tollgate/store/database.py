"""The interface of a database and what both drivers share: faults, batches, and whether writing works.

What is specific to one database lives in its driver.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.hot import Answer, HotWrite, Row
from tollgate.store.schema import settings
from tollgate.store.statements import Dialect, HotRead, Statement, Write
from tollgate.values import Instant


class StoreFault(Exception):
    """A fault of the store is breakage; only the server catches it."""


class Unavailable(StoreFault):
    """The database takes no writes now, and nothing was written."""


class Unconfirmed(StoreFault):
    """The connection was lost during the commit, so nobody knows whether it was written."""


class Unwritable(StoreFault):
    """The database refuses the row itself."""


class Unreadable(StoreFault):
    """A stored row cannot be decoded."""


class Damaged(StoreFault):
    """The database or its writer is broken."""


class AlreadyServed(StoreFault):
    """Another server has opened the same file."""


class NoStore(StoreFault):
    pass


class WrongSchema(StoreFault):
    pass


class NoTables(WrongSchema):
    pass


When = Literal["before", "after"]
Probe = Callable[[str, When], None]


def ignore_probe(_label: str, _when: When) -> None:
    """Does nothing; a crash test installs a probe that kills the process before or after a labelled step."""


class Database(Protocol):
    @property
    def dialect(self) -> Dialect: ...

    @property
    def probe(self) -> Probe:
        """The probe is told the label of every write and wire request, before it begins and after it succeeded."""
        ...

    async def fetch(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        """Returns all rows; a statement that writes and returns rows is its own atomic unit."""
        ...

    async def fetch_one(self, statement: Statement, params: Mapping[str, Any]) -> Row | None: ...

    def read(self, hot: HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        """Returns all rows; reads that wait at the same time may share a round trip."""
        ...

    async def write(self, writes: Sequence[Write], *, label: str) -> bool:
        """Commits the writes as one unit. It returns False where a guard did not hold and nothing was written."""
        ...

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        """Writes a row by group commit. It answers when the row is durable; false where its guard refused it."""
        ...

    async def make_months(self, now: Instant) -> int:
        """Makes what is missing for the rows of this month and the next ones, and returns how much that was."""
        ...

    async def find_trouble(self) -> str | None:
        """Says why payments cannot be stored at present, without secrets; None while they can."""
        ...

    async def list_risks(self) -> list[str]:
        """Says by which settings an acknowledged write may be lost with one machine."""
        ...

    async def close(self) -> None:
        """Writes what is queued and closes all connections."""
        ...


class Probed:
    """A driver of this kind tells the probe which labelled write begins and which has ended."""

    probe: Probe = staticmethod(ignore_probe)

    def _probe_queued(self, label: str, writing: asyncio.Future[Answer]) -> asyncio.Future[Answer]:
        """Tells the probe of a write that was queued; nothing of it begins before the next turn of the loop.

        Callbacks run in the order they were added, so the probe is called before the caller goes on.
        """
        if self.probe is not ignore_probe:
            self.probe(label, "before")
            writing.add_done_callback(lambda _: self.probe(label, "after"))
        return writing


Item = TypeVar("Item")

ITEMS_MAX = 32
"""A larger batch lets all payments that came together wait for the database at once, and it then waits for them."""


class Batcher(Generic[Item, Answer]):
    """A batcher never waits to fill a batch: while one is being written the next one gathers by itself.

    `write` starts writing a batch and answers in the order of its items. When it ends with `Unwritable`, some item was
    to blame and nothing was written: every item of that batch is then written alone, so that only the bad one fails.
    Items with one `get_key` are never in one batch; the later one waits for the next.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Item]], asyncio.Future[Sequence[Answer]]],
        *,
        items_max: int = ITEMS_MAX,
        get_key: Callable[[Item], Hashable] | None = None,
    ) -> None:
        self._write = write
        self._get_key = get_key
        self._items_max = items_max
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._suspects: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._is_called = False
        self._is_closed = False
        self._writing: asyncio.Future[Sequence[Answer]] | None = None

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        if self._is_closed:
            raise Unavailable("the database is being closed")
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._waiting.append((item, future))
        if self._writing is None:
            self._call_start()
        return future

    def _call_start(self) -> None:
        """Starts at the end of this turn of the loop: what it queues shares the batch, and no time is spent waiting."""
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._start)

    async def close(self) -> None:
        """Refuses what is new and writes what is queued."""
        self._is_closed = True
        while self._waiting or self._suspects or self._writing is not None:
            self._start()
            if self._writing is not None:
                await asyncio.wait([self._writing])

    def _start(self) -> None:
        self._is_called = False
        if self._writing is not None or not (self._suspects or self._waiting):
            return
        queue, items_max = (self._suspects, 1) if self._suspects else (self._waiting, self._items_max)
        waiting = self._take(queue, items_max)
        try:
            writing = self._write([item for item, _ in waiting])
        except BaseException:
            # A bug, and it is reported as one; but nobody may wait for ever because of it.
            _fail(waiting, Damaged("the writer broke"))
            raise
        if writing.done():
            self._finish(waiting, writing)
        else:
            self._writing = writing
            writing.add_done_callback(partial(self._finish, waiting))

    def _take(
        self, queue: deque[tuple[Item, asyncio.Future[Answer]]], items_max: int
    ) -> list[tuple[Item, asyncio.Future[Answer]]]:
        if self._get_key is None:
            return [queue.popleft() for _ in range(min(len(queue), items_max))]
        taken: dict[Hashable, tuple[Item, asyncio.Future[Answer]]] = {}
        later = []
        while queue and len(taken) < items_max:
            each = queue.popleft()
            if taken.setdefault(self._get_key(each[0]), each) is not each:
                later.append(each)
        queue.extendleft(reversed(later))
        return list(taken.values())

    def _finish(
        self, waiting: list[tuple[Item, asyncio.Future[Answer]]], writing: asyncio.Future[Sequence[Answer]]
    ) -> None:
        self._writing = None
        fault = Unavailable("the writer was stopped") if writing.cancelled() else writing.exception()
        if fault is None:
            for (_, future), answer in zip(waiting, writing.result(), strict=True):
                # A caller that went away does not undo its write; there is just nobody to tell.
                if not future.done():
                    future.set_result(answer)
        elif isinstance(fault, Unwritable) and len(waiting) > 1:
            self._suspects.extend(waiting)
        else:
            _fail(waiting, fault)
            if isinstance(fault, Unavailable | Unconfirmed):
                # The database is gone. Each later batch would wait for it as long, so nobody's wait would have a limit.
                _fail([*self._suspects, *self._waiting], Unavailable(f"nothing was written: {fault}"))
                self._suspects.clear()
                self._waiting.clear()
        if self._suspects or self._waiting:
            self._call_start()


def _fail(waiting: list[tuple[Item, asyncio.Future[Answer]]], fault: BaseException) -> None:
    for _, future in waiting:
        if not future.done():
            future.set_exception(fault)


Watched = TypeVar("Watched")

CHECK_AFTER_S = 5.0
"""A write that succeeded is proof enough for so long."""
CHECK_AGAIN_S = 1.0
"""A database that refused a write is tried again after this time."""
_NAME = "write_check"
_TEXT = "-" * 16_384
"""The text is longer than a payment, so that a database that takes it has room for a payment."""

# Deleted first, because SQLite writes nothing where a row is replaced by an equal one. Another process may write the
# same row in between, so the insertion takes an existing row too.
_CLEAR = Statement(settings.delete().where(settings.c.name == _NAME))
_WRITE = Statement(
    insert(settings)
    .values(name=_NAME, value=_TEXT)
    .on_conflict_do_update(index_elements=[settings.c.name], set_={"value": _TEXT})
)

WRITE_CHECK = (Write(_CLEAR, {}), Write(_WRITE, {}))

CONFIRMATION = Statement(
    insert(settings)
    .values(name="write_confirmation", value="")
    .on_conflict_do_update(index_elements=[settings.c.name], set_={"value": ""})
    .returning(settings.c.name)
)
"""It changes nothing that is read. Once it is committed, so is all that was visible before it, on the standby too."""


class WriteHealth:
    """Remembers how the last write ended; `check_write` makes one, and ends with a `StoreFault` where that fails."""

    def __init__(self, check_write: Callable[[], Awaitable[object]], now: Callable[[], float] = time.monotonic) -> None:
        self._check_write = check_write
        self._now = now
        self._known_at = float("-inf")
        self._trouble: str | None = None
        self._checking = asyncio.Lock()

    def note_success(self) -> None:
        self._known_at, self._trouble = self._now(), None

    def note_fault(self, fault: StoreFault) -> None:
        self._known_at, self._trouble = self._now(), str(fault)

    async def watch(self, writing: Awaitable[Watched]) -> Watched:
        """Returns the result of a write and remembers how it ended; an unwritable row says nothing of the database."""
        try:
            answer = await writing
        except Unwritable:
            raise
        except StoreFault as fault:
            self.note_fault(fault)
            raise
        self.note_success()
        return answer

    async def find_trouble(self) -> str | None:
        """Says why nothing can be written; None while it can. Callers at the same moment share one write."""
        async with self._checking:
            if self._now() - self._known_at >= (CHECK_AFTER_S if self._trouble is None else CHECK_AGAIN_S):
                try:
                    await self._check_write()
                except StoreFault as fault:
                    self.note_fault(fault)
                else:
                    self.note_success()
            return self._trouble
