"""A process that runs schedules until a given time; run by the tests of several processes, not by pytest."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from databases.schedule_processes import CountingWire, keep_time, open_app
from tollgate.store.opening import open_database
from tollgate.vault.keyring import load_keyring


async def main(url: str, key_path: str, charges_path: str, until: str, step: str) -> None:
    database = await open_database(url)
    app = await open_app(database, CountingWire(Path(charges_path)), load_keyring(Path(key_path)), is_first=False)
    await keep_time(app, int(until), int(step))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
