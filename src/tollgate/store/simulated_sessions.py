"""What the simulated provider of a test host remembers, so that all its processes know the same sessions.

What the statuses mean is known to the sandbox; on a live host the table stays empty.
"""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.database import Database
from tollgate.store.schema import simulated_sessions
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant


class SimulatedSession(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    status: str
    created_at: Instant
    body: str


_columns = simulated_sessions.c
_members = SimulatedSession.__struct_fields__
_insert = Statement(
    insert(simulated_sessions).values({name: sa.bindparam(name) for name in _members}).on_conflict_do_nothing()
)
_find = Statement(
    sa.select(*[_columns[name] for name in _members]).where(_columns.id == sa.bindparam("session_id")), is_quick=True
)
_move = Statement(
    sa.update(simulated_sessions)
    .where(_columns.id == sa.bindparam("session_id"), _columns.status == sa.bindparam("expected"))
    .values(status=sa.bindparam("new_status"))
)
_oldest = (
    sa.select(_columns.id)
    .where(_columns.created_at < sa.bindparam("before"))
    .order_by(_columns.created_at)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_purge = Statement(sa.delete(simulated_sessions).where(_columns.id.in_(_oldest)).returning(_columns.id))


async def insert_simulated_session(db: Database, session: SimulatedSession) -> bool:
    """False: the id is known already, and nothing was written."""
    return await db.write([Write(_insert, msgspec.structs.asdict(session), rows=1)], label="simulated session")


async def find_simulated_session(db: Database, session_id: str) -> SimulatedSession | None:
    row = await db.fetch_one(_find, {"session_id": session_id})
    return None if row is None else SimulatedSession(**dict(zip(_members, row, strict=True)))


async def move_simulated_session(db: Database, session: SimulatedSession, status: str) -> bool:
    """False: it is no longer as it was read, and whoever was first has decided."""
    params = {"session_id": session.id, "expected": session.status, "new_status": status}
    return await db.write([Write(_move, params, rows=1)], label="simulated session")


async def purge_simulated_sessions(db: Database, before: Instant, limit: int) -> int:
    """Remove the oldest; how many went."""
    return len(await db.fetch(_purge, {"before": before, "limit": limit}))
