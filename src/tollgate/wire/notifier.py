"""Sends webhooks, notifications and reminders to addresses that others wrote, such as a shop's.

The guard checks an address where the connection is made. Redirects are not followed, and cookies not kept.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import ssl
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Protocol

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.wire.acquirer import Forbidden, Silent, Unsent
from tollgate.wire.guard import UNREADABLE, ClosedAddress, Guard

if TYPE_CHECKING:
    import aiohttp

    from tollgate.wire.names import LookUp, SystemNames

_HEADERS = {"User-Agent": "Tollgate", "Accept": "*/*", "Accept-Encoding": "identity"}
_BROKEN = (OSError, asyncio.IncompleteReadError)
"""The faults of a lost connection that aiohttp does not put into its own words."""


class Outgoing(msgspec.Struct, frozen=True):
    """A request to send, by GET or POST. The headers are sent in addition to our own."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Received(msgspec.Struct, frozen=True):
    """The answer: its status, the beginning of its body, and its Retry-After header if that is short and ASCII."""

    status: int
    body: bytes = b""
    retry_after: str | None = None


class Notifier(Protocol):
    def check_address(self, url: str) -> str | None:
        """Returns the rule by which nothing can ever be sent to an address as it is written, or None."""
        ...

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        """Returns the answer, or raises Unsent, Forbidden or Silent, and nothing else."""
        ...


class HttpNotifier:
    """Sends over connections that are kept for a few seconds, each checked by the guard when it was made.

    A receiver may close a kept connection just when a request is sent. Then the request is sent again over another:
    webhooks and notifications are delivered at least once, so a receiver that did read it recognises the second.
    """

    def __init__(self, guard: Guard, *, ca_file: str = "", look_up: LookUp | None = None) -> None:
        self._guard = guard
        self._ca_file = ca_file
        self._look_up = look_up
        self._names: SystemNames | None = None
        self._session: aiohttp.ClientSession | None = None

    def check_address(self, url: str) -> str | None:
        try:
            self._guard.read_address(url)
        except Forbidden as refused:
            return refused.rule
        return None

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        # See `Wires.load`.
        import aiohttp

        address = self._guard.read_address(outgoing.url)
        session = self._session or self._open_session()
        # Looking up the name counts too: without a connection nothing was sent.
        connect_s = min(timeout_s / 2, LIMITS.acquirer_connect_timeout_s)
        reused: list[bool] = []
        try:
            async with session.request(
                outgoing.method,
                address,
                data=outgoing.body or None,
                headers={**_HEADERS, **outgoing.headers},
                skip_auto_headers=("Content-Type",),
                timeout=aiohttp.ClientTimeout(total=timeout_s, connect=connect_s, ceil_threshold=math.inf),
                allow_redirects=False,
                trace_request_ctx=reused,
            ) as reply:
                return Received(reply.status, await _read_part(reply), _read_retry_after(reply))
        except aiohttp.ClientConnectorError as fault:
            if isinstance(fault.os_error, ClosedAddress):
                raise Forbidden(fault.os_error.rule) from None
            raise Unsent(_render_reason(fault.os_error) or "no connection") from None
        except aiohttp.InvalidURL:
            raise Forbidden(UNREADABLE) from None
        except aiohttp.ConnectionTimeoutError:
            raise Unsent(f"no connection within {connect_s:g} s") from None
        except TimeoutError:
            raise Silent(f"no answer within {timeout_s:g} s") from None
        except aiohttp.ClientResponseError:
            raise Silent("the answer is not HTTP") from None
        except (aiohttp.ClientError, *_BROKEN) as fault:
            if reused:
                return await self.send(outgoing, timeout_s)
            raise Silent(_render_reason(fault) or "connection closed without an answer") from None

    async def close(self) -> None:
        if self._names is not None:
            self._names.close()
            self._names = None
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        import aiohttp

        from tollgate.wire.names import CheckedNames, SystemNames

        tls = _make_tls(self._ca_file) if self._ca_file else True
        self._names = SystemNames()
        connector = aiohttp.TCPConnector(
            # The sender bounds how many are in flight, and so how many are kept; waiting here would delay others.
            limit=0,
            keepalive_timeout=LIMITS.receiver_keep_alive_s,
            use_dns_cache=False,
            resolver=CheckedNames(self._guard, self._look_up or self._names.look_up),
            socket_factory=self._guard.open_socket,
            ssl=tls,
        )
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_reuse)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            trace_configs=[tracing],
        )
        return self._session


async def _note_reuse(_session: aiohttp.ClientSession, context: SimpleNamespace, _params: object) -> None:
    context.trace_request_ctx.append(True)


def _make_tls(ca_file: str) -> ssl.SSLContext:
    """Makes the terms of TLS: the authorities of the system, and the operator's own."""
    terms = ssl.create_default_context()
    try:
        terms.load_verify_locations(ca_file)
    except OSError:
        raise Unsent("the certificates of --outbound-ca cannot be read") from None
    return terms


async def _read_part(reply: aiohttp.ClientResponse) -> bytes:
    """Reads a bounded part of the body, so that an honest receiver can finish its answer, and returns its beginning.

    The head has the status already, so a body that breaks off or never ends changes nothing.
    """
    import aiohttp

    part, left = b"", LIMITS.receiver_reply_bytes_max
    try:
        while left > 0 and not reply.content.at_eof():
            block = await reply.content.read(left)
            left -= len(block)
            part += block[: LIMITS.receiver_reply_kept_bytes_max - len(part)]
    except (aiohttp.ClientError, *_BROKEN):
        reply.close()
    return part


def _read_retry_after(reply: aiohttp.ClientResponse) -> str | None:
    value = reply.headers.get("Retry-After")
    if value is None or len(value) > LIMITS.receiver_retry_after_length_max or not value.isascii():
        return None
    return value


def _render_reason(fault: BaseException) -> str:
    """Says why there is no connection or no answer, and never what was sent or to which path."""
    match fault:
        case ssl.SSLCertVerificationError():
            return f"TLS certificate not accepted: {fault.verify_message}"
        case ssl.SSLError():
            return f"TLS handshake failed: {(fault.reason or 'no reason').replace('_', ' ').lower()}"
        case socket.gaierror():
            return "name not found" if fault.errno != socket.EAI_AGAIN else "the name server does not answer"
        case OSError(errno=int(number)):
            return os.strerror(number).lower()
    return ""
