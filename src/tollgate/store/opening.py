"""A store is opened here: its migrations, and the settings that are kept in it.

No row is read or written here but settings.
"""

from pathlib import Path
from threading import Lock

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.database import Database, WrongSchema
from tollgate.store.schema import TEXT, WHOLE, settings
from tollgate.store.statements import COMPILERS, Dialect, Statement, Write

FIRST, HEAD = "0010", "0010"
"""The oldest revision that can be upgraded, and the newest; tests keep both in step with the folder."""

VERSIONS = Path(__file__).parent / "migrations"
READ_REVISION = "SELECT version_num FROM alembic_version"


# Alembic keeps the migration it is in as a global.
_one_at_a_time = Lock()


class _Statements:
    """Takes the place of Alembic's output file: it is written to once per statement."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        stripped = text.strip().removesuffix(";")
        if stripped and not stripped.startswith("--"):
            self.texts.append(stripped)

    def flush(self) -> None:
        pass


def make_missing_statements(dialect: Dialect, revision: str | None) -> list[str]:
    """Returns the statements that bring a revision (None: an empty database) to HEAD, to be run in one transaction."""
    if revision == HEAD:
        return []
    refuse_unreleased(revision)
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(VERSIONS))
    if revision is not None and revision not in {script.revision for script in scripts.walk_revisions()}:
        raise WrongSchema(f"the database is at revision {revision}, which this release does not know; it is newer")
    output = _Statements()
    context = MigrationContext.configure(
        dialect=COMPILERS[dialect],
        opts={
            "as_sql": True,
            "output_buffer": output,
            "starting_rev": revision,
            # The driver owns the transaction.
            "transactional_ddl": False,
            "fn": lambda current, _: scripts._upgrade_revs(HEAD, current),
        },
    )
    with _one_at_a_time, Operations.context(context):
        context.run_migrations()
    return output.texts


def refuse_unreleased(revision: str | None) -> None:
    """Raises for a database that was made before the first release, whose tables nothing upgrades."""
    if revision is not None and revision < FIRST:
        raise WrongSchema(
            f"the database is at revision {revision}, from before the first release, and cannot be upgraded: "
            "name an empty folder with --data, or an empty database with --database, and set up its merchants again"
        )


def refuse_old_schema(revision: str | None, place: str) -> None:
    """Raises for those who may look but not change; `place` names the database without its password."""
    if revision is None:
        raise WrongSchema(f"{place} has no tables of Tollgate: `tollgate migrate` makes them, if this is the right one")
    refuse_unreleased(revision)
    if revision != HEAD:
        raise WrongSchema(f"the database is at revision {revision}, this release needs {HEAD}: run `tollgate migrate`")


async def open_database(
    url: str, *, read_only: bool = False, exclusive: bool = False, must_exist: bool = False
) -> Database:
    """Opens `sqlite:///FILE`, a bare path, or `postgresql://...` and brings the tables up to date.

    `exclusive` is what a server asks for: it may be the only one on an embedded file. PostgreSQL takes any number.
    `must_exist` makes and migrates nothing: a database that is missing, empty or old is a fault. So does `read_only`.
    """
    must_exist = must_exist or read_only
    # Imported here, so that a laptop does not pay for the driver it does not use.
    if url.startswith(("postgresql://", "postgres://")):
        from tollgate.store.postgres import open_postgres

        return await open_postgres(url, read_only=read_only, must_exist=must_exist)
    from tollgate.store.sqlite import open_sqlite

    path = Path(url.removeprefix("sqlite:///"))
    return await open_sqlite(path, read_only=read_only, exclusive=exclusive, must_exist=must_exist)


_get = Statement(sa.select(settings.c.value).where(settings.c.name == sa.bindparam("name")), is_quick=True)
_inserted = insert(settings).values(name=sa.bindparam("name"), value=sa.bindparam("value"))
_put = Statement(
    _inserted.on_conflict_do_update(index_elements=[settings.c.name], set_={"value": _inserted.excluded.value})
)
_list = Statement(
    sa.select(settings.c.name, settings.c.value)
    .where(settings.c.name >= sa.bindparam("first"), settings.c.name < sa.bindparam("beyond"))
    .order_by(settings.c.name)
)
_replace = Statement(
    sa.update(settings)
    .where(settings.c.name == sa.bindparam("setting"), settings.c.value == sa.bindparam("old"))
    .values(value=sa.bindparam("new"))
)
_sum = sa.cast(settings.c.value, WHOLE) + sa.cast(_inserted.excluded.value, WHOLE)
_add = Statement(
    _inserted.on_conflict_do_update(index_elements=[settings.c.name], set_={"value": sa.cast(_sum, TEXT)}).returning(
        settings.c.value
    )
)


async def get_setting(db: Database, name: str, default: str = "") -> str:
    row = await db.fetch_one(_get, {"name": name})
    return default if row is None else str(row[0])


async def put_setting(db: Database, name: str, value: str) -> None:
    await db.write([Write(_put, {"name": name, "value": value}, rows=1)], label="setting")


async def list_settings(db: Database, prefix: str) -> list[tuple[str, str]]:
    """Lists the name and value of all settings whose name begins so."""
    beyond = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return [(str(name), str(value)) for name, value in await db.fetch(_list, {"first": prefix, "beyond": beyond})]


async def replace_setting(db: Database, name: str, old: str, new: str) -> bool:
    """Replaces a setting; False means that it is no longer what was read."""
    return await db.write([Write(_replace, {"setting": name, "old": old, "new": new}, rows=1)], label="setting")


async def add_to_setting(db: Database, name: str, amount: int) -> int:
    """Adds to a whole number (absent counts as 0) in one statement, so that no process undoes another's addition."""
    row = await db.fetch_one(_add, {"name": name, "value": str(amount)})
    if row is None:
        raise LookupError(f"setting {name} was added to and is gone")
    return int(row[0])


def add_to_setting_writes(name: str, amount: int) -> list[Write]:
    return [Write(_add, {"name": name, "value": str(amount)}, rows=1)]
