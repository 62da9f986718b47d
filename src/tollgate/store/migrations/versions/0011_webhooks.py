"""The tables of webhooks. Their statements stand beside it, one file for each database."""

from tollgate.store.migrating import execute_beside

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    execute_beside(__file__)
