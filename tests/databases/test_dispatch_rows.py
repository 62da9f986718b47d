"""Dispatch rows that several people change at once, and keys that two channels want at once."""

from __future__ import annotations

import asyncio

import pytest

from databases.samples import MERCHANT, NOON, SHOP, make_idempotency_key, make_payment
from tollgate.flows import dispatching
from tollgate.payments.merchants import Channel
from tollgate.store.database import Database
from tollgate.store.idempotency import find_pinned_channel, pin_writes
from tollgate.store.merchants import get_merchants_version, list_dispatch_rows
from tollgate.store.payments import start_payment_writes
from tollgate.values import DAY, ChannelId, Conflict, NotFound

pytestmark = pytest.mark.anyio

OTHER = Channel(id=ChannelId("8a" + "7" * 30), merchant_id=MERCHANT, name="Other", created_at=NOON)
CROWD = 8


async def add(db: Database, *names: str) -> None:
    for name in names:
        await dispatching.add_row(db, SHOP, {"currencies": "EUR"}, new_id=name)


async def list_names(db: Database) -> list[str]:
    return [row.id for row in await dispatching.list_rows(db, MERCHANT)]


async def test_a_row_is_added_last_and_moved_to_its_place(db: Database) -> None:
    await add(db, "a", "b", "c")
    version = await get_merchants_version(db)
    await dispatching.move_row(db, MERCHANT, "c", 1)
    assert await list_names(db) == ["c", "a", "b"]
    assert await get_merchants_version(db) > version
    await dispatching.move_row(db, MERCHANT, "c", 9)
    assert await list_names(db) == ["a", "b", "c"]
    await dispatching.remove_row(db, MERCHANT, "a")
    await add(db, "d")
    assert await list_names(db) == ["b", "c", "d"]


async def test_rows_moved_by_many_at_once_are_all_there_in_one_order(db: Database) -> None:
    names = [f"row-{number}" for number in range(CROWD)]
    await add(db, *names)

    async def move(name: str) -> bool:
        try:
            await dispatching.move_row(db, MERCHANT, name, 1)
        except Conflict:
            return False
        return True

    moved = await asyncio.gather(*map(move, names))
    rows = await list_dispatch_rows(db)
    assert any(moved)
    assert sorted(row.id for row in rows) == sorted(names)
    assert [row.position for row in rows] == list(range(1, CROWD + 1))


async def test_a_row_that_is_gone_is_neither_moved_nor_removed(db: Database) -> None:
    await add(db, "a")
    with pytest.raises(NotFound):
        await dispatching.move_row(db, MERCHANT, "b", 1)
    with pytest.raises(NotFound):
        await dispatching.remove_row(db, MERCHANT, "b")


async def start(db: Database, channel: Channel, key: str, at: int = NOON) -> bool:
    """Starts a payment as a process would that dispatched it to this channel."""
    payment = make_payment(channel_id=channel.id)
    taken = make_idempotency_key(key, channel_id=channel.id, is_dispatched=True, created_at=at)
    unit = [*pin_writes(taken, MERCHANT), *start_payment_writes(payment, None, taken)]
    return await db.write(unit, label="payment started")


async def test_of_two_channels_that_get_one_dispatched_request_one_starts_it(db: Database) -> None:
    """Two processes may have different rows for a second, and a retry may come in the next hour."""
    started = await asyncio.gather(*[start(db, channel, "key-1") for channel in (SHOP, OTHER) * CROWD])
    assert started.count(True) == 1
    winner = (SHOP, OTHER)[started.index(True) % 2]
    assert await find_pinned_channel(db, MERCHANT, "key-1", 0) == winner.id


async def test_a_pin_ends_with_its_key(db: Database) -> None:
    assert await start(db, SHOP, "key-1")
    assert await find_pinned_channel(db, MERCHANT, "key-1", NOON + 1) is None
    assert await start(db, OTHER, "key-1", NOON + 2 * DAY)
    assert await find_pinned_channel(db, MERCHANT, "key-1", 0) == OTHER.id


def test_a_key_of_a_request_that_names_its_channel_is_not_pinned() -> None:
    assert pin_writes(make_idempotency_key("key-1"), MERCHANT) == []
    assert pin_writes(None, MERCHANT) == []
