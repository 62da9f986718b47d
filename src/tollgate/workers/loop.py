"""Runs the workers of the table, each on its own, so that one that raises delays no other.

What a worker does is not known here.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from tollgate.operations.app import App
from tollgate.store.notices import Listen

_log = logging.getLogger("tollgate.worker")

_Item = TypeVar("_Item")

_ROUNDS_AT_ONCE_MAX = 20
"""Rounds that found work follow each other at once, up to this many without a pause."""

_LOOK_EVERY_S = 0.5
"""The time between looks for more work while some is under way."""
_GRACE_S = 3.0
"""The time that a stopped worker waits for what it began."""


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    every_s: float
    run: Callable[[App], Awaitable[int]]
    """Runs one round and returns how much work it found."""
    is_woken_by_changes: bool = False
    """A notice that merchants have changed ends its pause."""


class Loop:
    def __init__(self, app: App, workers: Iterable[Worker], listen: Listen | None = None) -> None:
        self._app = app
        self._workers = tuple(workers)
        self._listen = listen
        """Calls its argument for each notice; without it workers run at their own intervals only."""
        self._wakings: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._repeat(worker), name=worker.name) for worker in self._workers]
        if self._listen is not None:
            self._tasks.append(asyncio.create_task(self._follow_notices(self._listen), name="notices"))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake(self) -> None:
        """Ends the pauses of the workers that follow changes; one in the middle of a round runs another after it."""
        for waking in self._wakings:
            waking.set()

    async def _follow_notices(self, listen: Listen) -> None:
        try:
            await listen(self.wake)
        except Exception:
            _log.exception("changes are noticed by polling only")

    async def _repeat(self, worker: Worker) -> None:
        waking = asyncio.Event()
        if worker.is_woken_by_changes:
            self._wakings.append(waking)
        while True:
            for _ in range(_ROUNDS_AT_ONCE_MAX):
                if not await run_round(worker, self._app):
                    break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(worker.every_s):
                    await waking.wait()
            waking.clear()


async def run_round(worker: Worker, app: App) -> int:
    """Logs an exception; the next round tries again, because the work is still in the store."""
    try:
        return await worker.run(app)
    except Exception:
        _log.exception("worker round failed", extra={"worker": worker.name})
        return 0


async def run_each(items: Iterable[_Item], run_one: Callable[[_Item], Awaitable[object]]) -> None:
    """Runs all items at once, so that a silent acquirer delays nobody; the caller bounds how many there are.

    An item that raises does not disturb the others; it stays in the store and comes again.
    """
    await asyncio.gather(*[run_guarded(item, run_one) for item in items])


async def run_as_they_come(
    find: Callable[[int], Awaitable[Sequence[_Item]]], run_one: Callable[[_Item], Awaitable[object]], *, at_once: int
) -> int:
    """Finds more while some are under way, so that one that hangs blocks no other; returns how many it found.

    `find` takes the number that there is room for. When the worker is stopped, what is under way may still end.
    """
    under_way: set[asyncio.Task[None]] = set()
    count = 0
    try:
        while True:
            room = at_once - len(under_way)
            found = await find(room) if room else ()
            under_way |= {asyncio.create_task(run_guarded(item, run_one)) for item in found}
            count += len(found)
            if not under_way:
                return count
            _, under_way = await asyncio.wait(under_way, timeout=_LOOK_EVERY_S)
    finally:
        if under_way:
            _, under_way = await asyncio.wait(under_way, timeout=_GRACE_S)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def run_guarded(item: _Item, run_one: Callable[[_Item], Awaitable[object]]) -> None:
    """Logs what an item raises; the item is still in the store and comes again."""
    try:
        await run_one(item)
    except Exception:
        _log.exception("worker item failed")
