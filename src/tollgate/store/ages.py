"""The oldest row of everything that has a retention period. How long rows are kept is decided elsewhere."""

import sqlalchemy as sa

from tollgate.store import database, schema, statements
from tollgate.values import Instant

_AGES = {
    "accounts of payments": (schema.payments.c.created_at, schema.payments.c.sealed_account.is_not(None)),
    "accounts of registrations": (
        schema.registrations.c.created_at,
        schema.registrations.c.sealed_account.is_not(None),
    ),
    "fields of checkouts": (schema.checkouts.c.expires_at, schema.checkouts.c.sealed_fields.is_not(None)),
    "fields of payment links": (schema.payment_links.c.expires_at, schema.payment_links.c.sealed_fields.is_not(None)),
    "idempotency keys": (schema.idempotency_keys.c.created_at, None),
    "payloads of events": (schema.announcements.c.created_at, None),
    "deliveries": (schema.deliveries.c.queued_at, None),
    "wallet uses": (schema.wallet_uses.c.used_at, None),
    "sessions of users": (schema.user_sessions.c.created_at, None),
    "audit log": (schema.audit_log.c.at, None),
}
_OLDEST = {
    name: statements.Statement(
        sa.select(sa.func.min(age)) if where is None else sa.select(sa.func.min(age)).where(where)
    )
    for name, (age, where) in _AGES.items()
}
_VERSIONS = {
    statements.Dialect.SQLITE: statements.Statement(sa.select(sa.func.sqlite_version())),
    statements.Dialect.POSTGRESQL: statements.Statement(sa.select(sa.func.version())),
}


async def list_oldest(db: database.Database) -> dict[str, Instant | None]:
    """Returns the time of the oldest row by what it is; None where there is none."""
    found: dict[str, Instant | None] = {}
    for name, statement in _OLDEST.items():
        row = await db.fetch_one(statement, {})
        found[name] = row[0] if row else None
    return found


async def get_version(db: database.Database) -> str:
    """Returns the name and the version of the database."""
    row = await db.fetch_one(_VERSIONS[db.dialect], {})
    text = str(row[0]) if row else ""
    return f"SQLite {text}" if db.dialect is statements.Dialect.SQLITE else text.partition(" on ")[0]
