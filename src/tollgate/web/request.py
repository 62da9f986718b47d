"""Requests, callers and replies as handlers see them, the rows of the route table, and the context of one request.

How they are carried is not known here.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

import msgspec

from tollgate.contract import answers, fields
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel, Credential
from tollgate.values import ChannelId, MerchantId
from tollgate.web.parsing import Head

JSON = b"application/json;charset=UTF-8"
_NO_HEADER = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    path: str
    """The path without empty words: `//v1/payments/` is `/v1/payments`."""
    names: tuple[str, ...]
    """The words of the path that fill the holes of the route's."""
    headers: Mapping[bytes, bytes]
    pairs: fields.Pairs
    """Query and body, in the order sent."""
    trace: str
    """32 hex digits that name this request in logs and answers."""
    operation: str = ""
    address: str = ""
    """The caller's, as far as it is known."""
    body: bytes = b""
    """The raw body, if the route does not take a form."""
    target: bytes = b""
    """The path and the query as they were sent."""

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    def find(self, name: str) -> str:
        """Finds the first value that was sent under this name; "" where there is none."""
        return next((value for sent, value in self.pairs if sent == name), "")


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The merchant that calls, and the channel that it named."""

    merchant_id: MerchantId
    channel: Channel | None
    """It is None if the route does not need an entity and none was named."""
    ndc: str
    channel_ids: tuple[ChannelId, ...] = ()
    """The only channels that the token reaches; empty for all of the merchant."""
    is_dispatched: bool = False
    """The merchant's id was named, and the channel was chosen by what the request is about."""
    is_by_login: bool = False
    """A login was sent in the parameters instead of a header, which only lenient channels take."""


class Reply(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    is_last: bool = False
    """The connection is closed after this reply, because the rest of the request was not read."""
    is_reset: bool = False
    """The connection is reset instead of being answered; only a test host does so, on request."""
    chunks: AsyncGenerator[bytes, None] | None = None
    """The body in parts, where it is too long to be held in memory; `body` is then empty."""

    def __post_init__(self) -> None:
        for name, value in self.headers:
            if _NO_HEADER.search(value):
                # Breakage, not a refusal: text of a caller would have become a header of our own.
                raise ValueError(f"the value of the answer's header {name.decode()} has control characters")


class Access(Enum):
    """The credentials that a route demands before its handler runs."""

    OPEN = "open"
    TOKEN = "token"
    """A valid token; an entity is optional."""
    ENTITY = "entity"
    """A valid token and an entity it reaches."""


Handler = Callable[[Request, Caller, App], Awaitable[Reply]]
OpenHandler = Callable[[Request, App], Awaitable[Reply]]


class LargeBody(msgspec.Struct, frozen=True):
    """A limit for bodies that is higher than the usual one, for those who may send so much."""

    bytes_max: int
    may_send: Callable[[Head, App], bool]
    """Decides by the head alone, before anything of the body is read."""


class RouteRow(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint."""

    method: str
    path: str
    """Holes are written `{name}`."""
    operation: str
    """Its name in metrics, logs and the throttle table."""
    access: Access
    handler: Handler | OpenHandler
    hides_path: bool = False
    """A name in its path is a secret, which no log may show."""
    is_for_any_origin: bool = False
    """Scripts of any shop's page may read its answers, refusals too."""
    is_for_probes: bool = False
    """A proxy may request it by plain HTTP, to check the health of the host."""
    traces_checkout: bool = False
    """Its refusals carry the id of the checkout as their `ndc`, as its answers do."""
    takes_parameters: bool = False
    """Its body has parameters of the catalogue although no entity is named; every route with an entity has them."""
    also_takes: frozenset[str] = frozenset()
    """Names of its own, which have no row in the catalogue."""
    takes_bytes: bool = False
    """Its body is not a form but bytes for the handler to read."""
    large_body: LargeBody | None = None


class Match(msgspec.Struct, frozen=True):
    row: RouteRow
    names: tuple[str, ...]


_H = TypeVar("_H", bound=Handler | OpenHandler)


class Routes(list[RouteRow]):
    """The rows of a module's endpoints, each declared as a decorator of its handler."""

    def add(
        self, method: str, path: str, operation: str, access: Access = Access.ENTITY, **rest: Any
    ) -> Callable[[_H], _H]:
        """rest: the other members of a RouteRow. A handler may be declared for several paths."""

        def declare(handler: _H) -> _H:
            row = RouteRow(
                method=method,
                path=path,
                operation=operation,
                access=access,
                handler=handler,
                **rest,
            )
            self.append(row)
            return handler

        return declare


def get_channel(caller: Caller) -> Channel:
    if caller.channel is None:
        raise LookupError("a route that needs an entity let a caller in without one")
    return caller.channel


def reply_with(answer: answers.Answer) -> Reply:
    return Reply(answer.status, answer.body)


def see_other(url: str, *headers: tuple[bytes, bytes]) -> Reply:
    return Reply(303, b"", b"text/plain", ((b"location", url.encode()), *headers))


def redirect(base_url: str, head: Head) -> Reply:
    """307 to the same path at the https address; whatever is not a path of this host leads to its front page."""
    target = head.target if head.target.startswith(b"/") else b"/"
    return Reply(307, b"", b"text/plain", ((b"location", base_url.encode() + target),))


class RequestContext(msgspec.Struct):
    """The state of one request from its head to its answer."""

    trace: str
    ndc: str
    method: str
    path: str
    """The path as a log may show it."""
    operation: str = "unknown"
    is_for_any_origin: bool = False
    checkout_id: str = ""
    """The ndc of refusals of a checkout's form. This id is enough to pay the checkout, so no log shows it."""
    head: Head | None = None
    match: Match | None = None
    address: str = ""
    is_secure: bool = False
    body_bytes_max: int = 0
    credential: Credential | None = None
    """Found by the Authorization header, before the body is read."""
    began: float = 0.0
    warning: bytes = b""
    """The parameters that have no row in the catalogue; collected on a test host."""
    refused: Reply | None = None
    """The answer if the head alone was reason to refuse; the body is then not read."""
    counting: asyncio.Future[int] | None = None
    """The seconds that a guesser of tokens has to wait. Until it is known, `refused` is not the answer yet."""

    @property
    def refusal_ndc(self) -> str:
        """Returns the ndc of a refusal: the checkout's id for a payment form, the request's own trace otherwise."""
        return self.checkout_id or self.ndc
