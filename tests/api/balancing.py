"""A load balancer for TCP that asks each gateway for its readiness, and callers who pay through it without pause.

It tries nothing twice: a connection that a gateway refuses is a failed call.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlencode, urlsplit

from gateway import PAYMENT, Client

_ASK_EVERY_S = 0.05
_TIMEOUT_S = 300.0
_BLOCK = 65536


@dataclass
class Backend:
    port: int
    is_ready: bool = False
    open: int = 0
    """The connections that go to it."""


class Balancer:
    def __init__(self, ports: Sequence[int]) -> None:
        self._backends = [Backend(port) for port in ports]
        self._lock = threading.Lock()
        self._next = 0
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._accept, self._ask)]
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def takes(self, port: int) -> bool:
        """Tells whether new connections go to this gateway."""
        return self._find(port).is_ready

    def has_left(self, port: int) -> bool:
        """Tells whether no connection goes to this gateway, and none will."""
        with self._lock:
            backend = self._find(port)
            return not backend.is_ready and not backend.open

    def _find(self, port: int) -> Backend:
        return next(backend for backend in self._backends if backend.port == port)

    def _ask(self) -> None:
        while not self._ended.wait(_ASK_EVERY_S):
            for backend in self._backends:
                is_ready = _is_ready(backend.port)
                with self._lock:
                    backend.is_ready = is_ready

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _choose(self) -> Backend | None:
        with self._lock:
            ready = [backend for backend in self._backends if backend.is_ready]
            if not ready:
                return None
            self._next += 1
            chosen = ready[self._next % len(ready)]
            chosen.open += 1
            return chosen

    def _join(self, client: socket.socket) -> None:
        with client:
            chosen = self._choose()
            if chosen is None:
                return
            try:
                with socket.create_connection(("127.0.0.1", chosen.port), timeout=_TIMEOUT_S) as server:
                    back = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
                    back.start()
                    _pass_on(client, server)
                    back.join()
            except OSError:
                return
            finally:
                with self._lock:
                    chosen.open -= 1


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_BLOCK):
            target.sendall(data)
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with suppress(OSError):
            end.shutdown(how)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@dataclass
class Payers:
    """Pays from several threads until told to end: half of them keep their connections, half open one for each call."""

    client: Client
    count: int = 8
    paid: list[str] = field(default_factory=list)
    """The ids of the payments that were answered with success."""
    failed: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._pay, args=(n % 2 == 0,), daemon=True) for n in range(self.count)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(_TIMEOUT_S)

    def _pay(self, keeps_connection: bool) -> None:
        host = urlsplit(self.client.base_url).netloc
        connection = http.client.HTTPConnection(host, timeout=_TIMEOUT_S)
        body = urlencode({**PAYMENT, "entityId": self.client.entity_id})
        headers = self.client.authorized({"Content-Type": "application/x-www-form-urlencoded"})
        while not self._ended.is_set():
            try:
                connection.request("POST", "/v1/payments", body, headers)
                reply = connection.getresponse()
                answer = reply.read().decode()
            except (OSError, http.client.HTTPException) as fault:
                self.failed.append(repr(fault))
                connection.close()
                continue
            if reply.status == 200:
                self.paid.append(answer.partition('"id":"')[2][:32])
            else:
                self.failed.append(f"{reply.status}: {answer}")
            if not keeps_connection:
                connection.close()
        connection.close()
