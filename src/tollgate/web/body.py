"""Takes a request's body from the bytes that follow its head, within a bound of size.

What the body says is not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.values import Refusal, TooLarge
from tollgate.web.head import make_malformed

_FORM = b"application/x-www-form-urlencoded"


class SizedBody:
    """Reads a body whose length is given by the Content-Length header."""

    def __init__(self, length: int, *, is_kept: bool) -> None:
        self._left = length
        self._is_kept = is_kept
        self._first = b""
        """The first piece is kept apart, because nearly all bodies have no other and it need not be copied."""
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
_END = _Line(re.compile(rb"(\r\n)"), re.compile(rb"\r"))
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
        if self._expected is _END:
            self.is_complete = True
        else:
            self._left = int(found[1], 16)
            self._expected = _NEXT if self._left else _END
            self._size += self._left
            if self._size > self._size_max:
                raise make_body_too_large(self._size_max)
        return start


def make_body_too_large(size_max: int) -> TooLarge:
    return TooLarge(get_result(codes.REQUEST_TOO_LARGE), f"the body has more than {size_max} bytes")


def check_form_type(headers: Mapping[bytes, bytes]) -> None:
    """A POST carries a form; one that says nothing is taken for one."""
    content_type = headers.get(b"content-type")
    if content_type is None:
        return
    kind, _, options = content_type.lower().partition(b";")
    if kind.strip() != _FORM:
        raise Refusal(get_result(codes.REQUEST_TOO_LARGE), f"send the body as {_FORM.decode()}")
    charset = options.replace(b" ", b"").replace(b'"', b"")
    if charset.startswith(b"charset=") and charset not in (b"charset=utf-8", b"charset=utf8"):
        raise Refusal(get_result(codes.REQUEST_TOO_LARGE), "send the body in UTF-8")
