"""What happened, appended in the commit that made it true. Who is told of it, and how, is decided elsewhere."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.store.database import Database
from tollgate.store.schema import outbox
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, MerchantId

PAYMENT_COMPLETED = "payment.settled"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    merchant_id: MerchantId
    subject_id: str
    topic: str
    created_at: Instant
    result_code: str = ""


_members = Event.__struct_fields__
_append = Statement(sa.insert(outbox).values({name: sa.bindparam(name) for name in _members}))
_list = Statement(
    sa.select(*[outbox.c[name] for name in _members])
    .where(outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id > sa.bindparam("after_id"))
    .order_by(outbox.c.id)
    .limit(sa.bindparam("limit"))
)


def append_event_writes(event: Event) -> list[Write]:
    return [Write(_append, msgspec.structs.asdict(event), rows=1)]


async def list_events(db: Database, merchant_id: MerchantId, after_id: str = "", limit: int = 100) -> list[Event]:
    """A merchant's events in the order of their time, after one already seen."""
    rows = await db.fetch(_list, {"merchant_id": merchant_id, "after_id": after_id, "limit": limit})
    return [Event(**dict(zip(_members, row, strict=True))) for row in rows]
