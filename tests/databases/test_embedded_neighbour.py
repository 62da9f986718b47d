"""An embedded file that another process keeps busy: the loop goes on, the write waits its turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from databases.samples import MERCHANT, make_payment
from tollgate.store import sqlite as driver
from tollgate.store.database import Unavailable
from tollgate.store.opening import open_database
from tollgate.store.payments import find_payment, start_payment

pytestmark = pytest.mark.anyio


def hold_write_lock(path: Path) -> apsw.Connection:
    neighbour = apsw.Connection(str(path))
    neighbour.execute("BEGIN IMMEDIATE")
    return neighbour


async def test_a_write_waits_for_a_neighbour_without_holding_up_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    db = await open_database(str(path))
    neighbour = hold_write_lock(path)
    payments = [make_payment() for _ in range(3)]
    starting = [asyncio.ensure_future(start_payment(db, payment, None, None)) for payment in payments]

    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not any(each.done() for each in starting)
    neighbour.execute("COMMIT")

    assert await asyncio.gather(*starting) == [True] * 3
    assert [await find_payment(db, MERCHANT, payment.id) for payment in payments] == payments
    await db.close()


async def test_a_neighbour_that_never_lets_go_is_reported_and_does_not_end_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_TIMEOUT_MS", 50)
    path = tmp_path / "store.db"
    db = await open_database(str(path))
    neighbour = hold_write_lock(path)

    with pytest.raises(Unavailable, match="busy"):
        await start_payment(db, make_payment(), None, None)
    neighbour.execute("ROLLBACK")

    assert await start_payment(db, make_payment(), None, None)
    await db.close()
