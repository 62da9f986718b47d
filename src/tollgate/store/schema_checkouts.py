"""The tables of checkouts and of the scripts that were promised for them, for both databases. No statement is here."""

from __future__ import annotations

import sqlalchemy as sa

from tollgate.store.schema import BYTES, METADATA, SMALL, TEXT, WHOLE

checkouts = sa.Table(
    "checkouts",
    METADATA,
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("kind", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("expires_at", WHOLE, nullable=False),
    sa.Column("revision", WHOLE, nullable=False),
    sa.Column("attempts", WHOLE, nullable=False),
    sa.Column("subject_id", TEXT),
    sa.Column("submitted_at", WHOLE),
    sa.Column("read_at", WHOLE),
    sa.Column("window_ends_at", WHOLE, nullable=False),
    sa.Column("window_reads", WHOLE, nullable=False),
    sa.Column("return_url", TEXT),
    sa.Column("reminder", TEXT, nullable=False),
    sa.Column("reminded_at", WHOLE),
    sa.Column("script", TEXT, nullable=False),
    # Wiped when the checkout is over; the rest stays, so that nothing is paid twice however late it is approved.
    sa.Column("sealed_fields", BYTES),
    sqlite_strict=True,
)
# Holds only what still has its fields: rows leave it by being wiped.
sa.Index(
    "checkouts_kept",
    checkouts.c.expires_at,
    postgresql_where=checkouts.c.sealed_fields.is_not(None),
    sqlite_where=checkouts.c.sealed_fields.is_not(None),
)
sa.Index("checkouts_by_age", checkouts.c.created_at)

scripts = sa.Table(
    "scripts",
    METADATA,
    sa.Column("version", TEXT, primary_key=True),
    sa.Column("integrity", TEXT, nullable=False),
    sa.Column("body", BYTES, nullable=False),
    sa.Column("promised_at", WHOLE, nullable=False),
    sqlite_strict=True,
)
