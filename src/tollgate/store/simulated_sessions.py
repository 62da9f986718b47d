"""The sessions of the simulated provider of a test host, stored so that all its processes know the same ones.

What the statuses mean is known to the sandbox; on a live host the table stays empty.
"""

import msgspec

from tollgate.store.codec import Codec
from tollgate.store.database import Database
from tollgate.store.schema import simulated_sessions
from tollgate.values import Instant


class SimulatedSession(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    status: str
    created_at: Instant
    body: str


SESSIONS = Codec(simulated_sessions, SimulatedSession, key=["id"])

find_simulated_session = SESSIONS.find
_insert = SESSIONS.insert(ignores_taken=True)
_move = SESSIONS.update(seen=["status"], new=["status"])
purge_simulated_sessions = SESSIONS.purge(simulated_sessions.c.created_at)


async def insert_simulated_session(db: Database, session: SimulatedSession) -> bool:
    """Returns False if the id is known already."""
    return await db.write(_insert(session), label="simulated session")


async def move_simulated_session(db: Database, session: SimulatedSession, status: str) -> bool:
    """Returns False if the session is no longer as it was read: the first to move it has decided."""
    return await db.write(_move(session, new_status=status), label="simulated session")
