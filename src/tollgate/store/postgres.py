"""The driver of PostgreSQL. Statements are made elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import asyncpg

from tollgate.store import database, statements
from tollgate.store.hot import HOT_WRITES, Answer, HotWrite, Row
from tollgate.store.hot_follow_ups import FOLLOW_UP_WRITES
from tollgate.store.migrating import HEAD, READ_REVISION, make_missing_statements, refuse_old_schema
from tollgate.store.postgres_batches import BATCH_SETTINGS, BatchReader, BatchWriter
from tollgate.store.postgres_faults import FAULTS, FIRST_PAUSE_S, TRIES_MAX, Fate, get_fate, persist

POOL_MAX = 8
CONNECT_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 10.0

_SETTINGS = {"application_name": "tollgate", "jit": "off"}
_READER_SETTINGS = {"default_transaction_read_only": "on"}


class _GuardBroken(Exception):
    """Raised within a transaction to roll it back."""


class PostgresDatabase(database.Probed):
    dialect = statements.Dialect.POSTGRESQL

    def __init__(
        self,
        pool: asyncpg.Pool,
        make_writers: Callable[[database.WriteHealth], Mapping[str, BatchWriter]],
        make_reader: Callable[[statements.HotRead], BatchReader],
    ) -> None:
        self.pool = pool
        self._make_reader = make_reader
        self._readers: dict[str, BatchReader] = {}
        self._health = database.WriteHealth(self._check_write)
        self._writers = make_writers(self._health)

    async def fetch(self, statement: statements.Statement, params: Mapping[str, Any]) -> list[Row]:
        compiled = statement.compiled_for(statements.Dialect.POSTGRESQL)
        bindings = compiled.bind(params)

        async def run(_: int) -> list[Row]:
            return [tuple(record) for record in await self.pool.fetch(compiled.text, *bindings)]

        return await persist(run, is_repeatable=not statement.is_write)

    async def fetch_one(self, statement: statements.Statement, params: Mapping[str, Any]) -> Row | None:
        rows = await self.fetch(statement, params)
        return rows[0] if rows else None

    def read(self, hot: statements.HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        reader = self._readers.get(hot.name)
        if reader is None:
            reader = self._readers[hot.name] = self._make_reader(hot)
        return reader.submit(tuple(params.values()))

    async def write(self, writes: Sequence[statements.Write], *, label: str) -> bool:
        self._refuse_reader()
        bound = []
        for write in writes:
            compiled = write.statement.compiled_for(statements.Dialect.POSTGRESQL)
            bound.append((compiled.text, compiled.bind(write.params), write.rows))
        self.probe(label, "before")
        is_written = await self._health.watch(persist(lambda _: self._write_unit(bound), is_repeatable=True))
        self.probe(label, "after")
        return is_written

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        self._refuse_reader()
        return self._probe_queued(label, self._writers[hot.name].submit(row))

    async def find_trouble(self) -> str | None:
        try:
            await self._ask_live_connection(lambda: self.pool.fetchval(READ_REVISION))
        except FAULTS as fault:
            return f"the database cannot be reached ({type(fault).__name__})"
        return await self._health.find_trouble() if self._writers else None

    async def _check_write(self) -> None:
        bound = [(write.statement.compiled_for(statements.Dialect.POSTGRESQL), write) for write in database.WRITE_CHECK]
        unit = [(compiled.text, compiled.bind(write.params), write.rows) for compiled, write in bound]
        try:
            await self._ask_live_connection(lambda: self._write_unit(unit))
        except FAULTS as fault:
            raise database.Unavailable(f"the database cannot be written ({type(fault).__name__})") from None

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

    def _refuse_reader(self) -> None:
        if not self._writers:
            raise database.Unavailable("the database was opened for reading only")

    async def _write_unit(self, bound: Sequence[tuple[str, Sequence[Any], int | None]]) -> bool:
        is_committing = False
        try:
            async with self.pool.acquire() as connection, connection.transaction():
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


async def open_postgres(url: str, *, read_only: bool, must_exist: bool) -> PostgresDatabase:
    connect = partial(
        asyncpg.connect,
        url,
        timeout=CONNECT_TIMEOUT_S,
        command_timeout=COMMAND_TIMEOUT_S,
        max_cached_statement_lifetime=0,
        server_settings=_SETTINGS | BATCH_SETTINGS,
        **choose_host(url, read_only),
    )

    async def migrate(_: int) -> None:
        connection = await connect(server_settings=_SETTINGS)
        try:
            if must_exist:
                # Without its user, password and options.
                place = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
                refuse_old_schema(await _read_revision(connection), f"the database {place}")
            else:
                await _migrate(connection)
        finally:
            await connection.close()

    async def open_pool(_: int) -> asyncpg.Pool:
        return await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=POOL_MAX,
            reset=_keep_session,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=COMMAND_TIMEOUT_S,
            max_cached_statement_lifetime=0,
            server_settings=_SETTINGS | _READER_SETTINGS if read_only else _SETTINGS,
            **choose_host(url, read_only),
        )

    await persist(migrate, is_repeatable=True)
    pool = await persist(open_pool, is_repeatable=True)

    def make_writers(health: database.WriteHealth) -> dict[str, BatchWriter]:
        hot_writes = () if read_only else (*HOT_WRITES, *FOLLOW_UP_WRITES)
        return {hot.name: BatchWriter(hot, connect, pool, health) for hot in hot_writes}

    return PostgresDatabase(pool, make_writers, lambda hot: BatchReader(hot, connect))


def choose_host(url: str, read_only: bool) -> dict[str, Any]:
    """Returns the option by which the writable one of several hosts is chosen."""
    hosts = url.partition("://")[2].partition("/")[0]
    if read_only or "," not in hosts or "target_session_attrs" in url:
        return {}
    return {"target_session_attrs": "read-write"}


async def _keep_session(_: object) -> None:
    """Nothing sets session state, so giving a connection back needs no round trip."""


async def _read_revision(connection: asyncpg.Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(READ_REVISION)
    return revision


async def _migrate(connection: asyncpg.Connection) -> None:
    """Upgrades the tables; processes that try at once wait for the version table, or look again once one made it."""
    for _ in range(TRIES_MAX):
        if await _read_revision(connection) == HEAD:
            return
        try:
            async with connection.transaction():
                if await _read_revision(connection) is not None:
                    await connection.execute("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
                for text in make_missing_statements(statements.Dialect.POSTGRESQL, await _read_revision(connection)):
                    await connection.execute(text)
            return
        except (asyncpg.UniqueViolationError, asyncpg.DuplicateTableError, asyncpg.DuplicateObjectError):
            await asyncio.sleep(FIRST_PAUSE_S)
    raise database.Unavailable("the tables could not be brought up to date")
