"""The inboxes of a test host: the requests that each received, and what it was told to answer.

They are stored so that all processes know the same ones; on a live host the tables stay empty.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog.limits import LIMITS
from tollgate.store.codec import LIMIT, ONE, ZERO, Codec, bind
from tollgate.store.database import Database
from tollgate.store.schema import WHOLE, inbox_messages, inboxes
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant


class InboxMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it came."""

    inbox: str
    id: str
    """It begins with the time, so ids sort by it."""
    received_at: Instant
    method: str
    target: str
    headers: str
    """JSON."""
    body: bytes
    status: int | None
    """The status of the answer; None where the connection was reset instead."""
    wall_at: Instant


class Inbox(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    used_at: Instant
    behaviour: str | None = None
    """JSON: what it was told to answer; None where it answers as usual."""
    requests_left: int | None = None
    """The number of requests that are still answered so, or -1 after the last one; None for all."""


MESSAGES = Codec(inbox_messages, InboxMessage, key=["inbox", "id"])
INBOXES = Codec(inboxes, Inbox, key=["name"])

purge_inbox_messages = MESSAGES.purge(inbox_messages.c.received_at)
find_inbox = INBOXES.find
_insert_message = MESSAGES.insert()
_of_inbox = inbox_messages.c.inbox == bind("of", inbox_messages.c.inbox)
_newest = Statement(MESSAGES.select(_of_inbox).order_by(inbox_messages.c.id.desc()).limit(LIMIT))
_beyond = (
    sa.select(inbox_messages.c.id)
    .where(_of_inbox)
    .order_by(inbox_messages.c.id.desc())
    .limit(ONE)
    .offset(sa.bindparam("kept", type_=WHOLE))
    .scalar_subquery()
)
_drop_oldest = Statement(sa.delete(inbox_messages).where(_of_inbox, inbox_messages.c.id <= _beyond))
_drop_all = Statement(sa.delete(inbox_messages).where(_of_inbox))

_left = inboxes.c.requests_left
_use = Statement(
    sa.update(inboxes)
    .where(inboxes.c.name == sa.bindparam("of_name"))
    # A NULL stays one, and -1 means that the last request was counted before.
    .values(used_at=sa.bindparam("now"), requests_left=sa.case((_left >= ZERO, _left - ONE), else_=_left))
    .returning(*INBOXES.columns)
)
_values: dict[str, sa.BindParameter[Any]] = {name: sa.bindparam(name) for name in INBOXES.names}
_add = Statement(insert(inboxes).values(_values).on_conflict_do_nothing())
_put = Statement(
    insert(inboxes)
    .values(_values)
    .on_conflict_do_update(
        index_elements=[inboxes.c.name], set_={name: sa.bindparam(name) for name in INBOXES.names if name != "name"}
    )
)
_recent = sa.select(inboxes.c.name).order_by(inboxes.c.used_at.desc(), inboxes.c.name).limit(LIMIT)
_recent_rows = Statement(INBOXES.select().order_by(inboxes.c.used_at.desc(), inboxes.c.name).limit(LIMIT))
_forget = Statement(sa.delete(inboxes).where(inboxes.c.name.not_in(_recent)).returning(inboxes.c.name))


async def use_inbox(db: Database, name: str, now: Instant) -> str | None:
    """Counts a request to an inbox, which is made if it is new, and returns what it was told to answer.

    Counting is one statement, so two processes never count the same request.
    """
    row = await db.fetch_one(_use, {"of_name": name, "now": now})
    if row is None:
        await db.write([Write(_add, INBOXES.encode(Inbox(name=name, used_at=now)))], label="inbox")
        await _forget_others(db)
        return None
    inbox = INBOXES.decode(row)
    return inbox.behaviour if inbox.requests_left is None or inbox.requests_left >= 0 else None


async def put_behaviour(db: Database, inbox: Inbox) -> None:
    """Tells an inbox what to answer from now on."""
    await db.write([Write(_put, INBOXES.encode(inbox))], label="inbox")
    await _forget_others(db)


async def _forget_others(db: Database) -> None:
    """Removes the inboxes that were not used for the longest time, with their messages."""
    for (name,) in await db.fetch(_forget, {"limit": LIMITS.inboxes_max}):
        await empty_inbox(db, str(name))


async def insert_message(db: Database, message: InboxMessage) -> None:
    """Stores a message, in place of the oldest ones of a full inbox."""
    kept = {"of_inbox": message.inbox, "kept": LIMITS.inbox_messages_max}
    await db.write([*_insert_message(message), Write(_drop_oldest, kept)], label="inbox message")


async def list_inboxes(db: Database, limit: int) -> list[Inbox]:
    """Lists the inboxes that received something last, the latest first."""
    return await INBOXES.fetch(db, _recent_rows, {"limit": limit})


async def list_messages(db: Database, inbox: str, limit: int) -> list[InboxMessage]:
    """Lists the newest messages, the newest one first."""
    return await MESSAGES.fetch(db, _newest, {"of_inbox": inbox, "limit": limit})


async def empty_inbox(db: Database, inbox: str) -> None:
    await db.write([Write(_drop_all, {"of_inbox": inbox})], label="inbox emptied")
