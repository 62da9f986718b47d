"""How often in a row a job has failed, so that an audit can name one that never gets done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("failures", WHOLE, nullable=False, server_default=sa.text("0")))
