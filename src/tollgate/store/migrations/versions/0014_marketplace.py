"""The splits of marketplace payments and the ledger entries of their sellers. The statements are beside it."""

from tollgate.store.migrating import execute_beside

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    execute_beside(__file__)
