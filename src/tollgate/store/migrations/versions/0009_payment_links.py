"""Payment links, which merchants send to shoppers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.Text()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "payment_links",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("state", SMALL, nullable=False),
        sa.Column("created_at", WHOLE, nullable=False),
        sa.Column("expires_at", WHOLE, nullable=False),
        sa.Column("checkout_id", TEXT),
        sa.Column("sealed_fields", sa.LargeBinary()),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sqlite_strict=True,
    )
    op.create_index("payment_links_by_expiry", "payment_links", ["expires_at"])
    op.create_index("payment_links_by_checkout", "payment_links", ["merchant_id", "checkout_id"])
