"""Whole tables of PostgreSQL, read and replaced in one transaction. `copying` chooses the tables."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import asyncpg
import sqlalchemy as sa

from tollgate.store import copying, hot, months, notices, partitions, postgres, postgres_faults, schema, statements
from tollgate.store.database import Unavailable

_ROWS_MAX = 200
_TIMEOUT_S = 600.0
_LOCK_TIMEOUT = "30s"
# Payments that a snapshot brings may be in other months than those that were there.
_FORGET_MONTHS = "DELETE FROM payment_months"
_KEEP_MONTHS = """INSERT INTO payment_months (merchant_id, id, created_at, chain_id)
 SELECT merchant_id, id, created_at, chain_id FROM payments"""


async def read_tables(
    database: postgres.PostgresDatabase, content: copying.Content
) -> AsyncGenerator[copying.Batch, None]:
    """Reads within one transaction, which sees nothing that is written meanwhile."""
    try:
        async with (
            database.borrow() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            for table in content.tables:
                cursor = await connection.cursor(content.select_all(table, statements.Dialect.POSTGRESQL))
                while rows := [tuple(record) for record in await cursor.fetch(_ROWS_MAX)]:
                    yield str(table.name), rows
    except postgres_faults.FAULTS as fault:
        raise Unavailable(f"the tables could not be read ({postgres_faults.get_fault_name(fault)})") from None


async def replace_tables(
    database: postgres.PostgresDatabase, batches: AsyncIterator[copying.Batch], content: copying.Content
) -> int:
    """Replaces all or nothing. Nobody writes meanwhile, or else rows of others would outlive the replacement."""
    written = 0
    try:
        async with database.borrow() as connection:
            transaction = await _lock(connection, content.tables)
            try:
                for table in content.tables:
                    await connection.execute(
                        content.delete_all(table, statements.Dialect.POSTGRESQL), timeout=_TIMEOUT_S
                    )
                async for name, rows in batches:
                    columns = [column.name for column in copying.get_table(name).columns]
                    if name in partitions.COLUMNS:
                        await _make_partitions(connection, name, columns, rows)
                    await connection.copy_records_to_table(name, records=rows, columns=columns, timeout=_TIMEOUT_S)
                    written += len(rows)
                await connection.execute(_FORGET_MONTHS, timeout=_TIMEOUT_S)
                await connection.execute(_KEEP_MONTHS, timeout=_TIMEOUT_S)
                for write in (*copying.list_final_writes(), *notices.notice_writes(statements.Dialect.POSTGRESQL)):
                    compiled = write.statement.compiled_for(statements.Dialect.POSTGRESQL)
                    await connection.execute(compiled.text, *compiled.bind(write.params), timeout=_TIMEOUT_S)
                # Without statistics, what reads these rows next is slow.
                names = ", ".join(table.name for table in (*content.tables, schema.payment_months))
                await connection.execute(f"ANALYZE {names}", timeout=_TIMEOUT_S)
            except BaseException:
                await transaction.rollback()
                raise
            await transaction.commit()
    except postgres_faults.FAULTS as fault:
        raise Unavailable(f"the tables could not be replaced ({type(fault).__name__})") from None
    return written


async def _make_partitions(
    connection: asyncpg.Connection, table: str, columns: Sequence[str], rows: Sequence[hot.Row]
) -> None:
    """Makes the partitions of some rows in the transaction, which keeps everybody else from making them."""
    key_at = columns.index(partitions.COLUMNS[table])
    instants = [partitions.read_time(table, row[key_at]) for row in rows]
    await partitions.make_partitions(connection, table, {months.get_month(at): at for at in instants}.values())


async def _lock(connection: asyncpg.Connection, tables: Sequence[sa.Table]) -> asyncpg.transaction.Transaction:
    """Begins the transaction and keeps all writers off, who lock the tables in orders of their own."""
    names = ", ".join(table.name for table in tables)
    for tries in range(postgres_faults.TRIES_MAX):
        transaction = connection.transaction()
        await transaction.start()
        try:
            await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            await connection.execute(f"LOCK TABLE {names} IN EXCLUSIVE MODE", timeout=_TIMEOUT_S)
        except asyncpg.DeadlockDetectedError:
            await transaction.rollback()
            if tries == postgres_faults.TRIES_MAX - 1:
                raise
        except BaseException:
            await transaction.rollback()
            raise
        else:
            return transaction
    raise Unavailable("the tables could not be locked")
