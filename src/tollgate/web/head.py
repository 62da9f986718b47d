"""Reads the head of one request with llhttp, within its bounds, and says how its body is framed.

A head is given to the parser alone, never with what follows it: the parser keeps no state between requests, cannot take
a body for a second request, and an `Upgrade` header has no effect.
"""

from __future__ import annotations

from urllib.parse import unquote

import httptools
import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.values import Malformed, Refusal, TooLarge

CHUNKED = -1
"""The length of a body that comes in chunks."""

_END = b"\r\n\r\n"
_VERSIONS = ("1.1", "1.0")
_LENGTH_DIGITS_MAX = 20
_TARGET_BYTES_MAX = LIMITS.path_length_max + len(b"?") + LIMITS.query_bytes_max
_JOINED = frozenset({b"connection", b"x-forwarded-for", b"x-forwarded-proto"})
"""Headers that are lists: repeated lines count as one."""


class Head(msgspec.Struct, frozen=True):
    method: str
    target: bytes
    path: str
    query: bytes
    headers: dict[bytes, bytes]
    """Names are in lower case; of a repeated header the last line is here, or all of them where it is a list."""
    repeated: frozenset[bytes]
    """Names of headers that were sent more than once."""
    body_length: int
    is_last: bool
    """Whether the client wants the connection closed after the answer."""
    expects_continue: bool


class HeadReader:
    """Takes the bytes of one head in any number of pieces."""

    def __init__(self) -> None:
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._repeated: frozenset[bytes] = frozenset()
        self._count = 0
        self._size = 0
        self._is_complete = False
        self._tail = b""
        """The last bytes of the pieces so far: the end of the head may be cut in two."""
        self._parser = httptools.HttpRequestParser(self)

    @property
    def has_begun(self) -> bool:
        return self._size > 0

    def feed(self, data: bytes, start: int) -> int:
        """Return where the head ends in `data`, or -1 when it goes on in the next piece."""
        while not self._is_complete and start < len(data):
            end = self._find_end(data, start)
            piece = data[start:] if end < 0 else data[start:end]
            self._size += len(piece)
            self._tail = (self._tail + piece[-3:])[-3:] if end < 0 else b""
            self._parse(piece)
            if self._size - len(self._url) > LIMITS.header_bytes_max:
                raise _make_too_large(f"the head has more than {LIMITS.header_bytes_max} bytes")
            if end < 0:
                return -1
            # Empty lines before a request are allowed; then the head is still to come.
            start = end
        return start if self._is_complete else -1

    def read(self) -> Head:
        """Return the head once it is complete."""
        parser, headers = self._parser, self._headers
        version, method = parser.get_http_version(), parser.get_method().decode("ascii")
        if version not in _VERSIONS or method == "CONNECT":
            raise make_malformed()
        path, query = _split_target(self._url)
        is_old = version == "1.0"
        return Head(
            method,
            self._url,
            path,
            query,
            headers,
            self._repeated,
            self._find_body_length(is_old=is_old),
            is_old or self._wants_close(),
            not is_old and headers.get(b"expect", b"").lower() == b"100-continue",
        )

    def on_url(self, url: bytes) -> None:
        self._url += url
        if len(self._url) > _TARGET_BYTES_MAX:
            raise _make_too_large("the path and the query are too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        headers = self._headers
        if name in headers:
            self._repeated |= {name}
            if name in _JOINED:
                value = headers[name] + b"," + value
        headers[name] = value
        self._count += 1
        if self._count > LIMITS.headers_max:
            raise _make_too_large(f"the head has more than {LIMITS.headers_max} headers")

    def on_headers_complete(self) -> None:
        self._is_complete = True

    def _find_end(self, data: bytes, start: int) -> int:
        if self._tail:
            seam = (self._tail + data[start : start + 3]).find(_END)
            if seam >= 0:
                return start + seam + len(_END) - len(self._tail)
        at = data.find(_END, start)
        return at + len(_END) if at >= 0 else -1

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # The client offers another protocol; it is answered in this one.
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, Refusal):
                raise error.__context__ from None
            raise
        except httptools.HttpParserError:
            raise make_malformed() from None

    def _find_body_length(self, *, is_old: bool) -> int:
        """llhttp has refused lengths that are no numbers, repeated ones, and a length beside chunks."""
        encoding = self._headers.get(b"transfer-encoding")
        if encoding is None:
            length = self._headers.get(b"content-length", b"0")
            if len(length) > _LENGTH_DIGITS_MAX:
                raise make_malformed()
            return int(length)
        if is_old or encoding.strip().lower() != b"chunked" or b"transfer-encoding" in self._repeated:
            raise make_malformed()
        return CHUNKED

    def _wants_close(self) -> bool:
        connection = self._headers.get(b"connection")
        return connection is not None and b"close" in [word.strip() for word in connection.lower().split(b",")]


def _split_target(target: bytes) -> tuple[str, bytes]:
    if target.startswith(b"/") and b"#" not in target:
        path, _, query = target.partition(b"?")
    else:
        try:
            parsed = httptools.parse_url(target)
        except httptools.HttpParserInvalidURLError:
            raise make_malformed() from None
        path, query = parsed.path or b"/", parsed.query or b""
    if len(path) > LIMITS.path_length_max or len(query) > LIMITS.query_bytes_max:
        raise _make_too_large("the path or the query is too long")
    # llhttp lets nothing through but ASCII.
    text = path.decode("ascii")
    return (unquote(text) if "%" in text else text), query


def make_malformed() -> Malformed:
    return Malformed(get_result(codes.REQUEST_TOO_LARGE), "this is not HTTP/1.1")


def _make_too_large(detail: str) -> TooLarge:
    return TooLarge(get_result(codes.REQUEST_TOO_LARGE), detail)
