"""Search, overview, journal and evidence are right after a snapshot is loaded, also when the clock goes back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from databases.samples import MERCHANT
from databases.sandboxes import put
from databases.searched import count, find_ids, index_all, move_clock, pay
from databases.test_journal import make_row
from tollgate.flows import snapshots
from tollgate.flows.index_payments import index_payments
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.store import copying, evidence, journal, opening, search_index
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.values import DAY, MerchantId, PaymentId, make_id
from unit.app_fixture import NOW, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

JANE = {"customer.email": "jane@example.com"}
APPROVED = ("000.100.110", "EUR")


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def pay_at(app: App, at: int, **changes: Any) -> Payment:
    move_clock(app, at)
    return await pay(app, id=PaymentId(make_id()), created_at=at, **changes)


async def test_search_and_overview_are_those_of_the_snapshot_after_the_clock_went_back(
    app: App, tmp_path: Path
) -> None:
    path = tmp_path / "a.snapshot"
    old = await pay_at(app, NOW, echo=JANE)
    move_clock(app, NOW + DAY)
    await index_all(app)
    tail = await pay_at(app, NOW + DAY, echo=JANE)
    await snapshots.save_snapshot(app, path)
    later = await pay_at(app, NOW + 40 * DAY, echo=JANE)
    move_clock(app, NOW + 41 * DAY)
    assert await index_all(app) == 2
    assert await find_ids(app, "jane@example.com") == [later.id, tail.id, old.id]

    move_clock(app, NOW + DAY)
    await snapshots.load_snapshot(app, path)

    assert await find_ids(app, "jane@example.com") == [tail.id, old.id]
    assert (await count(app))[APPROVED][0] == 2
    fresh = await pay_at(app, NOW + 2 * DAY, echo=JANE)
    for _ in range(2):
        assert await find_ids(app, "jane@example.com") == [fresh.id, tail.id, old.id]
        assert (await count(app))[APPROVED][0] == 3
        move_clock(app, NOW + 3 * DAY)
        await index_all(app)
    assert await search_index.list_behind(app.database) == []


async def test_a_worker_that_read_events_before_a_load_writes_nothing_after_it(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its cursor would be in the future, and payments that come now would never be indexed."""
    path, load = tmp_path / "a.snapshot", search_index.load_payments
    old = await pay_at(app, NOW)
    move_clock(app, NOW + DAY)
    await index_all(app)
    await snapshots.save_snapshot(app, path)
    await pay_at(app, NOW + 40 * DAY)
    move_clock(app, NOW + 41 * DAY)

    async def read_and_load(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, Payment | None]:
        found = await load(db, merchant_id, ids)
        monkeypatch.undo()
        await snapshots.load_snapshot(app, path)
        return found

    monkeypatch.setattr(search_index, "load_payments", read_and_load)
    await index_payments(app, MERCHANT)
    assert (await search_index.get_cursor(app.database, MERCHANT)).endswith(old.id)
    fresh = await pay_at(app, NOW + 2 * DAY)
    move_clock(app, NOW + 3 * DAY)
    assert await index_all(app) == 1
    assert await find_ids(app, "92.00 EUR") == [fresh.id, old.id]
    assert (await count(app))[APPROVED][0] == 2


async def test_journal_and_evidence_come_back_with_their_payments(app: App, tmp_path: Path) -> None:
    path = tmp_path / "a.snapshot"
    kept = await pay_at(app, NOW)

    async def add(number: int) -> None:
        await journal.insert_rows(app.database, [make_row(number, payment_id=kept.id)])
        note = evidence.Evidence(
            merchant_id=MERCHANT,
            id=make_id(),
            payment_id=kept.id,
            added_by="me",
            added_at=NOW + number,
            name=f"{number}",
            content_type="text/plain",
        )
        await evidence.insert_evidence(app.database, note, b"sealed")

    await add(1)
    await snapshots.save_snapshot(app, path)
    await add(2)
    await snapshots.load_snapshot(app, path)
    assert await journal.list_messages(app.database, MERCHANT, kept.id, 10) == [make_row(1, payment_id=kept.id)]
    assert [each.name for each in await evidence.list_evidence(app.database, MERCHANT, kept.id)] == ["1"]


async def test_a_fork_goes_on_indexing_where_the_sandbox_was(app: App, tmp_path: Path) -> None:
    old = await pay_at(app, NOW)
    move_clock(app, NOW + DAY)
    await index_all(app)
    target = await open_database(f"sqlite:///{tmp_path}/fork.db")
    try:
        await snapshots.fork_store(app, target)
        forked = app.__class__(**{name: getattr(app, name) for name in app.__struct_fields__} | {"database": target})
        fresh = await pay_at(forked, NOW + 2 * DAY)
        move_clock(forked, NOW + 3 * DAY)
        assert await index_all(forked) == 1
        assert await find_ids(forked, "92.00 EUR") == [fresh.id, old.id]
        assert await search_index.list_behind(target) == []
    finally:
        await target.close()


@pytest.mark.parametrize("row", copying.SETTINGS, ids=lambda row: row.name)
async def test_a_setting_is_saved_or_left_alone_as_it_was_decided(
    app: App, tmp_path: Path, row: copying.SettingRow
) -> None:
    path, get = tmp_path / "a.snapshot", partial(opening.get_setting, app.database)
    name = f"{row.name}one" if row.is_prefix else row.name
    # Counters are whole numbers, and a load counts them up.
    is_counter = row.name.startswith(("merchants_version", "payment_removals", "sighting_"))
    await put(app.database, name, "1")
    await put(app.database, f"x{name}", "1")
    await snapshots.save_snapshot(app, path)
    await put(app.database, name, "5")
    await put(app.database, f"x{name}", "5")
    await snapshots.load_snapshot(app, path)
    assert await get(f"x{name}") == "1", "a setting with another name is not meant"
    assert await get(name) == ("1" if row.is_saved else "6" if is_counter else "5")
