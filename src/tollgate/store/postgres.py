"""PostgreSQL: a pool for everything, and connections of their own for batches. Knows nothing of what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import asyncpg  # type: ignore[import-untyped]

from tollgate.store.batching import Batcher
from tollgate.store.faults import Damaged, StoreFault, Unavailable, Unconfirmed, Unwritable
from tollgate.store.hot import HOT_WRITES, HotWrite, Row
from tollgate.store.migrating import HEAD, READ_REVISION, make_missing_statements, refuse_old_schema
from tollgate.store.postgres_faults import FAULTS, Fate, judge
from tollgate.store.statements import Dialect, Statement, Step

LANES_PER_WRITE = 2
POOL_MAX = 8
CONNECT_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 10.0
TRIES_MAX = 6
FIRST_PAUSE_S = 0.05

_SETTINGS = {"application_name": "tollgate", "jit": "off"}
# Batches find their few rows by key. On a young table, whose size the planner does not know yet, it would choose to
# scan it, keep that plan, and slow down with every payment.
_BATCH_SETTINGS = _SETTINGS | {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
}

Answer = TypeVar("Answer")


class _GuardBroken(Exception):
    """Leaves a transaction by the door that rolls back."""


class PostgresDatabase:
    dialect = Dialect.POSTGRESQL

    def __init__(self, pool: asyncpg.Pool[Any], batch_pool: asyncpg.Pool[Any] | None) -> None:
        self._pool = pool
        self._batch_pool = batch_pool
        self._loop = asyncio.get_running_loop()
        self._batchers = {
            hot.name: Batcher[Row, bool](partial(self._start_batch, hot), lanes=LANES_PER_WRITE) for hot in HOT_WRITES
        }

    async def fetch(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        compiled = statement.compiled_for(Dialect.POSTGRESQL)
        bindings = compiled.bind(params)

        async def run(_: int) -> list[Row]:
            return [tuple(record) for record in await self._pool.fetch(compiled.text, *bindings)]

        return await _persist(run, is_repeatable=not statement.is_write)

    async def fetch_one(self, statement: Statement, params: Mapping[str, Any]) -> Row | None:
        rows = await self.fetch(statement, params)
        return rows[0] if rows else None

    async def write(self, steps: Sequence[Step]) -> bool:
        bound = []
        for step in steps:
            compiled = step.statement.compiled_for(Dialect.POSTGRESQL)
            bound.append((compiled.text, compiled.bind(step.params), step.rows))
        return await _persist(lambda _: self._write_unit(bound), is_repeatable=True)

    def submit(self, hot: HotWrite, row: Row) -> Awaitable[bool]:
        if self._batch_pool is None:
            raise Unavailable("the database was opened for reading only")
        return self._batchers[hot.name].submit(row)

    async def is_ready(self) -> bool:
        try:
            return await self._pool.fetchval(READ_REVISION, timeout=CONNECT_TIMEOUT_S) is not None
        except FAULTS:
            return False

    async def close(self) -> None:
        for batcher in self._batchers.values():
            await batcher.close()
        for pool in (self._batch_pool, self._pool):
            if pool is not None:
                await pool.close()

    async def _write_unit(self, bound: Sequence[tuple[str, Sequence[Any], int | None]]) -> bool:
        is_committing = False
        try:
            async with self._pool.acquire() as connection, connection.transaction():
                for text, bindings, rows in bound:
                    status = await connection.execute(text, *bindings)
                    if rows is not None and int(status.rpartition(" ")[2]) != rows:
                        raise _GuardBroken
                is_committing = True
        except _GuardBroken:
            return False
        except FAULTS as fault:
            if is_committing and judge(fault) is Fate.LOST:
                raise Unconfirmed("the connection was lost while committing") from None
            raise
        return True

    def _start_batch(self, hot: HotWrite, rows: Sequence[Row]) -> asyncio.Future[Sequence[bool]]:
        return self._loop.create_task(self._write_batch(hot, rows))

    async def _write_batch(self, hot: HotWrite, rows: Sequence[Row]) -> Sequence[bool]:
        """One statement, one commit. Safe to repeat: a row that an earlier try made durable is refused, then found."""
        columns = list(zip(*rows, strict=True))

        async def run(tries: int) -> Sequence[bool]:
            try:
                accepted = await self._batch_pool.fetch(hot.batch_text, *columns)  # type: ignore[union-attr]
            except asyncpg.UniqueViolationError:
                if tries == 0:
                    raise
                accepted = []
            answers = [False] * len(rows)
            for record in accepted:
                answers[record[0] - 1] = True
            if tries == 0:
                return answers
            return [answer or await self._is_written(hot, row) for answer, row in zip(answers, rows, strict=True)]

        return await _persist(run, is_repeatable=True, lost=Unconfirmed)

    async def _is_written(self, hot: HotWrite, row: Row) -> bool:
        compiled = hot.is_written.compiled_for(Dialect.POSTGRESQL)
        return bool(await self._pool.fetch(compiled.text, *compiled.bind(hot.name_members(row))))


async def _persist(
    run: Callable[[int], Awaitable[Answer]], *, is_repeatable: bool, lost: type[StoreFault] = Unavailable
) -> Answer:
    """Try a bounded number of times what the server undid, and, where repeating is safe, what was lost on the way."""
    pause_s, kind = FIRST_PAUSE_S, ""
    for tries in range(TRIES_MAX):
        try:
            return await run(tries)
        except FAULTS as fault:
            fate = judge(fault)
            # The driver's text may repeat what was stored, so only its kind is told.
            kind = type(fault).__name__
        if fate is Fate.UNWRITABLE:
            raise Unwritable(kind)
        if fate is Fate.DAMAGED:
            raise Damaged(kind)
        if fate is Fate.LOST and not is_repeatable:
            raise Unconfirmed(kind)
        await asyncio.sleep(pause_s)
        pause_s *= 2
    raise lost(f"gave up after {TRIES_MAX} tries ({kind})")


async def open_postgres(url: str, *, read_only: bool) -> PostgresDatabase:
    async def migrate(_: int) -> None:
        connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_S, **_choose_host(url, read_only))
        try:
            await (_refuse_old if read_only else _migrate)(connection)
        finally:
            await connection.close()

    async def open_pools(_: int) -> tuple[asyncpg.Pool[Any], asyncpg.Pool[Any] | None]:
        pool = await _open_pool(url, read_only, _SETTINGS, 1, POOL_MAX)
        lanes = LANES_PER_WRITE * len(HOT_WRITES)
        return pool, None if read_only else await _open_pool(url, read_only, _BATCH_SETTINGS, lanes, lanes)

    await _persist(migrate, is_repeatable=True)
    return PostgresDatabase(*await _persist(open_pools, is_repeatable=True))


def _choose_host(url: str, read_only: bool) -> dict[str, Any]:
    """Where an address names several hosts, the writable one is meant."""
    hosts = url.partition("://")[2].partition("/")[0]
    if read_only or "," not in hosts or "target_session_attrs" in url:
        return {}
    return {"target_session_attrs": "read-write"}


async def _keep_session(_: object) -> None:
    """Nothing sets session state, so giving a connection back needs no round trip."""


async def _open_pool(url: str, read_only: bool, settings: dict[str, str], least: int, most: int) -> asyncpg.Pool[Any]:
    return await asyncpg.create_pool(
        url,
        min_size=least,
        max_size=most,
        reset=_keep_session,
        timeout=CONNECT_TIMEOUT_S,
        command_timeout=COMMAND_TIMEOUT_S,
        max_cached_statement_lifetime=0,
        server_settings=settings,
        **_choose_host(url, read_only),
    )


async def _read_revision(connection: asyncpg.Connection[Any]) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(READ_REVISION)
    return revision


async def _refuse_old(connection: asyncpg.Connection[Any]) -> None:
    refuse_old_schema(await _read_revision(connection))


async def _migrate(connection: asyncpg.Connection[Any]) -> None:
    """Any number of processes may try at once: they queue at the version table, or one makes it and all look again."""
    for _ in range(TRIES_MAX):
        if await _read_revision(connection) == HEAD:
            return
        try:
            async with connection.transaction():
                if await _read_revision(connection) is not None:
                    await connection.execute("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
                for text in make_missing_statements(Dialect.POSTGRESQL, await _read_revision(connection)):
                    await connection.execute(text)
            return
        except (asyncpg.UniqueViolationError, asyncpg.DuplicateTableError, asyncpg.DuplicateObjectError):
            await asyncio.sleep(FIRST_PAUSE_S)
    raise Unavailable("the tables could not be brought up to date")
