"""All payment methods: wallet keys and uses, authentications, bank instructions and files, simulated sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text()
BYTES = sa.LargeBinary()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("channels", sa.Column("creditor", TEXT))
    op.add_column("channels", sa.Column("three_ds", TEXT))
    create_wallet_tables()
    create_authentications()
    create_instructions()
    create_bank_files()
    create_simulated_sessions()


def create_wallet_tables() -> None:
    op.create_table(
        "wallet_keys",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("wallet", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("public", TEXT, nullable=False),
        sa.Column("sealed_key", BYTES, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "wallet_uses",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("fingerprint", BYTES, primary_key=True),
        sa.Column("used_at", WHOLE, nullable=False),
        sa.Column("request", BYTES),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("wallet_uses_by_age", "wallet_uses", ["used_at"])


def create_authentications() -> None:
    op.create_table(
        "authentications",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("stage", SMALL, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("expires_at", WHOLE, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.Column("mac", BYTES),
        sa.Column("sealed_secret", BYTES),
        sqlite_strict=True,
    )


def create_instructions() -> None:
    op.create_table(
        "instructions",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("state", SMALL, nullable=False),
        sa.Column("direction", TEXT, nullable=False),
        sa.Column("amount", WHOLE, nullable=False),
        sa.Column("currency", TEXT, nullable=False),
        sa.Column("due_on", TEXT, nullable=False),
        sa.Column("sequence", TEXT, nullable=False),
        sa.Column("account_of", TEXT, nullable=False),
        sa.Column("mandate_id", TEXT, nullable=False),
        sa.Column("signed_on", TEXT, nullable=False),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("file_id", TEXT),
        sa.Column("created_at", WHOLE, nullable=False),
        sqlite_strict=True,
    )
    op.create_index(
        "instructions_open",
        "instructions",
        ["due_on"],
        postgresql_where=sa.text("state = 0"),
        sqlite_where=sa.text("state = 0"),
    )
    op.create_index("instructions_by_file", "instructions", ["merchant_id", "file_id"])


def create_bank_files() -> None:
    op.create_table(
        "bank_files",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("scheme", TEXT, nullable=False),
        sa.Column("due_on", TEXT, nullable=False),
        sa.Column("sequence", TEXT, nullable=False),
        sa.Column("currency", TEXT, nullable=False),
        sa.Column("entries", WHOLE, nullable=False),
        sa.Column("total", WHOLE, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("sealed_body", BYTES, nullable=False),
        sa.Column("exported_at", WHOLE),
        sa.UniqueConstraint("merchant_id", "channel_id", "scheme", "due_on", "sequence", name="bank_files_one_a_day"),
        sqlite_strict=True,
    )


def create_simulated_sessions() -> None:
    op.create_table(
        "simulated_sessions",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("simulated_sessions_by_age", "simulated_sessions", ["created_at"])
