"""The writer thread answers, reports faults, and is ended visibly by a bug; the pace decides when it is needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from tollgate.store.committing import CommitPace, WriterThread
from tollgate.store.database import Damaged, Unwritable

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


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_pace(*spent_s: float) -> tuple[CommitPace, Clock]:
    clock = Clock()
    pace = CommitPace(clock)
    for each in spent_s:
        pace.note(each)
    return pace, clock


def test_quick_commits_are_made_on_the_event_loop() -> None:
    assert make_pace(*[0.0009] * 1000)[0].is_quick


def test_a_single_slow_commit_changes_nothing() -> None:
    assert make_pace(*[0.0003] * 100, 30.0, *[0.0003] * 5)[0].is_quick


def test_slow_commits_are_made_in_the_thread_after_a_few() -> None:
    pace, _ = make_pace(0.010, 0.010)
    assert pace.is_quick

    pace.note(0.010)

    assert not pace.is_quick


def test_a_slow_disk_holds_the_event_loop_up_for_a_hundredth_of_the_time() -> None:
    pace, clock = make_pace(*[0.020] * 3)
    held_up_s, began = 0.0, clock.now
    while clock.now < began + 100.0:
        if pace.is_quick:
            held_up_s += 0.020
            pace.note(0.020)
        clock.now += 0.001

    assert 0.0 < held_up_s <= 1.02


def test_a_disk_that_is_quick_again_is_noticed_by_one_commit() -> None:
    pace, clock = make_pace(*[0.020] * 3)
    clock.now += 2.0
    assert pace.is_quick

    pace.note(0.0005)

    clock.now += 0.001
    assert pace.is_quick
