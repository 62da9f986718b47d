"""The tables of the first release. Their statements stand beside it, one file for each database."""

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = None


def upgrade() -> None:
    statements = Path(__file__).with_suffix(f".{op.get_context().dialect.name}.sql").read_text("utf-8")
    for statement in statements.split(";"):
        if statement.strip():
            op.execute(statement.strip())
