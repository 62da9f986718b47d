"""The codec between structs and columns, on a table that has every kind of member."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import date
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, assert_type

import msgspec
import pytest
import sqlalchemy as sa

from tollgate.store.codec import ONE, UNREADABLE, Codec
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.schema import BYTES, SMALL, TEXT, WHOLE, simulated_sessions
from tollgate.store.simulated_sessions import SimulatedSession
from tollgate.store.statements import Dialect
from tollgate.values import MerchantId, Money

pytestmark = pytest.mark.anyio


class Colour(StrEnum):
    RED = "red"


class Stage(IntEnum):
    NEW = 0
    OLD = 7


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    days: tuple[date, ...] = ()


class Totals(msgspec.Struct, frozen=True):
    held: int = 0
    drawn: int = 0


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    merchant_id: MerchantId
    money: Money
    totals: Totals = Totals()
    stage: Stage = Stage.NEW
    colour: Colour | None = None
    is_closed: bool = False
    due_on: date = date(2026, 11, 17)
    signed_on: date | None = None
    schemes: tuple[str, ...] = ()
    echo: Mapping[str, str] = msgspec.field(default_factory=dict)
    part: Part | None = None
    sealed: bytes | None = None
    ends_at: int | None = None


TABLE = sa.Table(
    "samples",
    sa.MetaData(),
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("no_member", TEXT),
    sa.Column("held", WHOLE, nullable=False),
    sa.Column("drawn", WHOLE, nullable=False),
    sa.Column("stage", SMALL, nullable=False),
    sa.Column("colour", TEXT),
    sa.Column("is_closed", SMALL, nullable=False),
    sa.Column("due_on", TEXT, nullable=False),
    sa.Column("signed_on", TEXT),
    sa.Column("schemes", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("part", TEXT),
    sa.Column("sealed", BYTES),
    sa.Column("ends_at", WHOLE),
)
CODEC = Codec(TABLE, Sample)
PLAIN = Sample(id="1", merchant_id=MerchantId("m"), money=Money(1050, "EUR"))
FULL = Sample(
    id="2",
    merchant_id=MerchantId("m"),
    money=Money(-3, "JPY"),
    totals=Totals(4, 5),
    stage=Stage.OLD,
    colour=Colour.RED,
    is_closed=True,
    due_on=date(2027, 1, 2),
    signed_on=date(2026, 12, 31),
    schemes=("app", "other"),
    echo={"cart": "ä"},
    part=Part(name="n", days=(date(2026, 1, 1),)),
    sealed=b"\0sealed",
    ends_at=9,
)


@pytest.mark.parametrize("sample", [PLAIN, FULL], ids=["plain", "full"])
def test_a_struct_is_the_same_after_its_way_through_the_columns(sample: Sample) -> None:
    row = CODEC.encode(sample)

    decoded = CODEC.decode(tuple(row[name] for name in CODEC.names))

    assert_type(decoded, Sample)
    assert decoded == sample
    assert {type(getattr(decoded, name)) for name in ("stage", "is_closed")} == {Stage, bool}


@pytest.mark.parametrize(
    ("column", "plain", "full"),
    [
        ("merchant_id", "m", "m"),
        ("amount", 1050, -3),
        ("currency", "EUR", "JPY"),
        ("held", 0, 4),
        ("drawn", 0, 5),
        ("stage", 0, 7),
        ("colour", None, "red"),
        ("is_closed", 0, 1),
        ("due_on", "2026-11-17", "2027-01-02"),
        ("signed_on", None, "2026-12-31"),
        ("schemes", None, '["app","other"]'),
        ("echo", "{}", '{"cart":"ä"}'),
        ("part", None, '{"name":"n","days":["2026-01-01"]}'),
        ("sealed", None, b"\0sealed"),
        ("ends_at", None, 9),
    ],
)
def test_a_member_is_encoded_as_its_column_stores_it(column: str, plain: Any, full: Any) -> None:
    assert (CODEC.encode(PLAIN)[column], CODEC.encode(FULL)[column]) == (plain, full)


def test_a_column_without_a_member_is_no_part_of_the_row() -> None:
    assert CODEC.names == tuple(column.name for column in TABLE.columns if column.name != "no_member")
    assert CODEC.make_row_encoder(["currency", "id", "stage"])(FULL) == ("JPY", "2", 7)


@pytest.mark.parametrize(
    "wrong",
    [{"stage": 3}, {"colour": "blue"}, {"due_on": "soon"}, {"due_on": None}, {"part": "{"}, {"echo": "x"}],
    ids=str,
)
def test_a_row_of_another_writer_is_unreadable(wrong: dict[str, Any]) -> None:
    row = CODEC.encode(FULL) | wrong

    with pytest.raises(UNREADABLE):
        CODEC.decode(tuple(row[name] for name in CODEC.names))


def test_an_update_compares_what_was_seen_and_takes_the_new() -> None:
    update = CODEC.update(TABLE.c.is_closed == 0, seen=["stage", "ends_at"], new=["part", "amount"], stage=Stage.OLD)

    [write] = update(PLAIN, FULL)

    assert write.params == {
        "of_merchant_id": "m",
        "of_id": "1",
        "seen_stage": 0,
        "seen_ends_at": None,
        "new_part": '{"name":"n","days":["2026-01-01"]}',
        "new_amount": -3,
    }
    assert write.rows == 1
    text = write.statement.compiled_for(Dialect.POSTGRESQL).text
    assert "samples.stage = $" in text
    assert "samples.ends_at IS NOT DISTINCT FROM $" in text


def test_a_column_without_a_member_is_given_as_a_parameter() -> None:
    insert = CODEC.insert("no_member")
    update = CODEC.update(new=["no_member"], drawn=TABLE.c.drawn + ONE)

    [inserting], [updating] = insert(PLAIN, no_member="x"), update(PLAIN, new_no_member="y")

    assert inserting.params == CODEC.encode(PLAIN) | {"no_member": "x"}
    assert updating.params == {"of_merchant_id": "m", "of_id": "1", "new_no_member": "y"}


# ---- on a database ----

SESSIONS = Codec(simulated_sessions, SimulatedSession, key=["id"])
SESSION = SimulatedSession(id="s", status="open", created_at=5, body="{}")
PAID = msgspec.structs.replace(SESSION, status="paid")

insert_session = SESSIONS.insert()
ensure_session = SESSIONS.insert(ignores_taken=True)
move_session = SESSIONS.update(seen=["status"], new=["status"])
delete_session = SESSIONS.delete(seen=["status"])
purge_sessions = SESSIONS.purge(simulated_sessions.c.created_at)


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(str(tmp_path / "store.db"))
    yield database
    await database.close()


async def test_a_guarded_update_of_a_row_that_has_moved_on_changes_nothing(db: Database) -> None:
    assert await db.write(insert_session(SESSION), label="test")

    assert await db.write(move_session(SESSION, PAID), label="test")
    assert not await db.write(move_session(SESSION, PAID), label="test")
    assert not await db.write(delete_session(SESSION), label="test")

    assert_type(await SESSIONS.find(db, "s"), SimulatedSession | None)
    assert await SESSIONS.find(db, "s") == PAID


async def test_an_update_of_no_row_undoes_its_unit(db: Database) -> None:
    assert not await db.write([*insert_session(SESSION), *move_session(PAID, SESSION)], label="test")

    assert await SESSIONS.find(db, "s") is None


async def test_a_row_whose_key_is_taken_is_not_written_again(db: Database) -> None:
    assert await db.write(ensure_session(SESSION), label="test")
    assert not await db.write(ensure_session(PAID), label="test")
    assert await db.write(ensure_session(PAID, rows=None), label="test")

    assert await SESSIONS.find(db, "s") == SESSION


async def test_the_oldest_rows_are_purged_a_batch_at_a_time(db: Database) -> None:
    for age in (3, 1, 2):
        session = msgspec.structs.replace(SESSION, id=str(age), created_at=age)
        assert await db.write(insert_session(session), label="test")

    assert await purge_sessions(db, 3, 1) == 1
    assert await SESSIONS.find(db, "1") is None
    assert await purge_sessions(db, 3, 10) == 1
    assert await SESSIONS.find(db, "3") is not None
