"""Monthly partitions on PostgreSQL, and keys that begin with the merchant. The statements are beside it."""

from alembic import op

from tollgate.store.migrating import execute_beside

revision = "0016"
down_revision = "0015"

# What there is becomes the first partition, up to the month after its newest row; no row is copied. The bound of ids is
# the beginning of an id. An empty table is of no use.
_ATTACH = """DO $$
DECLARE
    bound BIGINT;
BEGIN
    SELECT EXTRACT(EPOCH FROM date_trunc('month', to_timestamp(max(at) / 1000000) AT TIME ZONE 'UTC')
        + INTERVAL '1 month')::BIGINT * 1000000
    INTO bound
    FROM (
        SELECT max(created_at) AS at FROM payments_past
        UNION ALL SELECT max(created_at) FROM outbox_past
        UNION ALL SELECT max(posted_at) FROM ledger_entries_past
        UNION ALL SELECT max(attempted_at) FROM delivery_attempts_past
    ) AS newest;
    {}
END $$"""
_ATTACH_ONE = """
    IF EXISTS (SELECT FROM {table}_past) THEN
        EXECUTE format('ALTER TABLE {table} ATTACH PARTITION {table}_past FOR VALUES FROM (MINVALUE) TO (%L)', {bound});
    ELSE
        DROP TABLE {table}_past;
    END IF;"""
_BY_ID = "lpad(to_hex(bound), 16, '0')"
_BOUNDS = {"payments": "bound", "outbox": _BY_ID, "ledger_entries": _BY_ID, "delivery_attempts": _BY_ID}


def upgrade() -> None:
    execute_beside(__file__)
    if op.get_context().dialect.name == "postgresql":
        attached = [_ATTACH_ONE.format(table=table, bound=bound) for table, bound in _BOUNDS.items()]
        op.execute(_ATTACH.format("".join(attached)).replace(":", "\\:"))
