"""Parses the head and the body of one HTTP/1.1 request, within limits.

The parser gets one head alone, so it cannot take a body for a second request, and an `Upgrade` header has no effect.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

import httptools
import msgspec

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
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
    """The client wants the connection closed after the answer."""
    expects_continue: bool
    is_old: bool = False
    """The client speaks HTTP/1.0, which knows no chunks."""


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
            end = self._get_end(data, start)
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
        """Return the head once it is complete, and only once."""
        parser, headers = self._parser, self._headers
        # They hold each other, and would wait for the garbage collector.
        del self._parser
        version, method = parser.get_http_version(), parser.get_method().decode("ascii")
        if version not in _VERSIONS or method == "CONNECT":
            raise make_malformed()
        path, query = _split_target(self._url)
        is_old = version == "1.0"
        connection = headers.get(b"connection")
        return Head(
            method,
            self._url,
            path,
            query,
            headers,
            self._repeated,
            self._read_body_length(is_old=is_old),
            is_old or (connection is not None and b"close" in map(bytes.strip, connection.lower().split(b","))),
            not is_old and headers.get(b"expect", b"").lower() == b"100-continue",
            is_old,
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

    def _get_end(self, data: bytes, start: int) -> int:
        if self._tail:
            boundary = (self._tail + data[start : start + 3]).find(_END)
            if boundary >= 0:
                return start + boundary + len(_END) - len(self._tail)
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

    def _read_body_length(self, *, is_old: bool) -> int:
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
    return Malformed(results.get_result(codes.MALFORMED_REQUEST), "this is not HTTP/1.1")


def _make_too_large(detail: str) -> TooLarge:
    return TooLarge(results.get_result(codes.MALFORMED_REQUEST), detail)


_FORM = b"application/x-www-form-urlencoded"


class SizedBody:
    """Reads a body whose length is given by the Content-Length header."""

    def __init__(self, length: int, *, is_kept: bool) -> None:
        self._left = length
        self._is_kept = is_kept
        self._first = b""
        """The first piece of the body; nearly all bodies have no other, and then it need not be copied."""
        self._more = bytearray()
        self.is_complete = not length

    def feed(self, data: bytes, start: int) -> int:
        """Return where in `data` this body ends, or the end of `data`."""
        part = data[start : start + self._left]
        self._left -= len(part)
        self.is_complete = not self._left
        if not self._is_kept:
            pass
        elif self._first:
            self._more += part
        else:
            self._first = part
        return start + len(part)

    def read(self) -> bytes:
        return self._first + self._more if self._more else self._first


class _Line(msgspec.Struct, frozen=True):
    """Matches a line between chunks, whole or as far as it has arrived."""

    whole: re.Pattern[bytes]
    begun: re.Pattern[bytes]


_FIRST = _Line(re.compile(rb"([0-9A-Fa-f]{1,8})\r\n"), re.compile(rb"[0-9A-Fa-f]{1,8}\r?"))
_NEXT = _Line(re.compile(rb"\r\n([0-9A-Fa-f]{1,8})\r\n"), re.compile(rb"\r(?:\n(?:[0-9A-Fa-f]{1,8}\r?)?)?"))
_END_LINE = _Line(re.compile(rb"(\r\n)"), re.compile(rb"\r"))
_LINE_MAX = 12


class ChunkedBody:
    """Reads a chunked body strictly: extensions and trailers are refused, so that no proxy can read it differently."""

    def __init__(self, size_max: int, *, is_kept: bool) -> None:
        self._size_max = size_max
        self._is_kept = is_kept
        self._size = 0
        self._left = 0
        """Bytes of the present chunk that are still to come."""
        self._expected = _FIRST
        self._begun = b""
        """The beginning of a line that goes on in the next packet."""
        self._body = bytearray()
        self.is_complete = False

    def feed(self, data: bytes, start: int) -> int:
        """Return where in `data` this body ends, or the end of `data`."""
        while start < len(data) and not self.is_complete:
            start = self._take_part(data, start) if self._left else self._take_line(data, start)
        return start

    def read(self) -> bytes:
        return bytes(self._body)

    def _take_part(self, data: bytes, start: int) -> int:
        part = data[start : start + self._left]
        self._left -= len(part)
        if self._is_kept:
            self._body += part
        return start + len(part)

    def _take_line(self, data: bytes, start: int) -> int:
        line = self._begun + data[start : start + _LINE_MAX - len(self._begun)]
        found = self._expected.whole.match(line)
        if found is None:
            if not self._expected.begun.fullmatch(line):
                raise make_malformed()
            start += len(line) - len(self._begun)
            self._begun = line
            return start
        start += found.end() - len(self._begun)
        self._begun = b""
        if self._expected is _END_LINE:
            self.is_complete = True
        else:
            self._left = int(found[1], 16)
            self._expected = _NEXT if self._left else _END_LINE
            self._size += self._left
            if self._size > self._size_max:
                raise make_body_too_large(self._size_max)
        return start


def make_body_too_large(size_max: int) -> TooLarge:
    return TooLarge(results.get_result(codes.MALFORMED_REQUEST), f"the body has more than {size_max} bytes")


def check_form_type(headers: Mapping[bytes, bytes]) -> None:
    """Refuses a POST whose Content-Type is not that of a form; without that header it counts as one."""
    content_type = headers.get(b"content-type")
    if content_type is None:
        return
    kind, _, options = content_type.lower().partition(b";")
    if kind.strip() != _FORM:
        raise Refusal(results.get_result(codes.MALFORMED_REQUEST), f"send the body as {_FORM.decode()}")
    charset = options.replace(b" ", b"").replace(b'"', b"")
    if charset.startswith(b"charset=") and charset not in (b"charset=utf-8", b"charset=utf8"):
        raise Refusal(results.get_result(codes.MALFORMED_REQUEST), "send the body in UTF-8")
