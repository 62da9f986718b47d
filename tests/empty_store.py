"""Embedded stores that are empty and have all tables. How tables are made is tested elsewhere."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tollgate.store.database import Database
from tollgate.store.opening import open_database


async def open_empty_store(path: Path) -> Database:
    """The store is copied from one that each process migrates once: migrating takes ten times as long."""
    template = Path(tempfile.gettempdir(), f"empty-store-{os.getpid()}.db")
    if not template.exists():
        await (await open_database(str(template))).close()
    shutil.copy(template, path)
    return await open_database(str(path))
