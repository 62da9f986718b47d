"""Inboxes are bounded, and a behaviour for some requests is counted once for each, by whichever process."""

from __future__ import annotations

import asyncio
from dataclasses import replace as replace_limits

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.store import inboxes
from tollgate.store.database import Database

pytestmark = pytest.mark.anyio

MESSAGE = inboxes.InboxMessage(
    inbox="shop",
    id="01",
    received_at=100,
    method="POST",
    target="/sandbox/inbox/shop",
    headers='{"host":"\\u0000"}',
    body=b"\xff\x00",
    status=None,
    wall_at=200,
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace_limits(LIMITS, inboxes_max=2, inbox_messages_max=3)
    monkeypatch.setattr(inboxes, "LIMITS", limits)


async def list_ids(db: Database, inbox: str = "shop") -> list[str]:
    return [message.id for message in await inboxes.list_messages(db, inbox, 10)]


async def test_a_message_is_read_as_it_was_written(db: Database) -> None:
    await inboxes.insert_message(db, MESSAGE)

    assert await inboxes.list_messages(db, "shop", 10) == [MESSAGE]


async def test_the_newest_messages_are_kept_and_listed_first(db: Database) -> None:
    await inboxes.insert_message(db, replace(MESSAGE, inbox="other", id="00"))
    for number in range(1, 6):
        await inboxes.insert_message(db, replace(MESSAGE, id=f"0{number}"))

    assert await list_ids(db) == ["05", "04", "03"]
    assert [message.id for message in await inboxes.list_messages(db, "shop", 2)] == ["05", "04"]
    assert await list_ids(db, "other") == ["00"]


async def test_one_inbox_is_emptied(db: Database) -> None:
    await inboxes.insert_message(db, MESSAGE)
    await inboxes.insert_message(db, replace(MESSAGE, inbox="other"))

    await inboxes.empty_inbox(db, "shop")

    assert (await list_ids(db), await list_ids(db, "other")) == ([], ["01"])


async def test_the_inbox_that_was_not_used_for_the_longest_time_makes_room(db: Database) -> None:
    for now, name in enumerate(("first", "second", "first", "third")):
        await inboxes.use_inbox(db, name, now)
        await inboxes.insert_message(db, replace(MESSAGE, inbox=name, id=f"0{now}"))

    assert [await list_ids(db, name) for name in ("first", "second", "third")] == [["02", "00"], [], ["03"]]
    assert await inboxes.find_inbox(db, "second") is None


async def test_a_behaviour_lasts_until_it_is_changed(db: Database) -> None:
    assert await inboxes.use_inbox(db, "shop", 1) is None
    await inboxes.put_behaviour(db, inboxes.Inbox(name="shop", used_at=2, behaviour="{}"))

    assert [await inboxes.use_inbox(db, "shop", 3) for _ in range(3)] == ["{}"] * 3
    await inboxes.put_behaviour(db, inboxes.Inbox(name="shop", used_at=4))
    assert await inboxes.use_inbox(db, "shop", 5) is None


async def test_of_many_requests_at_once_as_many_as_were_named_are_answered_so(db: Database) -> None:
    await inboxes.put_behaviour(db, inboxes.Inbox(name="shop", used_at=1, behaviour="{}", requests_left=3))

    told = await asyncio.gather(*[inboxes.use_inbox(db, "shop", 2) for _ in range(8)])

    assert sorted(each or "" for each in told) == [""] * 5 + ["{}"] * 3
    assert await inboxes.use_inbox(db, "shop", 3) is None


async def test_old_messages_are_removed_and_young_ones_kept(db: Database) -> None:
    for number in range(1, 4):
        await inboxes.insert_message(db, replace(MESSAGE, id=f"0{number}", received_at=number))

    assert await inboxes.purge_inbox_messages(db, before=3, limit=10) == 2
    assert await list_ids(db) == ["03"]
