"""A database that takes writes is known for a time, and a failed one is tried again at intervals."""

from __future__ import annotations

import asyncio

import pytest

from tollgate.store.database import CHECK_AFTER_S, CHECK_AGAIN_S, Damaged, Unavailable, Unwritable, WriteHealth

pytestmark = pytest.mark.anyio


class Disk:
    """Counts the probes, and refuses them while it is full."""

    def __init__(self) -> None:
        self.is_full = False
        self.probes = 0
        self.now = 1000.0
        self.health = WriteHealth(self.probe, lambda: self.now)

    async def probe(self) -> None:
        self.probes += 1
        await asyncio.sleep(0)
        if self.is_full:
            raise Damaged("full")


@pytest.fixture
def disk() -> Disk:
    return Disk()


async def test_a_write_that_succeeded_is_proof_for_a_while(disk: Disk) -> None:
    disk.health.note_success()
    assert await disk.health.find_trouble() is None
    assert disk.probes == 0

    disk.now += CHECK_AFTER_S
    assert await disk.health.find_trouble() is None
    assert disk.probes == 1


async def test_a_failed_write_is_reported_at_once_and_tried_again_soon(disk: Disk) -> None:
    disk.is_full = True
    disk.health.note_fault(Unavailable("read-only"))
    assert await disk.health.find_trouble() == "read-only"
    assert disk.probes == 0

    disk.now += CHECK_AGAIN_S
    assert await disk.health.find_trouble() == "full"
    assert disk.probes == 1


async def test_a_disk_that_has_room_again_is_found_without_a_payment(disk: Disk) -> None:
    disk.health.note_fault(Damaged("full"))
    disk.now += CHECK_AGAIN_S

    assert await disk.health.find_trouble() is None


@pytest.mark.parametrize("is_full", [False, True])
async def test_however_many_ask_one_write_is_made(disk: Disk, is_full: bool) -> None:
    disk.is_full = is_full

    received = await asyncio.gather(*[disk.health.find_trouble() for _ in range(50)])

    assert set(received) == {"full" if is_full else None}
    assert disk.probes == 1


async def test_what_is_written_says_how_it_is(disk: Disk) -> None:
    async def write(fault: Exception | None) -> str:
        if fault is not None:
            raise fault
        return "written"

    assert await disk.health.watch(write(None)) == "written"
    with pytest.raises(Damaged):
        await disk.health.watch(write(Damaged("full")))
    assert await disk.health.find_trouble() == "full"

    with pytest.raises(Unwritable):
        await disk.health.watch(write(Unwritable("the row is to blame")))
    assert await disk.health.find_trouble() == "full"
    assert disk.probes == 0
