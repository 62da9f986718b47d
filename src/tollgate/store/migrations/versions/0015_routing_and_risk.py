"""Dispatching, acquirer accounts, risk rules, lists and reviews. The statements are beside it."""

from tollgate.store.migrating import execute_beside

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    execute_beside(__file__)
