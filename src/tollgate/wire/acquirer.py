"""Sends requests to acquirers, and tells a request that never left from one that was never answered.

What an answer means is not decided here.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import WireReply, WireRequest

if TYPE_CHECKING:
    import aiohttp

_log = logging.getLogger("tollgate.wire")
_UNAUTHORIZED = frozenset({401, 403})


class _Unanswered(Exception):
    """A request has no answer. The reason is short and has no secret, because merchants read it."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Unsent(_Unanswered):
    """The request never left this machine, so nothing can have happened."""


class Forbidden(Unsent):
    """This host must never send to the address; the reason is the rule that refuses it."""

    @property
    def rule(self) -> str:
        return self.reason


class Silent(_Unanswered):
    """The request left and no usable answer came back: anything may have happened."""


class Wire(Protocol):
    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        """Returns the answer, or raises Unsent or Silent, and nothing else."""
        ...


class HttpWire:
    """Sends to one acquirer over HTTP, with a pool of connections of its own.

    `is_open` is False for an address that card data must not go to; everything is then refused before it is sent.
    `get_tls` returns the terms of TLS for a new connection.
    """

    def __init__(self, address: str, *, is_open: bool, get_tls: Callable[[], ssl.SSLContext]) -> None:
        self._address = address.rstrip("/")
        self._is_open = is_open
        self._get_tls = get_tls
        self._session: aiohttp.ClientSession | None = None
        self._is_refused = False

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if not self._is_open:
            raise Forbidden
        # See `Wires.load`.
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(timeout_s, LIMITS.acquirer_connect_timeout_s))
        headers = {"Content-Type": request.content_type, "Idempotency-Key": request.key, **request.headers}
        session = self._session
        if session is None:
            connector = aiohttp.TCPConnector(limit=LIMITS.acquirer_connections_max)
            session = self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        try:
            async with session.request(
                request.method,
                self._address + request.path,
                data=request.body or None,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                ssl=self._get_tls(),
            ) as reply:
                self._note_credential(reply.status)
                return WireReply(reply.status, await _read_capped(reply))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL):
            raise Unsent from None
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            raise Silent from None

    def _note_credential(self, status: int) -> None:
        """Tells the operator once that the acquirer does not know us, and again after it did."""
        was_refused, self._is_refused = self._is_refused, status in _UNAUTHORIZED
        if self._is_refused and not was_refused:
            address = self._address.rpartition("@")[2]
            _log.error("acquirer refused our credential", extra={"address": address, "status": status})

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _read_capped(reply: aiohttp.ClientResponse) -> bytes:
    body = await reply.content.read(LIMITS.acquirer_reply_bytes_max + 1)
    while not reply.content.at_eof() and len(body) <= LIMITS.acquirer_reply_bytes_max:
        body += await reply.content.read(LIMITS.acquirer_reply_bytes_max + 1 - len(body))
    if len(body) > LIMITS.acquirer_reply_bytes_max:
        raise Silent
    return body
