"""Sends notifications to addresses that others wrote, such as a shop's, without redirects or shared connections.

An address is checked where the connection is made, so that no name, spelling or second lookup leads around the check.
"""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol
from urllib.parse import quote

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from tollgate.catalog.limits import LIMITS
from tollgate.wire.acquirer import Forbidden, Silent, Unsent
from tollgate.wire.addresses import find_closed

_HEADERS = {"User-Agent": "Tollgate", "Accept": "*/*", "Accept-Encoding": "identity"}
_SCHEMES = frozenset({"http", "https"})
_VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F))
_NAMES_AT_ONCE = 64
"""A lookup that hangs cannot be cancelled, so there may be more of them than notifications in flight."""

_AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int] | tuple[int, bytes]]


class Notifier(Protocol):
    async def get(self, url: str, timeout_s: float) -> int:
        """Returns the status of the answer, or raises Unsent, Forbidden or Silent, and nothing else."""
        ...


class HttpNotifier:
    """Sends each notification over a connection of its own, so that receivers share nothing."""

    def __init__(self, *, is_live: bool) -> None:
        self._is_live = is_live
        self._session: aiohttp.ClientSession | None = None

    async def get(self, url: str, timeout_s: float) -> int:
        address = _read_address(url)
        timeout = aiohttp.ClientTimeout(
            total=timeout_s,
            # Looking up the name counts too: without a connection nothing was sent.
            connect=min(timeout_s / 2, LIMITS.acquirer_connect_timeout_s),
        )
        try:
            async with self._open_session().get(
                address, headers=_HEADERS, timeout=timeout, allow_redirects=False
            ) as reply:
                # A bounded part is read, so that an honest receiver can finish its answer.
                left = LIMITS.receiver_reply_bytes_max
                while left > 0 and not reply.content.at_eof():
                    left -= len(await reply.content.read(left))
                return reply.status
        except aiohttp.ClientConnectorError as fault:
            raise (Forbidden if isinstance(fault.os_error, _ClosedAddress) else Unsent) from None
        except aiohttp.InvalidURL:
            raise Forbidden from None
        except aiohttp.ConnectionTimeoutError:
            raise Unsent from None
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            raise Silent from None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                # The sender bounds how many are in flight; waiting here would count as silence.
                limit=0,
                force_close=True,
                use_dns_cache=False,
                resolver=_Names(),
                socket_factory=partial(_open_socket, self._is_live),
            )
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False
            )
        return self._session


class _ClosedAddress(OSError):
    """The address is closed; aiohttp reports it as a failed connection."""


class _Names(AbstractResolver):
    """Looks names up on threads of its own, so that a shop whose name server is dead delays no acquirer's."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_NAMES_AT_ONCE, thread_name_prefix="names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        look_up = partial(
            socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _open_socket(is_live: bool, info: _AddressInfo) -> socket.socket:
    """Opens a socket for the very address that is connected to next; odd spellings of an address are refused."""
    family, kind, protocol, _, address = info
    try:
        is_closed = find_closed(str(address[0]), is_live=is_live) is not None
    except ValueError:
        is_closed = True
    if is_closed:
        raise _ClosedAddress("closed")
    return socket.socket(family, kind, protocol)


def _read_address(url: str) -> URL:
    """Reads an address as it was written, because shops sign theirs; only illegal characters are escaped."""
    try:
        address = URL(quote(url, safe=_VISIBLE), encoded=True) if url.isascii() else URL(url)
        is_complete = bool(address.host) and address.port is not None
    except ValueError:
        raise Forbidden from None
    has_credentials = address.raw_user is not None or address.raw_password is not None
    if address.scheme not in _SCHEMES or not is_complete or has_credentials:
        raise Forbidden
    return address
