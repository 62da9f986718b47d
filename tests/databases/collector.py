"""A process that collects bank files and is killed at a given moment; run by the tests of kills, not by pytest."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from databases.banking import open_bank
from tollgate.flows.sepa_files import collect
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.statements import Write
from tollgate.vault.keyring import load_keyring


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KillingDatabase:
    """A store whose next unit is the last thing that happens."""

    def __init__(self, database: Database, moment: str) -> None:
        self._database = database
        self._moment = moment

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, steps: Sequence[Write], *, label: str) -> bool:
        if self._moment == "before":
            die()
        if self._moment.startswith("amid"):
            delay_s = int(self._moment.removeprefix("amid ")) / 10_000
            asyncio.get_running_loop().call_later(delay_s, die)
        is_written = await self._database.write(steps, label=label)
        if self._moment == "after":
            die()
        return is_written


async def main(url: str, key_path: str, moment: str, days: str) -> None:
    database = await open_database(url)
    database_that_dies: Any = KillingDatabase(database, moment)
    bank = await open_bank(database_that_dies, keyring=load_keyring(Path(key_path)), is_first=False)
    bank.wait(int(days))
    await collect(bank.app)
    die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
