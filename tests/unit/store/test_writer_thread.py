"""The writer thread: it answers, it reports faults, and a bug ends it visibly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from tollgate.store.database import Damaged, Unwritable
from tollgate.store.sqlite import WriterThread

pytestmark = pytest.mark.anyio


def write(batch: Sequence[int]) -> Sequence[int]:
    if 13 in batch:
        raise Unwritable("thirteen")
    return [1 // item for item in batch]


async def test_it_answers_and_reports_and_goes_on() -> None:
    thread = WriterThread(write, "writer")

    assert await thread.start([1]) == [1]
    with pytest.raises(Unwritable):
        await thread.start([13])
    assert await thread.start([1, 1]) == [1, 1]
    thread.stop()
    assert not thread.is_alive


async def test_what_was_handed_over_is_done_before_it_stops() -> None:
    thread = WriterThread(write, "writer")
    waiting = [thread.start([1]) for _ in range(20)]

    thread.stop()

    assert await asyncio.gather(*waiting) == [[1]] * 20


async def test_a_bug_is_raised_to_the_caller_and_to_every_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bugs: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda details: bugs.append(details.exc_type))
    thread = WriterThread(write, "writer")

    with pytest.raises(Damaged, match="broke"):
        await thread.start([0])
    thread.stop()
    with pytest.raises(Damaged, match="ended"):
        await thread.start([1])
    assert bugs == [ZeroDivisionError]
    assert not thread.is_alive
