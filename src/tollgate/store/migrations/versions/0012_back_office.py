"""The tables of the back office. Their statements stand beside it, one file for each database."""

from tollgate.store.migrating import execute_beside

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    execute_beside(__file__)
