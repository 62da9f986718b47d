"""The acquirers of channels and the connector of a payment. The statements are beside it, one file per database."""

from tollgate.store.migrating import execute_beside

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    execute_beside(__file__)
