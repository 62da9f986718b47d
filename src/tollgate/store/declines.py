"""What processes tell each other of declined cards. What is counted is decided elsewhere."""

from collections.abc import Mapping

import msgspec
import sqlalchemy as sa

from tollgate.store.codec import LIMIT, Codec
from tollgate.store.database import Database
from tollgate.store.schema import WHOLE, recent_declines
from tollgate.store.statements import Statement
from tollgate.values import Instant


class DeclineRow(msgspec.Struct, frozen=True):
    at: Instant
    id: str
    """The process that wrote it, and a number."""
    changes: Mapping[str, int]
    """The changes of counters, by key."""


DECLINES = Codec(recent_declines, DeclineRow, key=["at", "id"])
_insert = DECLINES.insert()
_since = Statement(
    DECLINES.select(recent_declines.c.at >= sa.bindparam("since", type_=WHOLE))
    .order_by(recent_declines.c.at, recent_declines.c.id)
    .limit(LIMIT)
)
purge_declines = DECLINES.purge(recent_declines.c.at)


async def insert_declines(db: Database, row: DeclineRow) -> None:
    await db.write(_insert(row), label="recent declines")


async def list_declines(db: Database, since: Instant, limit: int) -> list[DeclineRow]:
    return await DECLINES.fetch(db, _since, {"since": since, "limit": limit})
