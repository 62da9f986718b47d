"""The tables of the first release. Their statements stand beside it, one file for each database."""

from tollgate.store.migrating import execute_beside

revision = "0010"
down_revision = None


def upgrade() -> None:
    execute_beside(__file__)
