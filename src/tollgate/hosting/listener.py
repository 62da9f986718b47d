"""Opens the sockets of a host, with TLS where a certificate is given, and serves connections on them.

What is said on a connection is not known here.
"""

import asyncio
import errno
import logging
import socket
import ssl
import sys
from enum import StrEnum

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.config import Settings
from tollgate.values import Refusal
from tollgate.web import parsing, protocol, request
from tollgate.web.connections import Connections


class Port(StrEnum):
    """Names the purpose of a listening socket."""

    API = "api"
    REDIRECT = "redirect"
    METRICS = "metrics"


Sockets = list[tuple[Port, socket.socket]]


def bind_all(settings: Settings) -> Sockets:
    """Binds every port before anything is served; a port in use ends the process with a message."""
    wanted = [
        (Port.API, settings.host, settings.port),
        (Port.REDIRECT, settings.host, settings.http_port),
        (Port.METRICS, settings.metrics_host, settings.metrics_port),
    ]
    sockets: Sockets = []
    for port, host, number in wanted:
        try:
            if number:
                sockets.append((port, _bind(host, number)))
        except OSError as error:
            for _, taken in sockets:
                taken.close()
            sys.exit(f"tollgate: cannot listen on {host} port {number}: {error.strerror}")
    return sockets


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Until one of them listens, several processes may bind the same port.
        listener.listen()
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


class Redirector:
    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def admit(self, head: parsing.Head, peer: str, *, is_secure: bool) -> request.RequestContext:  # noqa: ARG002
        reply = msgspec.structs.replace(request.redirect(self._base_url, head), is_last=True)
        return request.RequestContext("", "", head.method, head.path, head=head, refused=reply)

    async def answer(self, context: request.RequestContext, body: bytes) -> request.Reply:  # noqa: ARG002
        raise LookupError("every request is answered by its head")

    def refuse(self, refusal: Refusal, context: request.RequestContext | None) -> request.Reply:  # noqa: ARG002
        """Sends a request that cannot be read to the front page."""
        return request.Reply(307, b"", b"text/plain", ((b"location", f"{self._base_url}/".encode()),), is_last=True)

    def conclude(self, context: request.RequestContext, reply: request.Reply | None) -> None:
        """Redirects are neither counted nor logged."""


_log = logging.getLogger("tollgate.listener")

_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 64
_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_S = 0.5
"""Seconds without accepting when the system has no file or memory left for another connection."""
_TLS_SHUTDOWN_S = 5.0


class Listener:
    """Accepts on one listening socket, which other processes may share."""

    def __init__(
        self,
        listening: socket.socket,
        application: protocol.Application,
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._socket = listening
        self._application = application
        self._connections = connections
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._is_open = False

    def open(self) -> None:
        self._socket.setblocking(False)
        # Inherited by every connection: an answer is one write, and waits for no other.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.listen(_BACKLOG)
        self._is_open = True
        self._loop.add_reader(self._socket, self._accept)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._socket)
        self._socket.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, address = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                self._connections.report_limit("files", self._loop.time(), "")
                self._loop.remove_reader(self._socket)
                self._loop.call_later(_PAUSE_S, self._resume)
                return
            peer = self._connections.enter(address[0], self._loop.time())
            if peer is None:
                accepted.close()
                continue
            opening = self._loop.create_task(self._open(accepted, peer, address[0]))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    def _resume(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._socket, self._accept)

    async def _open(self, accepted: socket.socket, peer: str, address: str) -> None:
        accepted.setblocking(False)
        connection = protocol.HttpConnection(
            self._application, self._connections, peer, address, is_secure=self._tls is not None
        )
        try:
            if self._tls is None:
                await self._loop.connect_accepted_socket(lambda: connection, accepted)
            else:
                await self._loop.connect_accepted_socket(
                    lambda: connection,
                    accepted,
                    ssl=self._tls,
                    ssl_handshake_timeout=LIMITS.read_timeout_s,
                    ssl_shutdown_timeout=_TLS_SHUTDOWN_S,
                )
        except OSError as error:
            # The client went away or speaks no TLS that is served here.
            _log.debug("connection not opened", extra={"reason": str(error)})
            accepted.close()
            if not connection.was_made:
                self._connections.leave(peer)
