"""A request as handlers see it, and an answer as they give it. Neither knows ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum

import msgspec

from tollgate.contract import Answer, Pairs
from tollgate.payments import Channel
from tollgate.steps import House
from tollgate.values import MerchantId

JSON = b"application/json;charset=UTF-8"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    path: str
    names: tuple[str, ...]
    """What stands in the holes of the route's path."""
    headers: Mapping[bytes, bytes]
    pairs: Pairs
    """Query and body, in the order sent."""
    trace: str
    """32 hex digits that name this request in logs and answers."""
    address: str = ""
    """The caller's, as far as it is known."""
    body: bytes = b""
    """As it came, where the route takes something else than a form."""

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who was recognised, and on which of its channels it speaks."""

    merchant_id: MerchantId
    channel: Channel | None
    """None where the route does not need an entity and none was named."""
    ndc: str


class Reply(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Access(Enum):
    """What a route asks of its caller before its handler runs."""

    OPEN = "open"
    TOKEN = "token"
    """A valid token; an entity is optional."""
    ENTITY = "entity"
    """A valid token and an entity it reaches."""


Handler = Callable[[Request, Caller, House], Awaitable[Reply]]
OpenHandler = Callable[[Request, House], Awaitable[Reply]]


class RouteRow(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint: the row is also what the documentation is made of."""

    method: str
    path: str
    """Holes are written `{name}`."""
    operation: str
    """Its name in metrics, logs and the throttle table."""
    summary: str
    access: Access
    handler: Handler | OpenHandler
    hides_path: bool = False
    """Whether a name in its path is a secret, which no log may show."""
    is_for_any_origin: bool = False
    """Whether scripts of any shop's page may read its answers, refusals too."""
    takes_bytes: bool = False
    """Whether its body is not a form but bytes for the handler to read."""


def get_channel(caller: Caller) -> Channel:
    if caller.channel is None:
        raise LookupError("a route that needs an entity let a caller in without one")
    return caller.channel


def reply_with(answer: Answer) -> Reply:
    return Reply(answer.status, answer.body)
