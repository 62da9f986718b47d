"""What may follow a payment: chains, balances and seals on payments, the book, how often a channel may rebill."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text()
BYTES = sa.LargeBinary()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ZERO, ONE = sa.text("0"), sa.text("1")


def upgrade() -> None:
    extend_payments()
    index_payments()
    order_references()
    create_book()
    op.add_column("channels", sa.Column("rebills_max", WHOLE, nullable=False, server_default=sa.text("98")))


def extend_payments() -> None:
    for column in (
        sa.Column("action", TEXT),
        sa.Column("chain_id", TEXT),
        sa.Column("position", WHOLE, nullable=False, server_default=ONE),
        sa.Column("releases", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("closes", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("mac", BYTES),
        sa.Column("added", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("drawn", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("held", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("disputed", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("draws", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("closed", WHOLE, nullable=False, server_default=ZERO),
        sa.Column("chain_length", WHOLE, nullable=False, server_default=ONE),
        sa.Column("chain_net", WHOLE, nullable=False, server_default=ZERO),
    ):
        op.add_column("payments", column)


def index_payments() -> None:
    op.create_index(
        "payments_by_chain",
        "payments",
        ["merchant_id", "chain_id", "position"],
        postgresql_where=sa.text("chain_id IS NOT NULL"),
        sqlite_where=sa.text("chain_id IS NOT NULL"),
    )
    op.create_index("payments_by_time", "payments", ["channel_id", "merchant_id", "created_at", "id"])


def order_references() -> None:
    """The same index with the whole order of a list in it, so that a page of the list is a stretch of the index."""
    op.drop_index("payments_by_transaction", "payments")
    op.create_index(
        "payments_by_transaction",
        "payments",
        ["merchant_id", "channel_id", "merchant_transaction_id", "created_at", "id"],
        postgresql_where=sa.text("merchant_transaction_id IS NOT NULL"),
        sqlite_where=sa.text("merchant_transaction_id IS NOT NULL"),
    )


def create_book() -> None:
    op.create_table(
        "book",
        sa.Column("merchant_id", TEXT, primary_key=True),
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("payment_id", TEXT, nullable=False),
        sa.Column("channel_id", TEXT, nullable=False),
        sa.Column("currency", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("amount", WHOLE, nullable=False),
        sa.Column("posted_at", WHOLE, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
