"""The tables of stored accounts and of schedules that charge them, for both databases; as portable as the others."""

from __future__ import annotations

import sqlalchemy as sa

from tollgate.store.schema import BYTES, METADATA, SMALL, TEXT, WHOLE

OPEN_REGISTRATION = "state < 2"
"""The predicates of partial indexes; statements repeat them literally, or the planner would not recognise them."""

ACTIVE_SCHEDULE = "state = 0"

registrations = sa.Table(
    "registrations",
    METADATA,
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("brand", TEXT, nullable=False),
    sa.Column("method", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("used_at", WHOLE, nullable=False),
    sa.Column("keep_until", WHOLE, nullable=False),
    sa.Column("test_mode", TEXT),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("card", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("initial", TEXT),
    sa.Column("network_token", TEXT),
    sa.Column("fingerprint", BYTES),
    sa.Column("made_by", TEXT),
    sa.Column("revision", WHOLE, nullable=False),
    # Wiped when the registration ends; the rest stays as a trace.
    sa.Column("sealed_account", BYTES),
    sa.Column("sealed_token", BYTES),
    sqlite_strict=True,
)
sa.Index(
    "registrations_by_fingerprint",
    registrations.c.merchant_id,
    registrations.c.fingerprint,
    postgresql_where=registrations.c.fingerprint.is_not(None),
    sqlite_where=registrations.c.fingerprint.is_not(None),
)
# Holds only what has an account: rows leave it by being wiped.
sa.Index(
    "registrations_kept",
    registrations.c.keep_until,
    postgresql_where=sa.text(OPEN_REGISTRATION),
    sqlite_where=sa.text(OPEN_REGISTRATION),
)

schedules = sa.Table(
    "schedules",
    METADATA,
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("series_id", TEXT, nullable=False),
    sa.Column("registration_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("payment_type", TEXT, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("plan", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("starts_at", WHOLE, nullable=False),
    sa.Column("ends_at", WHOLE),
    sa.Column("next_at", WHOLE),
    sa.Column("test_mode", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("skipped", WHOLE, nullable=False),
    sa.Column("mac", BYTES),
    sqlite_strict=True,
)
sa.Index("schedules_by_series", schedules.c.merchant_id, schedules.c.series_id)
sa.Index("schedules_by_registration", schedules.c.merchant_id, schedules.c.registration_id)
sa.Index(
    "schedules_due",
    schedules.c.next_at,
    postgresql_where=sa.text(ACTIVE_SCHEDULE),
    sqlite_where=sa.text(ACTIVE_SCHEDULE),
)

schedule_runs = sa.Table(
    "schedule_runs",
    METADATA,
    # A time is due once, so whoever comes second finds the run of the first.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("schedule_id", TEXT, primary_key=True),
    sa.Column("due_at", WHOLE, primary_key=True),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("tries", WHOLE, nullable=False),
    sa.Column("payment_id", TEXT),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("completed_at", WHOLE),
    sqlite_strict=True,
)
