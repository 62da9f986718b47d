"""Events in the outbox, and announcements: those of them that somebody is to be told of.

Who is told is decided elsewhere.
"""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from tollgate.store.codec import LIMIT, ONE, ZERO, Codec, bind, is_among_ids, spread_ids
from tollgate.store.database import Database
from tollgate.store.schema import PENDING_ANNOUNCEMENT, announcements, outbox
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Instant, MerchantId


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    merchant_id: MerchantId
    subject_id: str
    topic: str
    """The name of the event in the catalogue."""
    created_at: Instant
    result_code: str = ""
    sequence: int = 1
    """Its number among the events of the subject."""


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """An event that somebody may have to be told of, with the object as it was then."""

    id: str
    merchant_id: MerchantId
    subject_id: str
    channel_id: ChannelId
    payment_type: str = ""
    created_at: Instant
    payload: bytes | None = None
    """JSON; None where the object is rendered when the event is passed on."""
    notification_url: str | None = None
    """The address of a notification that a request asked for."""


class Announced(msgspec.Struct, frozen=True):
    event: Event
    announcement: Announcement


class EventPayload(msgspec.Struct, frozen=True):
    """An event with its object as it was then; None where nobody was told of it then."""

    event: Event
    payload: bytes | None


AFTER_ALL = "g"
"""Sorts after the id of every event, because ids begin with hex digits."""

EVENTS = Codec(outbox, Event)
ANNOUNCEMENTS = Codec(announcements, Announcement)

find_event = EVENTS.find
find_announcement = ANNOUNCEMENTS.find
insert_event_writes = EVENTS.insert()
insert_announcement_writes = ANNOUNCEMENTS.insert(is_pending=ONE)
purge_announcements = ANNOUNCEMENTS.purge_timed()

_is_its_event = sa.and_(outbox.c.merchant_id == announcements.c.merchant_id, outbox.c.id == announcements.c.id)
_pending = Statement(
    sa.select(*EVENTS.columns, *ANNOUNCEMENTS.columns)
    .join(announcements, _is_its_event)
    .where(sa.text(f"announcements.{PENDING_ANNOUNCEMENT}"))
    .order_by(announcements.c.id)
    .limit(LIMIT)
)
_between = EVENTS.select(
    outbox.c.merchant_id == bind("of", outbox.c.merchant_id),
    outbox.c.id > sa.bindparam("last"),
    outbox.c.id < sa.bindparam("end"),
).limit(LIMIT)
_oldest_first, _newest_first = (
    Statement(_between.order_by(outbox.c.id)),
    Statement(_between.order_by(outbox.c.id.desc())),
)
_payloads = Statement(
    sa.select(*EVENTS.columns, announcements.c.payload)
    .select_from(outbox.outerjoin(announcements, _is_its_event))
    .where(outbox.c.merchant_id == bind("of", outbox.c.merchant_id), is_among_ids(outbox.c.id))
)
_settle = Statement(
    sa.update(announcements)
    .where(announcements.c.merchant_id == bind("of", announcements.c.merchant_id), is_among_ids(announcements.c.id))
    .values(is_pending=ZERO)
)
_fill = ANNOUNCEMENTS.update(announcements.c.payload.is_(None), new=["payload"])


def append_event_writes(event: Event, channel_id: ChannelId) -> list[Write]:
    """Writes an event and announces it; its object is rendered when it is passed on."""
    announcement = Announcement(
        id=event.id,
        merchant_id=event.merchant_id,
        subject_id=event.subject_id,
        channel_id=channel_id,
        created_at=event.created_at,
    )
    return [*insert_event_writes(event), *insert_announcement_writes(announcement)]


async def list_pending(db: Database, limit: int) -> list[Announced]:
    """Lists announcements that were not passed on yet, oldest first."""
    width = len(EVENTS.columns)
    rows = await db.fetch(_pending, {"limit": limit})
    return [Announced(EVENTS.decode(row[:width]), ANNOUNCEMENTS.decode(row[width:])) for row in rows]


async def list_events(
    db: Database, merchant_id: MerchantId, last: str, end: str, limit: int, *, is_newest_first: bool = False
) -> list[Event]:
    """Lists events of a merchant with ids between two others; ids begin with the time."""
    params = {"of_merchant_id": merchant_id, "last": last, "end": end, "limit": limit}
    return await EVENTS.fetch(db, _newest_first if is_newest_first else _oldest_first, params)


async def list_payloads(db: Database, merchant_id: MerchantId, event_ids: Sequence[str]) -> dict[str, EventPayload]:
    """Returns the events with these ids, by their ids."""
    found: dict[str, EventPayload] = {}
    for _, ids in spread_ids(event_ids):
        for row in await db.fetch(_payloads, {"of_merchant_id": merchant_id, **ids}):
            found[row[EVENTS.at["id"]]] = EventPayload(EVENTS.decode(row[:-1]), row[-1])
    return found


def pass_on_writes(merchant_id: MerchantId, event_ids: Sequence[str]) -> list[Write]:
    """Marks announcements as passed on; another process may have done so before."""
    return [Write(_settle, {"of_merchant_id": merchant_id, **ids}) for _, ids in spread_ids(event_ids)]


def fill_payload_writes(announcement: Announcement, payload: bytes) -> list[Write]:
    """Stores the object of an announcement that was made without one."""
    return _fill(announcement, rows=None, new_payload=payload)
