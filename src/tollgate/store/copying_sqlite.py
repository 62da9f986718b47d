"""Whole tables of an embedded database, read and replaced by their own connection. `copying` chooses the tables."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from itertools import islice
from typing import Any

import apsw
import sqlalchemy as sa

from tollgate.store import copying, sqlite, statements
from tollgate.store.database import Damaged, Unavailable

_ROWS_MAX = 200


async def read_tables(database: sqlite.SqliteDatabase, content: copying.Content) -> AsyncGenerator[copying.Batch, None]:
    """Reads within one transaction, which sees nothing that is written meanwhile."""
    reader = await asyncio.to_thread(sqlite.open_connection, database.path, sqlite.READER_PRAGMAS)
    try:
        reader.execute("BEGIN")
        for table in content.tables:
            cursor = reader.execute(content.select_all(table, statements.Dialect.SQLITE))
            while rows := await asyncio.to_thread(lambda rows: list(islice(rows, _ROWS_MAX)), cursor):
                yield str(table.name), rows
    except apsw.Error as fault:
        raise Damaged(f"the database file cannot be read ({type(fault).__name__})") from None
    finally:
        reader.close()


async def replace_tables(
    database: sqlite.SqliteDatabase, batches: AsyncIterator[copying.Batch], content: copying.Content
) -> int:
    """Replaces all or nothing: a fault leaves the transaction open, and it ends with the connection."""
    writer = await asyncio.to_thread(sqlite.open_connection, database.path, sqlite.WRITER_PRAGMAS)
    written = 0
    try:
        await asyncio.to_thread(writer.execute, "BEGIN IMMEDIATE")
        for table in content.tables:
            await asyncio.to_thread(writer.execute, content.delete_all(table, statements.Dialect.SQLITE))
        async for name, rows in batches:
            await asyncio.to_thread(writer.executemany, _insert(copying.get_table(name)), rows)
            written += len(rows)
        for write in copying.list_final_writes():
            compiled = write.statement.compiled_for(statements.Dialect.SQLITE)
            writer.execute(compiled.text, compiled.bind(write.params))
        await asyncio.to_thread(writer.execute, "COMMIT")
    except apsw.BusyError:
        raise Unavailable("another process kept the database busy") from None
    except apsw.Error as fault:
        raise Damaged(f"the database file cannot be written ({type(fault).__name__})") from None
    finally:
        writer.close()
    return written


def _insert(table: sa.Table) -> str:
    values: dict[str, Any] = {column.name: sa.bindparam(column.name) for column in table.columns}
    return statements.Statement(sa.insert(table).values(values)).compiled_for(statements.Dialect.SQLITE).text
