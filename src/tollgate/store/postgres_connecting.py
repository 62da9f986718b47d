"""Connections to PostgreSQL: which of several hosts is asked, and within what time a lost one is noticed.

What is sent over them is not known here.
"""

import asyncio
import re
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import asyncpg

from tollgate.store import migrating
from tollgate.store.postgres_faults import FAULTS, Fate, Unreached, get_fate, get_fault_name

CONNECT_TIMEOUT_S = 5.0
HOST_TIMEOUT_S = 2.0
"""One of several hosts may take so long to answer before the next one is asked."""
COMMAND_TIMEOUT_S = 10.0

# Startup parameters other than this one are refused by PgBouncer, so the others are set once the session is open.
CONNECTION_NAME = f"tollgate/{migrating.HEAD}"
"""It has the newest revision that a process knows, for whoever makes changes that older processes do not tolerate."""
_STARTUP = {"application_name": CONNECTION_NAME}

# A host that was cut off sends no packet that ends the connection. The system asks after two idle seconds, and gives up
# when nothing was acknowledged for six. Names that the platform does not have are left out.
_SOCKET_OPTIONS = (("TCP_KEEPIDLE", 2), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 2), ("TCP_USER_TIMEOUT", 6_000))


class Connection(asyncpg.Connection):  # type: ignore[misc]
    """A connection ends itself where it waited too long; it does not ask the server to cancel.

    A commit that is cancelled while it waits for the standby becomes visible although the standby does not have it,
    and the server then says that it succeeded. Whoever found the row would acknowledge what a failover loses. A commit
    whose client is gone stays invisible until the standby has it.
    """

    def __init__(
        self, protocol: Any, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, *rest: Any
    ) -> None:
        super().__init__(protocol, transport, loop, *rest)
        _watch_peer(transport)

    def _cancel_current_command(self, *_waiters: object) -> None:
        # Within this call the driver still holds the future of the command.
        asyncio.get_running_loop().call_soon(self.terminate)


def _watch_peer(transport: asyncio.Transport) -> None:
    used = transport.get_extra_info("socket")
    if used is None or used.family == socket.AF_UNIX:
        return
    used.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _SOCKET_OPTIONS:
        option = getattr(socket, name, None)
        if option is not None:
            used.setsockopt(socket.IPPROTO_TCP, option, value)


class Connector:
    """A connector remembers which host was writable last, and asks that one first."""

    def __init__(
        self,
        url: str,
        settings: Mapping[str, str],
        *,
        read_only: bool,
        command_timeout_s: float | None = COMMAND_TIMEOUT_S,
    ) -> None:
        self._urls = split_hosts(url)
        self._settings = settings
        self._command_timeout_s = command_timeout_s
        self._options: dict[str, Any] = {}
        if len(self._urls) > 1 and not read_only and _find_wanted_host(url) is None:
            self._options["target_session_attrs"] = "read-write"
        self._first = 0

    async def connect(self, **more: str) -> Connection:
        """Connects to the first host that answers and is what the URL asks for.

        Ends with `Unreached` where no host could be asked, so nothing was sent.

        more: settings of this connection alone.
        """
        faults: list[Exception] = []
        for number in range(len(self._urls)):
            place = (self._first + number) % len(self._urls)
            try:
                connection = await self._connect_to(self._urls[place], {**self._settings, **more})
            except FAULTS as fault:
                faults.append(fault)
            else:
                self._first = place
                return connection
        # A host that refuses us says more than one that is silent.
        telling = next((each for each in faults if get_fate(each) is not Fate.LOST), faults[-1])
        if get_fate(telling) is Fate.LOST:
            raise Unreached(get_fault_name(telling))
        raise telling

    async def connect_pooled(self, *_dsn: object, **_options: object) -> Connection:
        return await self.connect()

    async def _connect_to(self, url: str, settings: Mapping[str, str]) -> Connection:
        async with asyncio.timeout(CONNECT_TIMEOUT_S if len(self._urls) == 1 else HOST_TIMEOUT_S):
            connection: Connection = await asyncpg.connect(
                url,
                connection_class=Connection,
                command_timeout=self._command_timeout_s,
                max_cached_statement_lifetime=0,
                server_settings=_STARTUP,
                **self._options,
            )
            try:
                if settings:
                    await connection.execute("; ".join(f"SET {name} = '{value}'" for name, value in settings.items()))
            except BaseException:
                connection.terminate()
                raise
        return connection


_URL = re.compile(r"(?P<before>[a-z]+://(?:[^/?#]*@)?)(?P<hosts>[^/?#]*)(?P<after>.*)")


def split_hosts(url: str) -> list[str]:
    """Returns the address of each host of a URL, so that a silent one does not use up the time of the others."""
    found = _URL.fullmatch(url)
    # This choice compares the hosts with each other, so the driver gets all of them.
    if found is None or _find_wanted_host(url) == "prefer-standby":
        return [url]
    return [f"{found['before']}{host}{found['after']}" for host in found["hosts"].split(",")]


def _find_wanted_host(url: str) -> str | None:
    return dict(parse_qsl(url.partition("?")[2])).get("target_session_attrs")
