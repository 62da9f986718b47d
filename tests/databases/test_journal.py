"""The journal in both databases: batches of any size, lists of one payment, and removal by age."""

from __future__ import annotations

import pytest

from databases.samples import MERCHANT, NOON
from tollgate.payments.merchants import Merchant
from tollgate.store.database import Database
from tollgate.store.journal import (
    ROWS_AT_ONCE,
    JournalRow,
    delete_messages_write,
    insert_rows,
    list_by_ndc,
    list_messages,
    purge_journal,
)
from tollgate.store.merchants import insert_merchant
from tollgate.values import DAY, make_timed_id

pytestmark = pytest.mark.anyio


def make_row(number: int, **changes: object) -> JournalRow:
    members = {
        "merchant_id": MERCHANT,
        "id": make_timed_id(NOON + number, "x"),
        "payment_id": "a payment",
        "ndc": "an ndc",
        "at": NOON + number,
        "kind": "message",
        "text": '{"n":1}',
    }
    return JournalRow(**members | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
async def test_a_batch_of_any_size_is_written_and_listed_in_the_order_of_time(db: Database, count: int) -> None:
    rows = [make_row(number) for number in range(count)]
    await insert_rows(db, rows[::-1])

    assert await list_messages(db, MERCHANT, "a payment", 1000) == rows
    assert await list_by_ndc(db, MERCHANT, "an ndc", 1000) == rows
    assert await list_messages(db, MERCHANT, "another payment", 1000) == []
    assert await list_by_ndc(db, MERCHANT, "another ndc", 1000) == []


async def test_a_row_whose_id_is_taken_takes_the_place_of_the_earlier_one(db: Database) -> None:
    for count in (1, ROWS_AT_ONCE):
        rows = [make_row(number) for number in range(count)]
        await insert_rows(db, rows)
        later = [make_row(number, at=NOON + 99, text="{}", id=row.id) for number, row in enumerate(rows)]
        await insert_rows(db, later)
        assert await list_messages(db, MERCHANT, "a payment", 100) == later


async def test_old_rows_are_removed_and_young_ones_stay(db: Database) -> None:
    await insert_merchant(db, Merchant(id=MERCHANT, name="Shop", created_at=NOON))
    await insert_rows(db, [make_row(0), make_row(30 * DAY)])

    assert await purge_journal(db, NOON + DAY, 100) == 1
    assert await list_messages(db, MERCHANT, "a payment", 10) == [make_row(30 * DAY)]


async def test_the_messages_of_one_payment_can_be_removed(db: Database) -> None:
    kept = make_row(1, payment_id="another")
    await insert_rows(db, [make_row(0), kept])
    await db.write([delete_messages_write(MERCHANT, "a payment")], label="test")

    assert await list_messages(db, MERCHANT, "a payment", 10) == []
    assert await list_messages(db, MERCHANT, "another", 10) == [kept]
