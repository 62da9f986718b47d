"""Migrations of PostgreSQL beside running processes: one at a time, and only what these processes tolerate.

Which revisions there are is decided in `migrating`.
"""

import asyncio

import asyncpg

from tollgate.store import database, migrating, statements
from tollgate.store.postgres_connecting import CONNECTION_NAME

_MIGRATING = 0x746F6C6C67617465
"""The advisory lock of whoever migrates."""
_LOCK_TIMEOUT = "2s"
_LOCKINGS_MAX, _LOCKING_PAUSE_S = 10, 0.5
_LIST_OLDER = """SELECT count(*), string_agg(DISTINCT coalesce(host(client_addr), 'this machine'), ', ') AS places
 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
 AND application_name LIKE 'tollgate%' AND application_name COLLATE "C" < $1"""


async def lock_migrating(connection: asyncpg.Connection) -> None:
    """Waits until no other process makes or changes tables; the transaction then does so alone."""
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING)


async def read_revision(connection: asyncpg.Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(migrating.READ_REVISION)
    return revision


async def refuse_unfit_tables(connection: asyncpg.Connection, place: str) -> None:
    revision = await read_revision(connection)
    needed = None if revision is None else await connection.fetchval(migrating.READ_NEEDED)
    migrating.refuse_unfit(revision, needed, place)


async def migrate_tables(connection: asyncpg.Connection, contracts: bool) -> None:
    """Upgrades the tables; processes that try at once take turns, and all but the first find nothing to do."""
    for _ in range(_LOCKINGS_MAX):
        revision = await read_revision(connection)
        if revision is not None and migrating.choose_target(revision, contracts=contracts) <= revision:
            return
        try:
            async with connection.transaction():
                await lock_migrating(connection)
                # Payments wait behind a statement that waits for a table, so it waits for a moment only.
                await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
                revision = await read_revision(connection)
                if contracts and revision is not None:
                    await _refuse_older(connection)
                for text in migrating.make_missing_statements(
                    statements.Dialect.POSTGRESQL, revision, contracts=contracts
                ):
                    await connection.execute(text)
            return
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(_LOCKING_PAUSE_S)
    raise database.Unavailable(
        "the tables could not be brought up to date, because a long transaction uses them, such as that of a backup: "
        "try again when it has ended"
    )


async def _refuse_older(connection: asyncpg.Connection) -> None:
    """Raises while processes are connected that do not know the newest revision, because it would break them."""
    row = await connection.fetchrow(_LIST_OLDER, CONNECTION_NAME)
    if row is not None and row["count"]:
        raise database.WrongSchema(
            f"{row['count']} connections of processes that do not know revision {migrating.HEAD} are open "
            f"(from {row['places']}): stop these processes, and run `tollgate migrate --contract` again"
        )
