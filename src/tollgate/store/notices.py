"""Notices of PostgreSQL: a change of merchants tells every process that listens to read them at once.

They shorten the poll of the merchants' version and decide nothing: a lost notice costs the rest of a pause. SQLite has
none.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

import sqlalchemy as sa

from tollgate.store.statements import Dialect, Statement, Write

CHANGED_MERCHANTS = "tollgate_merchants"

AGAIN_S = 1.0
"""The pause before a lost connection is made again."""
CHECK_EVERY_S = 15.0
"""The time between looks whether the connection still leads to a server that sends notices."""

_log = logging.getLogger("tollgate.notices")

# The server sends it to nobody before the transaction has committed. All transactions with notices commit one after the
# other, so nothing frequent may send one.
_notify = Statement(sa.select(sa.func.pg_notify(sa.literal_column(f"'{CHANGED_MERCHANTS}'"), sa.literal_column("''"))))


def notice_writes(dialect: Dialect) -> list[Write]:
    return [Write(_notify, {})] if dialect is Dialect.POSTGRESQL else []


async def listen(url: str, wake: Callable[[], None]) -> None:
    """Calls `wake` after every change of merchants, until it is cancelled; returns at once for SQLite.

    It also calls `wake` after every connection that was made, because changes before it were not heard.
    """
    if not url.startswith(("postgresql://", "postgres://")):
        return
    # Imported here, so that a laptop does not pay for the driver it does not use.
    from tollgate.store import postgres_faults, postgres_notices

    is_listening = True

    def note_listening() -> None:
        nonlocal is_listening
        if not is_listening:
            _log.info("listening for changes again")
        is_listening = True
        wake()

    while True:
        try:
            await postgres_notices.listen_until_lost(url, CHANGED_MERCHANTS, note_listening, wake)
        except postgres_faults.FAULTS as fault:
            if is_listening:
                # One line for each loss, however long the server is gone.
                _log.warning("not listening for changes, polling only", extra={"why": type(fault).__name__})
            is_listening = False
        await asyncio.sleep(AGAIN_S)


Listen = Callable[[Callable[[], None]], Awaitable[None]]


def make_listen(url: str) -> Listen:
    return partial(listen, url)
