"""Chooses where commits of SQLite are made: on the event loop while the disk is quick, in a thread while it is slow.

What is committed is not known here.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from tollgate.store import database

Batch = TypeVar("Batch")


class WriterThread(Generic[Batch]):
    """The thread calls `write` with each batch. A `StoreFault` fails the batch; anything else is a bug and ends it."""

    def __init__(self, write: Callable[[Batch], Sequence[Any]], name: str) -> None:
        self._write = write
        self._loop = asyncio.get_running_loop()
        self._inbox: SimpleQueue[tuple[Batch, asyncio.Future[Sequence[Any]]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self, batch: Batch) -> asyncio.Future[Sequence[Any]]:
        future: asyncio.Future[Sequence[Any]] = self._loop.create_future()
        if self._thread.is_alive():
            self._inbox.put((batch, future))
        else:
            future.set_exception(database.Damaged("the writer thread has ended"))
        return future

    def stop(self) -> None:
        """Returns when everything handed over is done."""
        self._inbox.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (task := self._inbox.get()) is not None:
            batch, future = task
            try:
                answers = self._write(batch)
            except database.StoreFault as fault:
                self._loop.call_soon_threadsafe(future.set_exception, fault)
            except BaseException:
                self._loop.call_soon_threadsafe(future.set_exception, database.Damaged("the writer thread broke"))
                raise
            else:
                self._loop.call_soon_threadsafe(future.set_result, answers)


_QUICK_S = 0.001
"""A commit that takes less is made on the event loop, because a thread takes longer to get it and to say it is done."""
_NOTED_MAX_S = 4 * _QUICK_S
"""A longer commit counts as this one, because now and then a commit also moves the log into the file."""
_TRIAL_PAUSES = 100
"""After so many times the time that a slow commit took, one is tried on the event loop again."""


class CommitPace:
    """Decides by the moving average of recent commits whether the next one is made on the event loop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._average_s = 0.0
        self._slow_until = float("-inf")

    @property
    def is_quick(self) -> bool:
        return self._now() >= self._slow_until

    def note(self, spent_s: float) -> None:
        self._average_s += (min(spent_s, _NOTED_MAX_S) - self._average_s) / 8
        if self._average_s >= _QUICK_S:
            # The one commit that is tried next decides alone.
            self._average_s = _QUICK_S
            self._slow_until = self._now() + _TRIAL_PAUSES * spent_s
