"""The block and allow lists: read a page at a time, also where entries are as old as each other."""

from __future__ import annotations

import pytest

from tollgate.catalog.risk_rows import Attribute
from tollgate.payments.reporting import Place
from tollgate.payments.risk import Entry, ListName
from tollgate.store import risk_lists
from tollgate.store.database import Database
from tollgate.values import make_id
from unit.app_fixture import MERCHANT, NOW

pytestmark = pytest.mark.anyio


def make_entry(number: int) -> Entry:
    return Entry(
        merchant_id=MERCHANT.id,
        id=make_id(),
        list=ListName.BLOCK,
        attribute=Attribute.BIN,
        value_hash=number.to_bytes(18),
        shown=f"{number:06}",
        created_at=NOW + number // 3,
        created_by="jo",
    )


async def test_pages_have_each_entry_once_and_the_newest_first(db: Database) -> None:
    entries = [make_entry(number) for number in range(7)]
    for entry in entries:
        await risk_lists.put_entry(db, entry)

    found: list[Entry] = []
    for _ in range(4):
        before = Place(found[-1].created_at, found[-1].id) if found else None
        found += await risk_lists.list_newest_entries(db, MERCHANT.id, 2, before=before)

    assert found == sorted(entries, key=lambda entry: (entry.created_at, entry.id), reverse=True)
    assert await risk_lists.count_entries(db, MERCHANT.id) == 7


async def test_a_value_that_is_there_already_keeps_its_id(db: Database) -> None:
    first = await risk_lists.put_entry(db, make_entry(1))
    again = await risk_lists.put_entry(db, make_entry(1))

    assert again.id == first.id
    assert await risk_lists.find_entry(db, MERCHANT.id, first.id) == again
