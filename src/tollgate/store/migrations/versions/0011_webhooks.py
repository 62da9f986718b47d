"""The tables of webhooks. Their statements stand beside it, one file for each database."""

from pathlib import Path

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    statements = Path(__file__).with_suffix(f".{op.get_context().dialect.name}.sql").read_text("utf-8")
    for statement in statements.split(";"):
        if statement.strip():
            op.execute(statement.strip())
