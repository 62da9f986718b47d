"""A process that takes planned outcomes until none is left and prints how many it got; run by a test, not by pytest."""

from __future__ import annotations

import asyncio
import sys

from databases.samples import CHANNEL, MERCHANT
from tollgate.payments.order import Partner
from tollgate.store.opening import open_database
from tollgate.store.planned_outcomes import take_outcome


async def main(url: str) -> None:
    database = await open_database(url)

    async def take_all() -> int:
        taken = 0
        while await take_outcome(database, MERCHANT, CHANNEL, Partner.ACQUIRER, "DB") is not None:
            taken += 1
        return taken

    print(sum(await asyncio.gather(*[take_all() for _ in range(5)])))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
