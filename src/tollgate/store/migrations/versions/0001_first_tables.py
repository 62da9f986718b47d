"""The first tables: payments and their claims, events and jobs, the directory, settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.Text()
BYTES = sa.LargeBinary()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    create_payments()
    index_payments()
    create_claims()
    create_queues()
    create_directory()


def create_payments() -> None:
    op.create_table(
        "payments",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("payment_type", TEXT, nullable=False),
        sa.Column("state", SMALL, nullable=False),
        sa.Column("amount", WHOLE, nullable=False),
        sa.Column("currency", TEXT, nullable=False),
        sa.Column("brand", TEXT, nullable=False),
        sa.Column("method", TEXT, nullable=False),
        sa.Column("descriptor", TEXT, nullable=False),
        sa.Column("short_id", TEXT, nullable=False),
        sa.Column("ndc", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("deadline_at", WHOLE, nullable=False),
        sa.Column("test_mode", TEXT),
        sa.Column("merchant_transaction_id", TEXT),
        sa.Column("referenced_id", TEXT),
        sa.Column("card", TEXT),
        sa.Column("echo", TEXT, nullable=False),
        sa.Column("result_code", TEXT, nullable=False),
        sa.Column("details", TEXT, nullable=False),
        sa.Column("completed_at", WHOLE),
        sa.Column("idempotency_key", TEXT),
        sa.Column("sealed_account", BYTES),
        sqlite_strict=True,
    )


def index_payments() -> None:
    op.create_index(
        "payments_by_transaction",
        "payments",
        ["merchant_id", "channel_id", "merchant_transaction_id", "created_at"],
        postgresql_where=sa.text("merchant_transaction_id IS NOT NULL"),
        sqlite_where=sa.text("merchant_transaction_id IS NOT NULL"),
    )
    op.create_index(
        "payments_in_flight",
        "payments",
        ["deadline_at"],
        postgresql_where=sa.text("state = 0"),
        sqlite_where=sa.text("state = 0"),
    )


def create_claims() -> None:
    op.create_table(
        "claims",
        sa.Column("channel_id", TEXT, primary_key=True),
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("fingerprint", BYTES, nullable=False),
        sa.Column("payment_id", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("status", SMALL),
        sa.Column("body", BYTES),
        sqlite_strict=True,
    )
    op.create_index("claims_by_age", "claims", ["created_at"])


def create_queues() -> None:
    op.create_table(
        "outbox",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("subject_id", TEXT, nullable=False),
        sa.Column("topic", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("result_code", TEXT, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "jobs",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("topic", TEXT, nullable=False),
        sa.Column("subject_id", TEXT, nullable=False),
        sa.Column("due_at", WHOLE, nullable=False),
        sa.Column("leased_until", WHOLE, nullable=False),
        sa.Column("lease_owner", TEXT),
        sa.Column("tries", WHOLE, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("jobs_due", "jobs", ["due_at"])


def create_directory() -> None:
    op.create_table(
        "merchants",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "channels",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("merchant_id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("is_lenient", SMALL, nullable=False),
        sa.Column("requires_cvv", SMALL, nullable=False),
        sa.Column("is_closed", SMALL, nullable=False),
        sa.Column("test_url", TEXT),
        sa.Column("live_url", TEXT),
        sqlite_strict=True,
    )
    op.create_table(
        "credentials",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("merchant_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("token_hash", BYTES, nullable=False, unique=True),
        sa.Column("sealed_token", BYTES, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("revoked_at", WHOLE),
        sqlite_strict=True,
    )
    op.create_table(
        "settings",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("value", TEXT, nullable=False),
        sqlite_strict=True,
    )
