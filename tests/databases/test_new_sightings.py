"""Sightings that are new take a quicker way into PostgreSQL than those that may exist."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
import sqlalchemy as sa

from tollgate.operations.sightings import Sightings
from tollgate.payments.velocities import Sighting
from tollgate.store import sightings as store
from tollgate.store.database import Database
from tollgate.store.schema import risk_sightings
from tollgate.store.statements import Dialect, Statement
from tollgate.values import MINUTE, FixedClock, MerchantId, make_id
from tollgate.workers.sightings import write_noted
from unit.app_fixture import NOW, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

MERCHANT = MerchantId("8a" + "1" * 30)
STORED = Statement(sa.select(*risk_sightings.columns).order_by(risk_sightings.c.key))


def make_sighting(place: int, currency: str = "EUR") -> Sighting:
    return Sighting(MERCHANT, bytes([1, place]) * 8, NOW + place, make_id(), 1, 100, currency)


async def list_stored(db: Database) -> list[Sighting]:
    return [Sighting(*row) for row in await db.fetch(STORED, {})]


@pytest.mark.parametrize("count", [1, 2, 40])
async def test_they_stand_in_the_store_as_they_were_noted(
    db: Database, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """A registration has no currency, and most payments have no other value of a pair."""
    made = [make_sighting(place, "EUR" if place % 2 else "") for place in range(count)]
    paired = [msgspec.structs.replace(row, marks=3, other_1=b"\x00", other_2=row.key) for row in made[1::3]]
    noted = store.order([*made[::3], *paired, *made[2::3]])
    if db.dialect is Dialect.POSTGRESQL:
        monkeypatch.delattr(store, "write_ordered")

    await store.write_new(db, noted)

    assert await list_stored(db) == noted


async def test_what_somebody_else_wrote_meanwhile_is_written_with_the_rest(db: Database) -> None:
    noted = [make_sighting(place) for place in range(3)]
    await store.write_sightings(db, [msgspec.structs.replace(noted[1], marks=2)])

    await store.write_new(db, noted)

    assert [row.marks for row in await list_stored(db)] == [1, 3, 1]


async def test_what_is_written_late_is_not_taken_for_a_change_by_another_process(db: Database) -> None:
    app = msgspec.structs.replace(await furnish_app(db, ScriptedWire()), clock=FixedClock(NOW + MINUTE))
    await app.sightings.follow(db)
    edition, noted = app.sightings._edition, [make_sighting(1)]
    app.sightings.note(noted)
    app.sightings.settle(noted, is_written=True)

    await write_noted(app)
    await app.sightings.follow(db)

    assert app.sightings._edition == edition


async def test_what_is_held_of_a_value_is_not_lost_while_another_is_read(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sightings, noted, other = Sightings(), [make_sighting(1)], make_sighting(2)
    sightings.note(noted)
    await sightings.read(db, MERCHANT, {noted[0].key: NOW}, NOW + MINUTE)
    read = store.read_sightings

    async def let_go_and_read(db: Database, looks: Sequence[store.Look]) -> dict[bytes, list[Sighting]]:
        sightings._let_go_history(sightings._held[noted[0].key])
        return await read(db, looks)

    monkeypatch.setattr(store, "read_sightings", let_go_and_read)
    found = await sightings.read(db, MERCHANT, {noted[0].key: NOW, other.key: NOW}, NOW + MINUTE)

    assert found[noted[0].key].rows == noted
