"""Group commit: what is queued becomes one batch, and each caller wakes when its item is durable. Knows no driver."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from tollgate.store.faults import Damaged, Unavailable, Unwritable

Item = TypeVar("Item")
Answer = TypeVar("Answer")

ITEMS_MAX = 64


class Batcher(Generic[Item, Answer]):
    """Never waits to fill a batch: while one is being written the next one gathers by itself.

    `write` starts writing a batch and answers in the order of its items. When it ends with `Unwritable`, some item was
    to blame and nothing was written: every item of that batch is then written alone, so that only the bad one fails.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Item]], asyncio.Future[Sequence[Answer]]],
        *,
        lanes: int,
        items_max: int = ITEMS_MAX,
    ) -> None:
        self._write = write
        self._lanes_free = lanes
        self._items_max = items_max
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._suspects: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._is_called = False
        self._is_closed = False
        self._in_flight: set[asyncio.Future[Sequence[Answer]]] = set()

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        if self._is_closed:
            raise Unavailable("the database is being closed")
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._waiting.append((item, future))
        # At the end of this turn of the loop, so that everything it queues shares the batch; no time is spent waiting.
        if self._lanes_free and not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._start)
        return future

    async def close(self) -> None:
        """Refuse what is new and write what is queued."""
        self._is_closed = True
        while self._waiting or self._suspects or self._in_flight:
            self._start()
            await asyncio.wait(self._in_flight)

    def _start(self) -> None:
        self._is_called = False
        while self._lanes_free and (waiting := self._cut()):
            self._lanes_free -= 1
            try:
                writing = self._write([item for item, _ in waiting])
            except BaseException:
                # A bug, and it is reported as one; but nobody may wait for ever because of it.
                self._lanes_free += 1
                _fail(waiting, Damaged("the writer broke"))
                raise
            self._in_flight.add(writing)
            writing.add_done_callback(partial(self._finish, waiting))

    def _cut(self) -> list[tuple[Item, asyncio.Future[Answer]]]:
        if self._suspects:
            return [self._suspects.popleft()]
        waiting = self._waiting
        return [waiting.popleft() for _ in range(min(len(waiting), self._items_max))]

    def _finish(
        self, waiting: list[tuple[Item, asyncio.Future[Answer]]], writing: asyncio.Future[Sequence[Answer]]
    ) -> None:
        self._in_flight.discard(writing)
        self._lanes_free += 1
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
        self._start()


def _fail(waiting: list[tuple[Item, asyncio.Future[Answer]]], fault: BaseException) -> None:
    for _, future in waiting:
        if not future.done():
            future.set_exception(fault)
