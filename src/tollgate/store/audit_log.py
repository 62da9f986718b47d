"""The audit log: entries are appended one after the other and read in pages. Nothing in it is changed.

The hashes that link the entries are made in `operations`.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import sqlalchemy as sa

from tollgate.payments.users import AuditEntry
from tollgate.store import database, opening, statements
from tollgate.store.codec import LIMIT, Codec, is_among_ids, spread_ids
from tollgate.store.schema import TEXT, WHOLE, audit_log
from tollgate.values import Instant

AUDIT_HEAD = "audit_log_head"
"""The setting with the number and the hash of the last entry, and a hash of both: so a removed end is noticed."""

ENTRIES = Codec(audit_log, AuditEntry, key=["number"])

_insert = ENTRIES.insert()
_CONDITIONS: Mapping[str, sa.ColumnElement[bool]] = {
    "merchant_id": audit_log.c.merchant_id == sa.bindparam("merchant_id", type_=TEXT),
    "user_name": audit_log.c.user_name == sa.bindparam("user_name", type_=TEXT),
    "action": audit_log.c.action == sa.bindparam("action", type_=TEXT),
    "since": audit_log.c.at >= sa.bindparam("since", type_=WHOLE),
    "until": audit_log.c.at < sa.bindparam("until", type_=WHOLE),
    "before": audit_log.c.number < sa.bindparam("before", type_=WHOLE),
}
_last_times = statements.Statement(
    sa.select(audit_log.c.subject, sa.func.max(audit_log.c.at))
    .where(_CONDITIONS["merchant_id"], is_among_ids(audit_log.c.subject), _CONDITIONS["action"])
    .group_by(audit_log.c.subject)
)
_of_subject = statements.Statement(
    ENTRIES.select(
        audit_log.c.merchant_id == sa.bindparam("merchant_id", type_=TEXT),
        audit_log.c.subject == sa.bindparam("subject", type_=TEXT),
    )
    .order_by(audit_log.c.number.desc())
    .limit(LIMIT)
)


class EntryFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The entries that somebody asks for; None stands for all."""

    merchant_id: str | None = None
    user_name: str | None = None
    action: str | None = None
    since: Instant | None = None
    until: Instant | None = None


@cache
def _make_list(names: tuple[str, ...]) -> statements.Statement:
    where = [_CONDITIONS[name] for name in names]
    return statements.Statement(ENTRIES.select(*where).order_by(audit_log.c.number.desc()).limit(LIMIT))


async def append_entry(db: database.Database, entry: AuditEntry, old_head: str, new_head: str) -> bool:
    """Appends an entry and moves the head; False if another process appended one since the head was read."""
    writes = [*opening.replace_setting_writes(AUDIT_HEAD, old_head, new_head), *_insert(entry)]
    return await db.write(writes, label="audit log")


async def list_entries(db: database.Database, wanted: EntryFilter, before: int | None, limit: int) -> list[AuditEntry]:
    """Lists the newest entries that are wanted, below a number where there is one."""
    given = {**msgspec.structs.asdict(wanted), "before": before}
    params = {name: value for name, value in given.items() if value is not None}
    return await ENTRIES.fetch(db, _make_list(tuple(params)), {**params, "limit": limit})


async def list_last_times(
    db: database.Database, merchant_id: str, subjects: Sequence[str], action: str
) -> dict[str, Instant]:
    """Returns when an action was last done to each of these subjects, if it ever was."""
    found: dict[str, Instant] = {}
    for _, ids in spread_ids(subjects):
        rows = await db.fetch(_last_times, {"merchant_id": merchant_id, "action": action, **ids})
        found |= {str(row[0]): int(row[1]) for row in rows}
    return found


async def list_entries_about(db: database.Database, merchant_id: str, subject: str, limit: int) -> list[AuditEntry]:
    """Lists the newest entries about one thing, such as a payment."""
    return await ENTRIES.fetch(db, _of_subject, {"merchant_id": merchant_id, "subject": subject, "limit": limit})
