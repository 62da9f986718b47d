"""The connection over which PostgreSQL sends notices. What is done about a notice is decided elsewhere."""

import asyncio
import contextlib
from collections.abc import Callable

import asyncpg

from tollgate.store import notices, postgres


async def listen_until_lost(
    url: str, channel: str, note_listening: Callable[[], None], wake: Callable[[], None]
) -> None:
    """Raises when the connection is lost, or leads to a server that has become a standby and sends nothing."""
    # Without the settings of other connections: a pooler may refuse a connection that asks for them.
    connection = await asyncpg.connect(
        url,
        timeout=postgres.CONNECT_TIMEOUT_S,
        command_timeout=postgres.COMMAND_TIMEOUT_S,
        server_settings={"application_name": "tollgate"},
        **postgres.choose_host(url, False),
    )
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
