"""Group commit without a database: who shares a batch, who is woken, who fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tollgate.store.database import Batcher, Damaged, Unavailable, Unconfirmed, Unwritable

pytestmark = pytest.mark.anyio


class Disk:
    """Answers every item with its double when it is released."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.is_open = asyncio.Event()
        self.is_open.set()

    def write(self, items: Sequence[int]) -> asyncio.Future[Sequence[int]]:
        return asyncio.ensure_future(self._write(list(items)))

    async def _write(self, items: list[int]) -> Sequence[int]:
        self.batches.append(items)
        await self.is_open.wait()
        if 13 in items:
            raise Unwritable("thirteen")
        if 66 in items:
            raise Damaged("the disk is full")
        if 44 in items:
            raise Unconfirmed("the connection was lost")
        return [item * 2 for item in items]


async def test_what_is_queued_in_one_turn_shares_a_batch() -> None:
    disk = Disk()
    batcher = Batcher(disk.write)

    assert await asyncio.gather(*[batcher.submit(n) for n in range(5)]) == [0, 2, 4, 6, 8]
    assert disk.batches == [[0, 1, 2, 3, 4]]


async def take_turns() -> None:
    """Whatever can go on goes on until it has to wait."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_single_item_does_not_wait_for_company() -> None:
    disk = Disk()
    batcher = Batcher(disk.write)

    assert await batcher.submit(1) == 2
    assert await batcher.submit(2) == 4
    assert disk.batches == [[1], [2]]


async def test_items_with_one_key_wait_for_each_other_in_their_order() -> None:
    disk = Disk()
    batcher = Batcher(disk.write, items_max=3, get_key=lambda item: item % 10)

    answers = await asyncio.gather(*[batcher.submit(n) for n in (1, 11, 21, 2, 3, 12, 4)])

    assert answers == [2, 22, 42, 4, 6, 24, 8]
    assert disk.batches == [[1, 2, 3], [11, 12, 4], [21]]


async def test_the_next_batch_gathers_while_one_is_written() -> None:
    disk = Disk()
    batcher = Batcher(disk.write)
    disk.is_open.clear()
    first = batcher.submit(1)
    await take_turns()
    rest = [batcher.submit(n) for n in (2, 3, 4)]
    await take_turns()

    disk.is_open.set()

    assert await asyncio.gather(first, *rest) == [2, 4, 6, 8]
    assert disk.batches == [[1], [2, 3, 4]]


async def test_a_batch_has_a_limit_and_is_written_before_the_next_one_begins() -> None:
    disk = Disk()
    batcher = Batcher(disk.write, items_max=3)
    disk.is_open.clear()
    waiting = [batcher.submit(n) for n in range(8)]
    await take_turns()
    assert disk.batches == [[0, 1, 2]]

    disk.is_open.set()

    await asyncio.gather(*waiting)
    assert disk.batches[1:] == [[3, 4, 5], [6, 7]]


async def test_a_bad_item_fails_alone() -> None:
    disk = Disk()
    batcher = Batcher(disk.write)

    answers = await asyncio.gather(*[batcher.submit(n) for n in (1, 13, 2)], return_exceptions=True)

    assert [answers[0], answers[2]] == [2, 4]
    assert isinstance(answers[1], Unwritable)
    assert disk.batches == [[1, 13, 2], [1], [13], [2]]


async def test_a_failing_disk_fails_every_caller_and_nothing_is_tried_again() -> None:
    disk = Disk()
    batcher = Batcher(disk.write)

    answers = await asyncio.gather(*[batcher.submit(n) for n in (1, 66)], return_exceptions=True)

    assert [type(answer) for answer in answers] == [Damaged, Damaged]
    assert disk.batches == [[1, 66]]


async def test_a_bug_in_the_writer_reaches_the_caller_instead_of_hanging_it() -> None:
    async def break_down() -> Sequence[int]:
        raise ZeroDivisionError

    batcher: Batcher[int, int] = Batcher(lambda _: asyncio.ensure_future(break_down()))

    with pytest.raises(ZeroDivisionError):
        await batcher.submit(1)


async def test_a_stopped_writer_is_raised_to_the_caller() -> None:
    async def sleep() -> Sequence[int]:
        await asyncio.sleep(60)
        return []

    tasks: list[asyncio.Future[Sequence[int]]] = []

    def write(_: Sequence[int]) -> asyncio.Future[Sequence[int]]:
        tasks.append(asyncio.ensure_future(sleep()))
        return tasks[-1]

    batcher: Batcher[int, int] = Batcher(write)
    waiting = batcher.submit(1)
    await take_turns()
    tasks[0].cancel()

    with pytest.raises(Unavailable, match="stopped"):
        await waiting


async def test_closing_writes_what_is_queued_and_refuses_what_is_new() -> None:
    disk = Disk()
    batcher = Batcher(disk.write, items_max=2)
    waiting = [batcher.submit(n) for n in range(5)]

    await batcher.close()

    assert [future.result() for future in waiting] == [0, 2, 4, 6, 8]
    with pytest.raises(Unavailable):
        batcher.submit(9)


async def test_a_database_that_is_gone_is_told_to_all_who_wait_and_not_asked_once_more_for_each_batch() -> None:
    disk = Disk()
    disk.is_open.clear()
    batcher = Batcher(disk.write, items_max=2)
    waiting = [batcher.submit(n) for n in (44, 1, 2, 3, 4, 5)]
    await take_turns()

    disk.is_open.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(answer) for answer in answers] == [Unconfirmed] * 2 + [Unavailable] * 4
    assert disk.batches == [[44, 1]]
    assert await batcher.submit(6) == 12
