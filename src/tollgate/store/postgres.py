"""The driver of PostgreSQL. Statements are made elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import asyncpg

from tollgate.store import database, replication, statements
from tollgate.store.hot import Answer, HotWrite, Row
from tollgate.store.hot_follow_ups import HOT_WRITES
from tollgate.store.postgres_batches import BATCH_SETTINGS, BatchReader, BatchWriter, Connect
from tollgate.store.postgres_connecting import CONNECT_TIMEOUT_S, Connection, Connector
from tollgate.store.postgres_faults import FAULTS, Fate, Unreached, get_fate, get_fault_name, persist
from tollgate.store.postgres_migrating import migrate_tables, refuse_unfit_tables
from tollgate.store.postgres_months import Months
from tollgate.values import Instant

POOL_MAX = 8
BORROW_TIMEOUT_S = 10.0
"""While the server is silent, all connections are lent; whoever waited so long for one is told that it is silent."""
MONTHS_AHEAD = 3
"""Partitions are made for so many months after the present one."""

_SETTINGS = {"jit": "off"}
_READER_SETTINGS = {"default_transaction_read_only": "on"}


class _GuardBroken(Exception):
    """Raised within a transaction to roll it back."""


class PostgresDatabase(database.Probed):
    dialect = statements.Dialect.POSTGRESQL

    def __init__(self, pool: asyncpg.Pool, connect: Connect, *, read_only: bool) -> None:
        self.pool = pool
        self._connect = connect
        self.months = Months(self.borrow)
        self._readers: dict[str, BatchReader] = {}
        self._health = database.WriteHealth(self._check_write)
        hot_writes = () if read_only else HOT_WRITES
        self._writers = {hot.name: BatchWriter(hot, connect, self.ask, self._health, self.months) for hot in hot_writes}

    async def fetch(self, statement: statements.Statement, params: Mapping[str, Any]) -> list[Row]:
        compiled = statement.compiled_for(statements.Dialect.POSTGRESQL)
        bindings = compiled.bind(params)

        async def run(_: int) -> list[Row]:
            async with self.borrow() as connection:
                return [tuple(record) for record in await connection.fetch(compiled.text, *bindings)]

        return await persist(run, is_repeatable=not statement.is_write, repair=self._choose_repair(statement))

    async def ask(self, statement: statements.Statement, params: statements.Params) -> Row | None:
        """Runs a statement once; a fault is the driver's."""
        compiled = statement.compiled_for(statements.Dialect.POSTGRESQL)
        async with self.borrow() as connection:
            record = await connection.fetchrow(compiled.text, *compiled.bind(params))
        return None if record is None else tuple(record)

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[asyncpg.Connection]:
        """Lends a connection of the pool; one whose server is gone or takes no writes is not lent again."""
        try:
            connection = await self.pool.acquire(timeout=BORROW_TIMEOUT_S)
        except TimeoutError:
            raise Unreached("no connection is free") from None
        try:
            yield connection
        except asyncio.CancelledError:
            # The driver ends it a moment later, while it is given back, and would raise a fault of its own.
            _end(connection)
            raise
        except FAULTS as fault:
            if _is_cancelled():
                # The fault only says that a cancelled unit could not be rolled back.
                _end(connection)
                raise asyncio.CancelledError from None
            if get_fate(fault) in (Fate.LOST, Fate.REFUSED):
                # The others lead to the same server, and each would wait for it by itself.
                _end(connection)
                await self.pool.expire_connections()
            raise
        finally:
            await self.pool.release(connection)

    async def fetch_one(self, statement: statements.Statement, params: Mapping[str, Any]) -> Row | None:
        rows = await self.fetch(statement, params)
        return rows[0] if rows else None

    def read(self, hot: statements.HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        reader = self._readers.get(hot.name)
        if reader is None:
            reader = self._readers[hot.name] = BatchReader(hot, self._connect, self.months)
        return reader.submit(tuple(params.values()))

    async def write(self, writes: Sequence[statements.Write], *, label: str) -> bool:
        self._refuse_reader()
        bound = []
        for write in writes:
            compiled = write.statement.compiled_for(statements.Dialect.POSTGRESQL)
            bound.append((compiled.text, compiled.bind(write.params), write.rows))
        self.probe(label, "before")
        writing = persist(lambda _: self._write_unit(bound), is_repeatable=True, repair=self.months.repair)
        is_written = await self._health.watch(writing)
        self.probe(label, "after")
        return is_written

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        self._refuse_reader()
        return self._probe_queued(label, self._writers[hot.name].submit(row))

    async def make_months(self, now: Instant) -> int:
        self._refuse_reader()
        return await persist(lambda _: self.months.make_ahead(now, MONTHS_AHEAD), is_repeatable=True)

    async def find_trouble(self) -> str | None:
        try:
            await self._ask_live_connection(self._refuse_unfit)
        except database.WrongSchema as fault:
            return str(fault)
        except FAULTS as fault:
            return f"the database cannot be reached ({get_fault_name(fault)})"
        return await self._health.find_trouble() if self._writers else None

    async def list_risks(self) -> list[str]:
        async def run(_: int) -> list[str]:
            async with self.borrow() as connection:
                values = dict(await connection.fetch(replication.READ_SETTINGS))
                states = [state for (state,) in await connection.fetch(replication.READ_STANDBYS)]
            return replication.list_risks(values, states)

        return await persist(run, is_repeatable=True)

    async def _refuse_unfit(self) -> None:
        # The tables may have been migrated while this process ran.
        async with self.borrow() as connection:
            await refuse_unfit_tables(connection, "the database")

    async def _check_write(self) -> None:
        bound = [(write.statement.compiled_for(statements.Dialect.POSTGRESQL), write) for write in database.WRITE_CHECK]
        unit = [(compiled.text, compiled.bind(write.params), write.rows) for compiled, write in bound]
        try:
            await self._ask_live_connection(lambda: self._write_unit(unit))
        except FAULTS as fault:
            raise database.Unavailable(f"the database cannot be written ({get_fault_name(fault)})") from None

    async def _ask_live_connection(self, ask: Callable[[], Awaitable[object]]) -> None:
        """Asks for the present state, so it does not wait for the server to come back. It asks again only where a
        connection was lost: every connection of the pool may have been cut while it was idle."""
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            for _ in range(POOL_MAX):
                try:
                    await ask()
                except FAULTS as fault:
                    if get_fate(fault) is not Fate.LOST:
                        raise
                else:
                    return
            await ask()

    async def close(self) -> None:
        for reader in self._readers.values():
            await reader.close()
        for writer in self._writers.values():
            await writer.close()
        await self.pool.close()

    def _choose_repair(self, statement: statements.Statement) -> Callable[[Exception], Awaitable[bool]] | None:
        return self.months.repair if statement.is_write and self._writers else None

    def _refuse_reader(self) -> None:
        if not self._writers:
            raise database.Unavailable("the database was opened for reading only")

    async def _write_unit(self, bound: Sequence[tuple[str, Sequence[Any], int | None]]) -> bool:
        is_committing = False
        try:
            async with self.borrow() as connection, connection.transaction():
                for text, bindings, rows in bound:
                    status = await connection.execute(text, *bindings)
                    if rows is not None and int(status.rpartition(" ")[2]) != rows:
                        raise _GuardBroken
                is_committing = True
        except _GuardBroken:
            return False
        except FAULTS as fault:
            if is_committing and get_fate(fault) is Fate.LOST:
                raise database.Unconfirmed("the connection was lost while committing") from None
            raise
        return True


async def open_postgres(url: str, *, read_only: bool, must_exist: bool, contracts: bool) -> PostgresDatabase:
    connector = Connector(url, _SETTINGS | _READER_SETTINGS if read_only else _SETTINGS, read_only=read_only)

    async def migrate(_: int) -> None:
        connection = await connector.connect() if must_exist else await connect_alone(url)
        try:
            if not must_exist:
                await migrate_tables(connection, contracts)
            # Without its user, password and options.
            place = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
            await refuse_unfit_tables(connection, f"the database {place}")
        finally:
            await connection.close()

    async def open_pool(_: int) -> asyncpg.Pool:
        return await asyncpg.create_pool(
            # A connection that is lost while it is idle is replaced when one is needed.
            min_size=0,
            max_size=POOL_MAX,
            connect=connector.connect_pooled,
            connection_class=Connection,
            reset=_keep_session,
        )

    await persist(migrate, is_repeatable=True)
    pool = await persist(open_pool, is_repeatable=True)
    return PostgresDatabase(pool, partial(connector.connect, **BATCH_SETTINGS), read_only=read_only)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _end(connection: asyncpg.Connection) -> None:
    # The pool has it back already if it ended by itself.
    with suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _keep_session(_: object) -> None:
    """Nothing sets session state, so giving a connection back needs no round trip."""


async def connect_alone(url: str) -> Connection:
    """Opens a connection for work that takes as long as the tables are large, or as another process needs for such."""
    return await Connector(url, _SETTINGS, read_only=False, command_timeout_s=None).connect()
