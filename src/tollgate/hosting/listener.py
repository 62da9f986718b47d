"""Accepts connections on a socket, within the limits, and hands each to the protocol, behind TLS where it is served.

What is served is not known here.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl

from tollgate.catalog.limits import LIMITS
from tollgate.web import Application, Connections, HttpConnection

_log = logging.getLogger("tollgate.listener")

_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 64
_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_S = 0.5
"""How long nothing is accepted when the system has no file or memory left for another connection."""
_TLS_SHUTDOWN_S = 5.0


class Listener:
    """Accepts on one listening socket, which other processes may share."""

    def __init__(
        self,
        listening: socket.socket,
        application: Application,
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
        connection = HttpConnection(
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
