"""Writes an answer as the bytes of HTTP/1.1, head and body in one piece. What it says is not known here."""

from __future__ import annotations

from email.utils import formatdate
from http import HTTPStatus
from time import time

from tollgate.web.request import Reply

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_FIXED = b"x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n"
_FRESH = b"cache-control: max-age=0, no-cache, no-store\r\npragma: no-cache\r\n"
_TLS = b"strict-transport-security: max-age=63072000; includeSubDomains\r\n"
_LAST = b"connection: close\r\n"
_NO_CONTENT = 204


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


def render_reply(reply: Reply, *, is_secure: bool, is_last: bool, has_body: bool = True) -> bytes:
    """Renders an answer; `has_body` is False for HEAD, whose Content-Length is that of GET."""
    parts = [_STATUS_LINES[reply.status], _date.render(), b"content-type: ", reply.content_type, b"\r\n"]
    if reply.status != _NO_CONTENT:
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
