"""The lifecycle id of a payment as a column, so that reports find a whole life by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TEXTS = {"sqlite": "json_extract(echo, '$.lifecycleId')", "postgresql": "echo::json ->> 'lifecycleId'"}
"""How each database reads the id out of the fields that were stored with a payment."""
_SET = sa.text("lifecycle_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("payments", sa.Column("lifecycle_id", sa.Text()))
    stored = _TEXTS[op.get_context().dialect.name]
    op.execute(f"UPDATE payments SET lifecycle_id = {stored} WHERE echo LIKE '%\"lifecycleId\"%'")
    op.create_index(
        "payments_by_lifecycle",
        "payments",
        ["merchant_id", "channel_id", "lifecycle_id", "created_at", "id"],
        postgresql_where=_SET,
        sqlite_where=_SET,
    )
