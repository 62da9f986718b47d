"""The audit log: entries are appended one after the other and read in pages. Nothing in it is changed.

The hashes that link the entries are made in `operations`.
"""

from typing import Any

import sqlalchemy as sa

from tollgate.payments.users import AuditEntry
from tollgate.store.codec import LIMIT, Codec
from tollgate.store.database import Database
from tollgate.store.opening import replace_setting_writes
from tollgate.store.schema import TEXT, WHOLE, audit_log
from tollgate.store.statements import Statement

AUDIT_HEAD = "audit_log_head"
"""The setting with the number and the hash of the last entry, so that a removed end is noticed."""

ENTRIES = Codec(audit_log, AuditEntry, key=["number"])

_insert = ENTRIES.insert()
_after = sa.bindparam("after", type_=WHOLE)
_walk = Statement(ENTRIES.select(audit_log.c.number > _after).order_by(audit_log.c.number).limit(LIMIT))
_before = sa.bindparam("before", type_=WHOLE)
_of_host = Statement(ENTRIES.select(audit_log.c.number < _before).order_by(audit_log.c.number.desc()).limit(LIMIT))
_of_merchant = Statement(
    ENTRIES.select(audit_log.c.merchant_id == sa.bindparam("merchant_id", type_=TEXT), audit_log.c.number < _before)
    .order_by(audit_log.c.number.desc())
    .limit(LIMIT)
)


async def append_entry(db: Database, entry: AuditEntry, old_head: str, new_head: str) -> bool:
    """Appends an entry and moves the head; False if another process appended one since the head was read."""
    writes = [*replace_setting_writes(AUDIT_HEAD, old_head, new_head), *_insert(entry)]
    return await db.write(writes, label="audit log")


async def walk_entries(db: Database, after: int, limit: int) -> list[AuditEntry]:
    """Lists entries in the order in which they were written."""
    return await ENTRIES.fetch(db, _walk, {"after": after, "limit": limit})


async def list_entries(db: Database, merchant_id: str | None, before: int, limit: int) -> list[AuditEntry]:
    """Lists the newest entries below a number, of one merchant or of the whole host."""
    params: dict[str, Any] = {"before": before, "limit": limit}
    if merchant_id is None:
        return await ENTRIES.fetch(db, _of_host, params)
    return await ENTRIES.fetch(db, _of_merchant, {**params, "merchant_id": merchant_id})
