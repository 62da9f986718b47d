"""The hosted payment form: checkouts, and the scripts that were promised for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.Text()
BYTES = sa.LargeBinary()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")

_KEPT = sa.text("sealed_fields IS NOT NULL")


def upgrade() -> None:
    create_checkouts()
    op.create_table(
        "scripts",
        sa.Column("version", TEXT, primary_key=True),
        sa.Column("integrity", TEXT, nullable=False),
        sa.Column("body", BYTES, nullable=False),
        sa.Column("promised_at", WHOLE, nullable=False),
        sqlite_strict=True,
    )


def create_checkouts() -> None:
    op.create_table(
        "checkouts",
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
        sa.Column("sealed_fields", BYTES),
        sqlite_strict=True,
    )
    op.create_index("checkouts_kept", "checkouts", ["expires_at"], postgresql_where=_KEPT, sqlite_where=_KEPT)
    op.create_index("checkouts_by_age", "checkouts", ["created_at"])
