"""The ASGI application of the API: finds the route, recognises the caller, throttles, lets the handler answer.

Knows no payment.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, cast

from tollgate.catalog import LIMITS, get_result
from tollgate.contract import Pairs, is_identity_name, read_form
from tollgate.steps import House
from tollgate.values import Overloaded, Refusal
from tollgate.web.access import tell_access
from tollgate.web.addresses import name_network, read_address
from tollgate.web.auth import recognise
from tollgate.web.body import Receive, check_form_type, read_body
from tollgate.web.guard import guard
from tollgate.web.metrics import count_request
from tollgate.web.origins import ANY_ORIGIN, open_to_all_origins
from tollgate.web.protocol import is_whole
from tollgate.web.request import Access, Handler, OpenHandler, Reply, Request, RouteRow
from tollgate.web.routes import RouteTable
from tollgate.web.throttle import Throttles
from tollgate.web.visit import Visit

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_FIXED_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_FRESH_HEADERS = [
    (b"cache-control", b"max-age=0, no-cache, no-store"),
    (b"pragma", b"no-cache"),
]
_DECISIVE_HEADERS = (b"authorization", b"idempotency-key", b"content-type")
_NOBODY = ("", 0)
_TLS_HEADER = (b"strict-transport-security", b"max-age=63072000; includeSubDomains")


class Gateway:
    def __init__(self, house: House, rows: Iterable[RouteRow], throttles: Throttles) -> None:
        self._house = house
        self._routes = RouteTable(open_to_all_origins(rows))
        self._throttles = throttles
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"this application speaks HTTP, not {scope['type']}")
        await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        trace = self._house.chance(16).hex()
        visit = Visit(trace, trace, scope["method"], self._routes.hide(scope["path"]))
        self._in_flight += 1
        try:
            reply = await guard(self._answer(scope, receive, visit), visit, self._house.envelope, self._house.clock)
        finally:
            self._in_flight -= 1
        if reply is None:
            return
        await _send_reply(reply, scope["scheme"], send, ANY_ORIGIN if visit.is_for_any_origin else ())
        seconds = perf_counter() - began
        count_request(visit.operation, reply.status, seconds)
        tell_access(visit, reply.status, seconds)

    async def _answer(self, scope: Scope, receive: Receive, visit: Visit) -> Reply:
        match = self._routes.find(visit.method, scope["path"])
        row = match.row
        visit.operation, visit.is_for_any_origin = row.operation, row.is_for_any_origin
        # After the row is known, so that a shop's script can read that it shall come back.
        if self._in_flight > LIMITS.requests_in_flight_max:
            raise Overloaded(get_result("800.800.800"), retry_after_s=1)
        headers = _read_headers(scope["headers"])
        body = await read_body(headers, receive, is_whole=is_whole(scope))
        request = Request(
            method=visit.method,
            path=visit.path,
            names=match.names,
            headers=headers,
            pairs=[] if row.takes_bytes else _read_pairs(visit.method, headers, scope["query_string"], body),
            trace=visit.trace,
            address=read_address((scope.get("client") or _NOBODY)[0]),
            body=body if row.takes_bytes else b"",
        )
        if row.access is Access.OPEN:
            self._throttles.check(row.operation, name_network(request.address), None)
            return await cast(OpenHandler, row.handler)(request, self._house)
        caller = recognise(request, row.access, self._house.directory)
        visit.ndc = caller.ndc
        counted = caller.channel.id if caller.channel else caller.merchant_id
        self._throttles.check(row.operation, counted, match.names[0] if match.names else None)
        return await cast(Handler, row.handler)(request, caller, self._house)


def _read_headers(sent: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """A header that decides who asks, or for what, is sent once: of two, a proxy might read the other."""
    headers = dict(sent)
    if len(headers) != len(sent):
        names = [name for name, _ in sent]
        for name in _DECISIVE_HEADERS:
            if names.count(name) > 1:
                raise Refusal(get_result("200.100.103"), f"the {name.decode().title()} header must not be repeated")
    return headers


def _read_pairs(method: str, headers: Mapping[bytes, bytes], query: bytes, body: bytes) -> Pairs:
    """A POST's data comes in its body; of its query only the caller's identity counts.

    GET and DELETE speak by query.
    """
    sent_in_query = read_form(query)
    if method != "POST":
        return sent_in_query + read_form(body) if method == "DELETE" else sent_in_query
    if body:
        check_form_type(headers)
    return [pair for pair in sent_in_query if is_identity_name(pair[0])] + read_form(body)


async def _send_reply(reply: Reply, scheme: str, send: Send, more: Sequence[tuple[bytes, bytes]]) -> None:
    headers = [
        (b"content-type", reply.content_type),
        (b"content-length", str(len(reply.body)).encode()),
        *_FIXED_HEADERS,
        *reply.headers,
        *more,
    ]
    # Nothing is kept by anybody on the way, unless the answer itself says that it may be.
    if not any(name == b"cache-control" for name, _ in reply.headers):
        headers += _FRESH_HEADERS
    if scheme == "https":
        headers.append(_TLS_HEADER)
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
