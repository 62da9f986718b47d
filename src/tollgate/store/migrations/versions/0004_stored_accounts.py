"""Stored payment data: registrations, schedules and their runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.Text()
BYTES = sa.LargeBinary()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")
ZERO = sa.text("0")

_FINGERPRINTED = sa.text("fingerprint IS NOT NULL")
_KEPT = sa.text("state < 2")
_ACTIVE = sa.text("state = 0")


def upgrade() -> None:
    op.add_column("channels", sa.Column("reuses_registrations", SMALL, nullable=False, server_default=ZERO))
    op.add_column("channels", sa.Column("uses_network_tokens", SMALL, nullable=False, server_default=ZERO))
    op.add_column("channels", sa.Column("token_terms", TEXT))
    create_registrations()
    create_schedules()
    create_schedule_runs()


def create_registrations() -> None:
    op.create_table(
        "registrations",
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
        sa.Column("sealed_account", BYTES),
        sa.Column("sealed_token", BYTES),
        sqlite_strict=True,
    )
    op.create_index(
        "registrations_by_fingerprint",
        "registrations",
        ["merchant_id", "fingerprint"],
        postgresql_where=_FINGERPRINTED,
        sqlite_where=_FINGERPRINTED,
    )
    op.create_index("registrations_kept", "registrations", ["keep_until"], postgresql_where=_KEPT, sqlite_where=_KEPT)


def create_schedules() -> None:
    op.create_table(
        "schedules",
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
    op.create_index("schedules_by_series", "schedules", ["merchant_id", "series_id"])
    op.create_index("schedules_by_registration", "schedules", ["merchant_id", "registration_id"])
    op.create_index("schedules_due", "schedules", ["next_at"], postgresql_where=_ACTIVE, sqlite_where=_ACTIVE)


def create_schedule_runs() -> None:
    op.create_table(
        "schedule_runs",
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
