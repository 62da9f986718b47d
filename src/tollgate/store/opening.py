"""A store is opened here, and the settings that are kept in it are read and written.

Its migrations are elsewhere.
"""

from pathlib import Path
from typing import Any

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store import migrating
from tollgate.store.codec import ONE
from tollgate.store.database import Database
from tollgate.store.schema import SMALL, TEXT, WHOLE, settings
from tollgate.store.statements import Statement, Write


async def open_database(
    url: str,
    *,
    read_only: bool = False,
    exclusive: bool = False,
    must_exist: bool = False,
    contracts: bool = False,
) -> Database:
    """Opens `sqlite:///FILE`, a bare path, or `postgresql://...` and brings the tables up to date.

    `exclusive` is what a server asks for: it may be the only one on an embedded file. PostgreSQL takes any number.
    `contracts` also makes the revisions that processes of older releases do not tolerate; on an embedded file the only
    server always does.
    `must_exist` makes and migrates nothing: a database that is missing, empty or old is a fault. So does `read_only`.
    """
    must_exist = must_exist or read_only
    # Imported here, so that a laptop does not pay for the driver it does not use.
    if url.startswith(("postgresql://", "postgres://")):
        from tollgate.store.postgres import open_postgres

        return await open_postgres(url, read_only=read_only, must_exist=must_exist, contracts=contracts)
    from tollgate.store.sqlite import open_sqlite

    path = Path(url.removeprefix("sqlite:///"))
    return await open_sqlite(path, read_only=read_only, exclusive=exclusive or contracts, must_exist=must_exist)


_revision = Statement(sa.text(migrating.READ_REVISION))


async def find_revision(db: Database) -> str | None:
    row = await db.fetch_one(_revision, {})
    return None if row is None else str(row[0])


async def list_waiting(db: Database) -> list[str]:
    """Lists the revisions that this release can do without, and that wait until no older release runs."""
    return migrating.list_waiting(await find_revision(db))


_get = Statement(sa.select(settings.c.value).where(settings.c.name == sa.bindparam("name")), is_quick=True)
_inserted = insert(settings).values(name=sa.bindparam("name"), value=sa.bindparam("value"))
_put = Statement(
    _inserted.on_conflict_do_update(index_elements=[settings.c.name], set_={"value": _inserted.excluded.value})
)
_delete = Statement(sa.delete(settings).where(settings.c.name == sa.bindparam("name")))
_add_new = Statement(_inserted.on_conflict_do_nothing())
# Not a range of names, because some collations of PostgreSQL pass over dots and slashes.
_begins = sa.func.substr(settings.c.name, ONE, sa.bindparam("length", type_=SMALL)) == sa.bindparam("prefix")
_list = Statement(sa.select(settings.c.name, settings.c.value).where(_begins).order_by(settings.c.name))
_replace = Statement(
    sa.update(settings)
    .where(settings.c.name == sa.bindparam("setting"), settings.c.value == sa.bindparam("old"))
    .values(value=sa.bindparam("new"))
)
_sum = sa.cast(settings.c.value, WHOLE) + sa.cast(_inserted.excluded.value, WHOLE)
_adding = _inserted.on_conflict_do_update(index_elements=[settings.c.name], set_={"value": sa.cast(_sum, TEXT)})
_add = Statement(_adding)
_add_to_all = Statement(
    sa.update(settings)
    .where(_begins)
    .values(value=sa.cast(sa.cast(settings.c.value, WHOLE) + sa.bindparam("amount", type_=WHOLE), TEXT))
)
_add_and_get = Statement(_adding.returning(settings.c.value))


async def get_setting(db: Database, name: str, default: str = "") -> str:
    row = await db.fetch_one(_get, {"name": name})
    return default if row is None else str(row[0])


async def put_setting(db: Database, name: str, value: str) -> None:
    await db.write(put_setting_writes(name, value), label="setting")


def put_setting_writes(name: str, value: str) -> list[Write]:
    return [Write(_put, {"name": name, "value": value}, rows=1)]


async def list_settings(db: Database, prefix: str) -> list[tuple[str, str]]:
    """Lists the name and value of all settings whose name begins so."""
    return [(str(name), str(value)) for name, value in await db.fetch(_list, _bind(prefix))]


def _bind(prefix: str) -> dict[str, Any]:
    return {"prefix": prefix, "length": len(prefix)}


async def replace_setting(db: Database, name: str, old: str, new: str) -> bool:
    """Replaces a setting; False means that it is no longer what was read."""
    return await db.write(replace_setting_writes(name, old, new), label="setting")


def replace_setting_writes(name: str, old: str, new: str) -> list[Write]:
    return [Write(_replace, {"setting": name, "old": old, "new": new}, rows=1)]


async def add_setting(db: Database, name: str, value: str) -> None:
    """Adds a setting unless there is one."""
    await db.write([Write(_add_new, {"name": name, "value": value})], label="setting")


async def add_to_setting(db: Database, name: str, amount: int) -> int:
    """Adds to a whole number (absent counts as 0) in one statement, so that no process undoes another's addition."""
    row = await db.fetch_one(_add_and_get, {"name": name, "value": str(amount)})
    if row is None:
        raise LookupError(f"setting {name} was added to and is gone")
    return int(row[0])


async def delete_setting(db: Database, name: str) -> None:
    await db.write([Write(_delete, {"name": name})], label="setting")


def add_to_setting_writes(name: str, amount: int) -> list[Write]:
    return [Write(_add, {"name": name, "value": str(amount)}, rows=1)]


def add_to_settings_writes(prefix: str, amount: int) -> list[Write]:
    """Adds to the whole number of every setting whose name begins so."""
    return [Write(_add_to_all, {**_bind(prefix), "amount": amount})]
