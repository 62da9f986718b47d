"""Answers requests: finds the route, authenticates and throttles the caller, runs the handler.

Refusals and breakage become answers here and nowhere else.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing
from functools import partial
from time import perf_counter
from typing import cast

import msgspec

from tollgate import values
from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.catalog.throttles import WRONG_TOKEN
from tollgate.contract import answers, fields
from tollgate.operations.app import App
from tollgate.operations.reach import check_reach
from tollgate.store.database import Damaged, Unavailable
from tollgate.web import parsing, routes
from tollgate.web.callers import Proxies, find_credential, get_network, list_named, recognise
from tollgate.web.dispatching import dispatch_caller
from tollgate.web.request import Access, Handler, OpenHandler, Reply, Request, RequestContext, RouteRow, redirect
from tollgate.web.telemetry import HEADER, count_request, log_access, warn_of_unknown
from tollgate.web.throttling import Throttles, refuse

_log = logging.getLogger("tollgate.guard")

RETRY_AFTER_S = 5
"""Seconds after which a client may try again while the database takes no writes."""

_CHALLENGE = b'Bearer realm="tollgate", error="invalid_token", error_description="Invalid Authorization header!"'


async def guard(
    work: Awaitable[Reply], context: RequestContext, envelope: answers.Envelope, clock: values.Clock
) -> Reply:
    try:
        return await work
    except values.Refusal as refusal:
        return render_refusal(refusal, context.refusal_ndc, envelope, clock)
    except (Unavailable, Damaged) as fault:
        # Nothing was begun: a payment that was started and could not be completed raises another exception.
        facts = {"ndc": context.ndc, "operation": context.operation, "why": str(fault)}
        _log.error("database unavailable", extra=facts)
        later = values.TemporarilyUnavailable(get_result(codes.UNAVAILABLE), RETRY_AFTER_S)
        return render_refusal(later, context.ndc, envelope, clock)
    except Exception:
        return _answer_breakage(context, envelope, clock)


def guard_head(
    check: Callable[[], None], context: RequestContext, envelope: answers.Envelope, clock: values.Clock
) -> Reply | None:
    """Runs the check of a request's head, and returns the answer to one that does not pass."""
    try:
        check()
    except values.Refusal as refusal:
        return render_refusal(refusal, context.refusal_ndc, envelope, clock)
    except Exception:
        return _answer_breakage(context, envelope, clock)
    return None


class BrokenStream(Exception):
    """A body ended in the middle, and the reason is logged; the client must not take it for a whole one."""


async def guard_chunks(chunks: AsyncGenerator[bytes, None], context: RequestContext) -> AsyncGenerator[bytes, None]:
    """Yields the parts of a body; an error in the middle is logged and ends it, because its head is sent already."""
    async with aclosing(chunks):
        try:
            async for chunk in chunks:
                yield chunk
        except Exception:
            _log.exception("unhandled error", extra={"ndc": context.ndc, "operation": context.operation})
            raise BrokenStream from None


def guard_upkeep(work: Callable[[], None]) -> bool:
    """Runs work that no request waits for; returns False, and logs the error, if it failed."""
    try:
        work()
    except Exception:
        _log.exception("unhandled error")
        return False
    return True


def _answer_breakage(context: RequestContext, envelope: answers.Envelope, clock: values.Clock) -> Reply:
    """Logs the exception that is being handled, and answers without its details."""
    _log.exception("unhandled error", extra={"ndc": context.ndc, "operation": context.operation})
    # The answer carries the ndc of the log line, by which an operator finds the reason.
    return render_refusal(values.Refusal(get_result(codes.INTERNAL_ERROR)), context.ndc, envelope, clock)


def render_refusal(refusal: values.Refusal, ndc: str, envelope: answers.Envelope, clock: values.Clock) -> Reply:
    answer = answers.answer_refusal(refusal, envelope, ndc, clock.now())
    return Reply(answer.status, answer.body, headers=_headers_of(refusal), is_last=refusal.leaves_body_unread)


def _headers_of(refusal: values.Refusal) -> tuple[tuple[bytes, bytes], ...]:
    match refusal:
        case values.Unauthenticated():
            return ((b"www-authenticate", _CHALLENGE),)
        case values.TooMany() | values.Overloaded() | values.TemporarilyUnavailable():
            return ((b"retry-after", str(refusal.retry_after_s).encode()),)
        case values.WrongMethod():
            return ((b"allow", ", ".join(refusal.allowed).encode()),)
        case _:
            return ()


# Bound once, because looking a member up in its enumeration takes as long as a call.
_OPEN = Access.OPEN
_DECISIVE_HEADERS = frozenset({b"authorization", b"idempotency-key", b"content-type", b"host"})


class Gateway:
    def __init__(
        self,
        app: App,
        rows: Iterable[RouteRow],
        throttles: Throttles,
        proxies: Proxies | None = None,
        *,
        requires_tls: bool = False,
    ) -> None:
        self._app = app
        self._routes = routes.RouteTable(routes.open_to_all_origins(rows))
        self._throttles = throttles
        self._proxies = proxies or Proxies()
        self._requires_tls = requires_tls
        self._in_flight = 0

    def admit(self, head: parsing.Head, peer: str, *, is_secure: bool) -> RequestContext:
        """Decides by the head alone whether the body is read."""
        trace = self._app.random_bytes(16).hex()
        context = RequestContext(
            trace, trace, head.method, self._routes.hide(head.path), head=head, began=perf_counter()
        )
        self._in_flight += 1
        self._app.activity.requests += 1
        check = partial(self._check_head, context, head, peer, is_secure=is_secure)
        reply = guard_head(check, context, self._app.envelope, self._app.clock)
        if reply is not None:
            context.refused = _open_to_origins(reply) if context.is_for_any_origin else reply
        return context

    async def answer(self, context: RequestContext, body: bytes) -> Reply:
        reply = await guard(self._answer(context, body), context, self._app.envelope, self._app.clock)
        if reply.chunks is not None:
            reply = msgspec.structs.replace(reply, chunks=guard_chunks(reply.chunks, context))
        if context.warning:
            reply = msgspec.structs.replace(reply, headers=(*reply.headers, (HEADER, context.warning)))
        return _open_to_origins(reply) if context.is_for_any_origin else reply

    def refuse(self, refusal: values.Refusal, context: RequestContext | None) -> Reply:
        ndc = context.refusal_ndc if context else self._app.random_bytes(16).hex()
        reply = render_refusal(refusal, ndc, self._app.envelope, self._app.clock)
        if context is None:
            # No request was read, so `conclude` is not called.
            count_request("unknown", reply.status, 0.0)
            return reply
        return _open_to_origins(reply) if context.is_for_any_origin else reply

    def conclude(self, context: RequestContext, reply: Reply | None) -> None:
        self._in_flight -= 1
        self._app.activity.requests -= 1
        if reply is None:
            return
        seconds = perf_counter() - context.began
        count_request(context.operation, reply.status, seconds)
        log_access(context, reply.status, seconds)
        if context.credential is not None and context.method == "POST":
            self._note(context, reply.status, seconds)

    def _note(self, context: RequestContext, status: int, seconds: float) -> None:
        """Keeps the line of a request that may have made a payment, for the payment's page."""
        facts = {"event": "request", "path": context.path, "status": status, "ms": round(seconds * 1000, 2)}
        self._app.journal.note_line(self._app.clock.now(), context.ndc, facts)

    def _check_head(self, context: RequestContext, head: parsing.Head, peer: str, *, is_secure: bool) -> None:
        context.body_bytes_max = LIMITS.body_bytes_max
        origin = self._proxies.get_request_origin(head, peer, is_secure=is_secure)
        context.address, context.is_secure = origin.address, origin.is_secure
        is_plain = self._requires_tls and not origin.is_secure
        if is_plain and not origin.is_through_proxy:
            raise values.Forbidden(
                get_result(codes.UNAUTHENTICATED), "this host is reached by https, through its proxy"
            )
        match = context.match = self._routes.find(context.method, head.path)
        row = match.row
        context.operation, context.is_for_any_origin = row.operation, row.is_for_any_origin
        if row.traces_checkout and values.find_node(match.names[0]) is not None:
            context.checkout_id = match.names[0]
        if is_plain and not row.is_for_probes:
            context.refused = redirect(self._app.base_url, head)
            return
        # After the row is known, so that a shop's script can read that it shall come back.
        if self._in_flight > LIMITS.requests_in_flight_max:
            raise values.Overloaded(get_result(codes.UNAVAILABLE), retry_after_s=1)
        _check_repeated(head)
        self._check_right_to_send(context, head, row)

    def _check_right_to_send(self, context: RequestContext, head: parsing.Head, row: RouteRow) -> None:
        """Refuses a large body unless the header has a known token, before anything of the body is read."""
        if row.large_body is not None and row.large_body.may_send(head, self._app):
            context.body_bytes_max = row.large_body.bytes_max
            if head.body_length > context.body_bytes_max:
                raise parsing.make_body_too_large(context.body_bytes_max)
            return
        if head.body_length > LIMITS.body_bytes_max:
            raise parsing.make_body_too_large(LIMITS.body_bytes_max)
        if row.access is not _OPEN:
            try:
                context.credential = find_credential(
                    head.headers.get(b"authorization"), self._app.merchants, self._app.clock.now()
                )
            except values.WrongToken:
                # It is counted from now on, whatever comes of the body, and answered when its number is known.
                context.counting = asyncio.ensure_future(self._count_guess(context))
                raise
        if context.credential is not None:
            return
        context.body_bytes_max = LIMITS.unauthorized_body_bytes_max
        if head.body_length <= context.body_bytes_max:
            return
        if row.access is _OPEN:
            raise parsing.make_body_too_large(context.body_bytes_max)
        detail = f"a body of more than {context.body_bytes_max} bytes needs an Authorization header"
        raise values.Unauthenticated(get_result(codes.UNAUTHENTICATED), detail)

    def _count_guess(self, context: RequestContext) -> Coroutine[None, None, int]:
        """Counts wrong tokens alone, so that a merchant in the same network as a guesser is served as before."""
        return self._throttles.count(WRONG_TOKEN, get_network(context.address), None)

    async def _answer(self, context: RequestContext, body: bytes) -> Reply:
        head, match = context.head, context.match
        if head is None or match is None:
            raise LookupError("a request was answered before its head was admitted")
        if context.counting is not None:
            refuse(await context.counting)
            raise values.WrongToken(get_result(codes.UNAUTHENTICATED))
        row = match.row
        request = Request(
            method=context.method,
            path=row.path if head.path == row.path else "/" + "/".join(filter(None, head.path.split("/"))),
            names=match.names,
            headers=head.headers,
            pairs=[] if row.takes_bytes else _read_pairs(row.method, head.headers, head.query, body),
            trace=context.trace,
            operation=row.operation,
            address=context.address,
            body=body if row.takes_bytes else b"",
            target=head.target,
        )
        if row.access is _OPEN:
            await self._throttles.check(row.operation, get_network(request.address), None)
            self._warn(request, row, context)
            return await cast(OpenHandler, row.handler)(request, self._app)
        try:
            caller = recognise(request, row.access, self._app.merchants, context.credential, self._app.clock.now())
        except values.WrongToken:
            refuse(await self._count_guess(context))
            raise
        context.ndc = caller.ndc
        if self._app.card_testing is not None:
            self._app.card_testing.note_server(caller.merchant_id, request.address)
        named_id = match.names[0] if match.names else None
        if caller.is_dispatched:
            try:
                caller = await dispatch_caller(request, caller, self._app)
            except values.Refusal:
                # It has no channel for which it could be counted.
                await self._throttles.check(row.operation, caller.merchant_id, named_id)
                raise
            context.ndc = caller.ndc
        who = caller.channel.id if caller.channel else caller.merchant_id
        await self._throttles.check(row.operation, who, named_id)
        self._warn(request, row, context)
        if caller.channel_ids:
            await check_reach(self._app, caller.merchant_id, caller.channel_ids, list_named(request))
        return await cast(Handler, row.handler)(request, caller, self._app)

    def _warn(self, request: Request, row: RouteRow, context: RequestContext) -> None:
        if not self._app.is_live:
            context.warning = warn_of_unknown(request.pairs, row, context)


def _open_to_origins(reply: Reply) -> Reply:
    return msgspec.structs.replace(reply, headers=(*reply.headers, *routes.ANY_ORIGIN))


def _check_repeated(head: parsing.Head) -> None:
    """Refuses a repeated header that decides about the request, because a proxy might read the other one."""
    for name in head.repeated & _DECISIVE_HEADERS if head.repeated else ():
        raise values.Refusal(
            get_result(codes.MALFORMED_REQUEST), f"the {name.decode().title()} header must not be repeated"
        )


def _read_pairs(method: str, headers: Mapping[bytes, bytes], query: bytes, body: bytes) -> fields.Pairs:
    """Reads the pairs of a request: a POST sends them in its body, and only the caller's identity in its query."""
    sent_in_query = fields.read_form(query)
    if method != "POST":
        return sent_in_query + fields.read_form(body) if method == "DELETE" else sent_in_query
    if body:
        parsing.check_form_type(headers)
    return [pair for pair in sent_in_query if fields.is_identity_name(pair[0])] + fields.read_form(body)
