"""Opens the sockets of a host, with TLS where a certificate is given, and serves connections on them.

What is said on a connection is not known here.
"""

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import ssl
import sys
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tollgate.catalog.limits import LIMITS
from tollgate.config import Settings
from tollgate.values import Instant, Refusal, to_datetime
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


_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)


def get_local_certificate(folder: Path, now: Instant) -> tuple[Path, Path]:
    """Returns the paths of certificate and key, which are made if they are missing or expire soon."""
    certificate, key = folder / "localhost.pem", folder / "localhost-key.pem"
    if certificate.exists() and key.exists():
        expires = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
        if expires - _RENEW_BEFORE > to_datetime(now):
            return certificate, key
    _make_certificate(certificate, key, now)
    return certificate, key


def _make_certificate(certificate: Path, key_path: Path, now: Instant) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    moment = to_datetime(now)
    addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "::1")]
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - timedelta(hours=1))
        .not_valid_after(moment + _LIFETIME)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key_path.unlink(missing_ok=True)
    with os.fdopen(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))


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
