"""The connection over which PostgreSQL sends notices. What is done about a notice is decided elsewhere."""

import asyncio
import contextlib
from collections.abc import Callable

from tollgate.store import notices
from tollgate.store.postgres_connecting import Connector


async def listen_until_lost(
    url: str, channel: str, note_listening: Callable[[], None], wake: Callable[[], None]
) -> None:
    """Raises when the connection is lost, or leads to a server that has become a standby and sends nothing."""
    connection = await Connector(url, {}, read_only=False).connect()
    try:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        await connection.add_listener(channel, lambda *_: wake())
        note_listening()
        while not lost.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(notices.CHECK_EVERY_S):
                    await lost.wait()
            # A connection that a firewall has dropped looks open until something is sent over it.
            if not lost.is_set() and await connection.fetchval("SELECT pg_is_in_recovery()"):
                raise ConnectionError("the server has become a standby")
    finally:
        connection.terminate()
    raise ConnectionError("the connection was lost")
