"""Rows that cannot be read any more, on both databases: they keep nothing else from being done."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from databases.banking import open_bank
from databases.registration_samples import order_card, read_row, store
from tollgate.payments.registration import RegistrationState
from tollgate.store.database import Database
from tollgate.store.statements import Statement, Write
from tollgate.workers.upkeep import erase_registrations

pytestmark = pytest.mark.anyio

DECADES = 20_000


@pytest.mark.parametrize("column", ["card", "echo", "initial", "network_token", "test_mode"])
async def test_a_registration_that_cannot_be_read_keeps_no_other_from_being_erased(db: Database, column: str) -> None:
    bank = await open_bank(db)
    broken, sound = await store(bank, order_card()), await store(bank, order_card())
    spoil = Statement(sa.text(f"UPDATE registrations SET {column} = '[' WHERE id = :id"), is_write=True)
    assert await db.write([Write(spoil, {"id": broken}, rows=1)], label="test")

    bank.wait(DECADES)

    assert await erase_registrations(bank.app) == 1
    assert (await read_row(db, sound))["state"] == RegistrationState.ERASED
