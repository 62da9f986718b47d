"""Requests whose answers matter, over connections that stay open. Written before the clock starts; knows no payment.

wrk repeats one request for a while; here every request is another one, and there are exactly so many of them.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT_S = 30
_CHUNK = 65_536
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_OK = b" 200 "


class Line:
    """One connection that is kept, and no more than one request on its way."""

    def __init__(self, base_url: str) -> None:
        place = urlsplit(base_url)
        self._socket = socket.create_connection((place.hostname, place.port), timeout=TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> bytes:
        """Returns the body of the answer. Anything but a success is an error: fast refusals are not measured."""
        self._socket.sendall(request)
        got = b""
        while (at := got.find(_HEAD_END)) < 0:
            got += self._receive()
        head, body = got[:at], got[at + len(_HEAD_END) :]
        length = _read_length(head)
        while len(body) < length:
            body += self._receive()
        if _OK not in head.partition(b"\r\n")[0]:
            raise RuntimeError(f"a request was refused: {body.decode(errors='replace')}")
        return body

    def close(self) -> None:
        self._socket.close()

    def _receive(self) -> bytes:
        got = self._socket.recv(_CHUNK)
        if not got:
            raise RuntimeError("the server closed the connection before it answered")
        return got


def send_all(base_url: str, requests: Sequence[bytes], connections: int) -> tuple[list[bytes], float]:
    """Each request once, shared out evenly; the bodies in no particular order, and the seconds from first to last."""
    lines = [Line(base_url) for _ in range(connections)]
    shares = [requests[number::connections] for number in range(connections)]
    try:
        with ThreadPoolExecutor(connections) as threads:
            # All threads exist and have spoken once before the clock starts.
            list(threads.map(lambda line: line.send(_PROBE), lines))
            began = time.perf_counter()
            answers = list(threads.map(_send_share, lines, shares))
            spent_s = time.perf_counter() - began
    finally:
        for line in lines:
            line.close()
    return [body for share in answers for body in share], spent_s


def _send_share(line: Line, requests: Sequence[bytes]) -> list[bytes]:
    return [line.send(request) for request in requests]


def render_post(path: str, headers: Mapping[str, str], fields: Mapping[str, str]) -> bytes:
    body = urlencode(fields).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
    return _render_head("POST", path, {**headers, **form}) + body


def render_get(path: str, headers: Mapping[str, str], query: Mapping[str, str]) -> bytes:
    return _render_head("GET", f"{path}?{urlencode(query)}", headers)


def read_body(body: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(body)
    return decoded


def _render_head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join(lines).encode() + _HEAD_END


def _read_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(_LENGTH):
            return int(line.removeprefix(_LENGTH))
    raise RuntimeError("an answer does not tell its length")


_PROBE = _render_head("GET", "/readyz", {})
