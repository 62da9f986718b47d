"""The schemes of a merchant's apps, to which a channel lets shoppers return."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("channels", sa.Column("return_schemes", sa.Text()))
