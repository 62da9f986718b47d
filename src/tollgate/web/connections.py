"""Counts and closes the open connections of a process, and writes replies as HTTP/1.1.

What is said on a connection is not known here.
"""

import asyncio
import logging
from collections import Counter
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from time import time
from typing import Protocol

from tollgate.catalog.limits import LIMITS
from tollgate.web import callers, request, server, telemetry

_log = logging.getLogger("tollgate.connections")

_LOG_EVERY_S = 60.0
_LOOK_EVERY_S = 0.02


class Connection(Protocol):
    def check(self, now: float) -> None:
        """Closes the connection if a deadline has passed."""

    def stop(self) -> None:
        """Closes the connection after the request that has begun, or at once if there is none."""

    def abort(self) -> None: ...


class Connections:
    """Counts the connections of all ports that share these limits, and closes them."""

    def __init__(self, connections_max: int, proxies: callers.Proxies) -> None:
        self.connections_max = min(connections_max, LIMITS.connections_max)
        self._proxies = proxies
        self._by_peer: Counter[str] = Counter()
        self._in_all = 0
        self._logged_at: dict[str, float] = {}
        self.open: set[Connection] = set()
        self.is_draining = False
        self.is_stopping = False

    def enter(self, address: str, now: float) -> str | None:
        """Counts a new connection and returns the name of its peer, or None when a limit is reached."""
        peer = callers.get_network(callers.read_address(address))
        if self._in_all >= self.connections_max:
            self.report_limit("host", now, peer)
            return None
        if self._by_peer[peer] >= LIMITS.connections_per_peer_max and not self._proxies.trusts(address):
            self.report_limit("peer", now, peer)
            return None
        self._in_all += 1
        self._by_peer[peer] += 1
        return peer

    def leave(self, peer: str) -> None:
        self._in_all -= 1
        self._by_peer[peer] -= 1
        if not self._by_peer[peer]:
            del self._by_peer[peer]

    def report_limit(self, limit: str, now: float, peer: str) -> None:
        """Counts each time, and logs at most once a minute for each limit, so that a flood does not fill the log."""
        telemetry.count_limit(limit)
        if now >= self._logged_at.get(limit, -_LOG_EVERY_S) + _LOG_EVERY_S:
            self._logged_at[limit] = now
            _log.warning("connection limit reached", extra={"limit": limit, "peer": peer, "open": self._in_all})

    def check(self, now: float) -> None:
        for connection in tuple(self.open):
            # An error in one connection must not keep the others open for ever.
            if not server.guard_upkeep(partial(connection.check, now)):
                connection.abort()

    async def wait_until_empty(self) -> None:
        while self.open:
            await asyncio.sleep(_LOOK_EVERY_S)

    def abort(self) -> None:
        for connection in tuple(self.open):
            connection.abort()

    def drain(self) -> None:
        """Makes every answer from now on the last of its connection, so that clients open the next one elsewhere."""
        self.is_draining = True

    def stop(self) -> None:
        self.is_stopping = True
        for connection in tuple(self.open):
            connection.stop()


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_FIXED = b"x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n"
_FRESH = b"cache-control: max-age=0, no-cache, no-store\r\npragma: no-cache\r\n"
_TLS = b"strict-transport-security: max-age=63072000; includeSubDomains\r\n"
_LAST = b"connection: close\r\n"
_WITHOUT_BODY = (204, 304)


class _Date:
    """Keeps the `Date` header until the second has passed."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def render(self) -> bytes:
        second = int(time())
        if second != self._second:
            self._second = second
            self._line = f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._line


_date = _Date()


LAST_CHUNK = b"0\r\n\r\n"


def render_chunk(data: bytes) -> bytes:
    """Renders a part of a body whose length is not known before its end."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def render_reply(
    reply: request.Reply, *, is_secure: bool, is_last: bool, has_body: bool = True, is_chunked: bool = False
) -> bytes:
    """Renders an answer; `has_body` is False for HEAD, whose Content-Length is that of GET.

    Of an answer in parts, it renders what comes before the first one. Its end is the last chunk, or the end of the
    connection where the client knows no chunks.
    """
    parts = [_STATUS_LINES[reply.status], _date.render(), b"content-type: ", reply.content_type, b"\r\n"]
    if is_chunked:
        parts.append(b"transfer-encoding: chunked\r\n")
    elif reply.status not in _WITHOUT_BODY and reply.chunks is None:
        parts.append(b"content-length: %d\r\n" % len(reply.body))
    parts.append(_FIXED)
    is_fresh = True
    for name, value in reply.headers:
        parts += (name, b": ", value, b"\r\n")
        # No answer may be cached on its way, unless it says so itself.
        if name == b"cache-control":
            is_fresh = False
    if is_fresh:
        parts.append(_FRESH)
    if is_secure:
        parts.append(_TLS)
    if is_last:
        parts.append(_LAST)
    parts.append(b"\r\n")
    if has_body:
        parts.append(reply.body)
    return b"".join(parts)
