"""Bodies that browsers get compressed if they accept it: public texts only, and never a page with secrets.

What they say is decided where they are made.
"""

import gzip
import re
from functools import cached_property
from typing import Protocol

import msgspec

from tollgate.web.request import Reply, Request

PACKED_OR_NOT = (b"vary", b"accept-encoding")
_REFUSED = re.compile(rb"q=0(\.0*)?")

Headers = tuple[tuple[bytes, bytes], ...]


class Packed(Protocol):
    @property
    def body(self) -> bytes: ...

    @property
    def gzipped(self) -> bytes: ...


class PackedBody(msgspec.Struct, frozen=True):
    body: bytes
    gzipped: bytes


class StaticBody(msgspec.Struct, frozen=True, dict=True):
    """A body that lives as long as the process. It is compressed when a browser first asks for it, not at the start."""

    body: bytes

    @cached_property
    def gzipped(self) -> bytes:
        return pack(self.body)


def pack(body: bytes) -> bytes:
    """Compresses a body; the same body gives the same bytes."""
    return gzip.compress(body, 9, mtime=0)


def reply_packed(
    request: Request, packed: Packed, content_type: bytes, headers: Headers = (), *, status: int = 200
) -> Reply:
    """Returns the compressed body if the browser accepts it."""
    headers = (*headers, PACKED_OR_NOT)
    accepted = request.headers.get(b"accept-encoding", b"").lower().replace(b" ", b"").split(b",")
    codings = (coding.partition(b";") for coding in accepted)
    if any(name == b"gzip" and not _REFUSED.fullmatch(weight) for name, _, weight in codings):
        return Reply(status, packed.gzipped, content_type, (*headers, (b"content-encoding", b"gzip")))
    return Reply(status, packed.body, content_type, headers)
