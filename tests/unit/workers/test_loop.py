"""Items of a round run side by side, and one that breaks is its own misfortune."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tollgate.workers.loop import run_as_they_come, run_each

pytestmark = pytest.mark.anyio


async def test_an_item_that_waits_does_not_delay_the_others() -> None:
    others_are_done = asyncio.Event()

    async def run_one(item: str) -> None:
        if item == "silent acquirer":
            await others_are_done.wait()
        else:
            others_are_done.set()

    async with asyncio.timeout(60):
        await run_each(["silent acquirer", "prompt acquirer"], run_one)


async def test_an_item_that_breaks_is_logged_and_leaves_the_others_alone(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []

    async def run_one(item: int) -> None:
        if item == 2:
            raise LookupError("its payment is gone")
        done.append(item)

    with caplog.at_level(logging.ERROR):
        await run_each([1, 2, 3], run_one)
    assert done == [1, 3]
    assert [record.getMessage() for record in caplog.records] == ["worker item failed"]


async def test_more_is_found_while_some_hang_and_never_more_than_there_is_room_for() -> None:
    waiting = ["hangs", "hangs", "ends", "ends", "last"]
    rooms: list[int] = []
    last_came = asyncio.Event()

    async def find(room: int) -> list[str]:
        rooms.append(room)
        found, waiting[:] = waiting[:room], waiting[room:]
        return found

    async def run_one(item: str) -> None:
        if item == "last":
            last_came.set()
        if item == "hangs":
            await last_came.wait()

    async with asyncio.timeout(60):
        assert await run_as_they_come(find, run_one, at_once=3) == 5
    assert rooms[:3] == [3, 1, 1]


async def test_what_hangs_when_a_worker_is_stopped_is_cut_off_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollgate.workers.loop._GRACE_S", 0.05)
    has_begun, ends = asyncio.Event(), []

    async def find(_room: int) -> list[str]:
        return [] if has_begun.is_set() else ["hangs"]

    async def run_one(item: str) -> None:
        has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(item)

    worker = asyncio.create_task(run_as_they_come(find, run_one, at_once=3))
    async with asyncio.timeout(60):
        await has_begun.wait()
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
    assert ends == ["hangs"]
