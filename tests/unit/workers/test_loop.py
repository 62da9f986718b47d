"""Items of a round run side by side, and one that breaks is its own misfortune."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tollgate.workers.loop import run_each

pytestmark = pytest.mark.anyio


async def test_an_item_that_waits_does_not_delay_the_others() -> None:
    others_are_done = asyncio.Event()

    async def run_one(item: str) -> None:
        if item == "silent acquirer":
            await others_are_done.wait()
        else:
            others_are_done.set()

    async with asyncio.timeout(5):
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
    assert [record.getMessage() for record in caplog.records] == ["an item failed"]
