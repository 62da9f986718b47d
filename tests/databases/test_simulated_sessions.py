"""The provider's memory: a session is opened once, decided once, and forgotten after a while."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from tollgate.store import simulated_sessions
from tollgate.store.database import Database

pytestmark = pytest.mark.anyio

SESSION = simulated_sessions.SimulatedSession(id="8a01", status="open", created_at=100, body='{"brand":"PAYPAL"}')


async def test_a_session_is_read_as_it_was_written(db: Database) -> None:
    assert await simulated_sessions.find_simulated_session(db, SESSION.id) is None
    assert await simulated_sessions.insert_simulated_session(db, SESSION)

    assert await simulated_sessions.find_simulated_session(db, SESSION.id) == SESSION


async def test_who_opens_a_second_one_of_the_same_id_changes_nothing(db: Database) -> None:
    await simulated_sessions.insert_simulated_session(db, SESSION)

    assert not await simulated_sessions.insert_simulated_session(db, replace(SESSION, status="approved"))
    assert await simulated_sessions.find_simulated_session(db, SESSION.id) == SESSION


async def test_of_two_who_decide_at_once_one_decides(db: Database) -> None:
    await simulated_sessions.insert_simulated_session(db, SESSION)

    done = await asyncio.gather(
        *[simulated_sessions.move_simulated_session(db, SESSION, status) for status in ("approved", "declined")]
    )

    found = await simulated_sessions.find_simulated_session(db, SESSION.id)
    assert sorted(done) == [False, True]
    assert found is not None
    assert found.status == ("approved" if done[0] else "declined")


async def test_old_sessions_are_forgotten_and_young_ones_kept(db: Database) -> None:
    for n in range(4):
        await simulated_sessions.insert_simulated_session(db, replace(SESSION, id=f"8a0{n}", created_at=n))

    assert await simulated_sessions.purge_simulated_sessions(db, before=3, limit=2) == 2
    assert await simulated_sessions.purge_simulated_sessions(db, before=3, limit=2) == 1
    assert await simulated_sessions.purge_simulated_sessions(db, before=3, limit=2) == 0
    assert await simulated_sessions.find_simulated_session(db, "8a03") is not None
