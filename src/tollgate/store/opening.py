"""Which driver answers to which address. Nothing else decides between the two databases."""

from __future__ import annotations

from pathlib import Path

from tollgate.store.database import Database


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
