"""Months whose payments were moved to files. The statements are beside it."""

from tollgate.store.migrating import execute_beside

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    execute_beside(__file__)
