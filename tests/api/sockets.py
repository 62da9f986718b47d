"""Bytes on a bare socket, for what no HTTP library would send, and answers read back one by one."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterable, Iterator
from http.client import HTTPResponse
from urllib.parse import urlsplit

from gateway import Answer, Client


@contextlib.contextmanager
def connect(client: Client, timeout_s: float = 120.0) -> Iterator[socket.socket]:
    address = urlsplit(client.base_url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=timeout_s) as connection:
        yield connection


def exchange(client: Client, *parts: bytes) -> list[Answer]:
    """Send the parts, then read every answer until the server hangs up; the last request asks it to."""
    with connect(client) as connection:
        # A server that refuses early hangs up while we still send; its answer is there all the same.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for part in parts:
                connection.sendall(part)
        return split_answers(read_all(connection))


def read_all(connection: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    return received


def split_answers(stream: bytes) -> list[Answer]:
    answers = []
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        reply = HTTPResponse(_Buffer(head + b"\r\n\r\n"))  # type: ignore[arg-type]
        reply.begin()
        headers = {name.lower(): value for name, value in reply.getheaders()}
        length = int(headers.get("content-length", "0"))
        answers.append(Answer(reply.status, headers, rest[:length]))
        stream = rest[length:]
    return answers


def render(
    method: str,
    path: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes | None = None,
    *,
    is_last: bool = True,
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: test", *(f"{name}: {value}" for name, value in headers)]
    if is_last:
        lines.append("Connection: close")
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


class _Buffer:
    """http.client asks a socket for a file to read from, and for nothing else."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _mode: str) -> object:
        return io.BytesIO(self._content)
