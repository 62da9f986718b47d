"""The one place where refusals become answers and breakage becomes a 500 with a trace to look for.

Handlers never catch.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from tollgate.catalog import get_result
from tollgate.contract import Envelope, answer_refusal
from tollgate.values import Clock, Overloaded, Refusal, TooMany, Unauthenticated, WrongMethod
from tollgate.web.body import Gone
from tollgate.web.request import Reply
from tollgate.web.visit import Visit

_log = logging.getLogger("tollgate.guard")

_CHALLENGE = b'Bearer realm="tollgate", error="invalid_token", error_description="Invalid Authorization header!"'


async def guard(work: Awaitable[Reply], visit: Visit, envelope: Envelope, clock: Clock) -> Reply | None:
    """None when the caller has gone and nobody waits for an answer."""
    try:
        return await work
    except Refusal as refusal:
        return render_refusal(refusal, visit, envelope, clock)
    except Gone:
        return None
    except Exception:
        _log.exception("breakage", extra={"ndc": visit.ndc, "operation": visit.operation})
        return render_refusal(Refusal(get_result("999.999.999")), visit, envelope, clock)


def render_refusal(refusal: Refusal, visit: Visit, envelope: Envelope, clock: Clock) -> Reply:
    answer = answer_refusal(refusal, envelope, visit.ndc, clock.now())
    return Reply(answer.status, answer.body, headers=_headers_of(refusal))


def _headers_of(refusal: Refusal) -> tuple[tuple[bytes, bytes], ...]:
    closing = ((b"connection", b"close"),) if refusal.leaves_body_unread else ()
    match refusal:
        case Unauthenticated():
            return ((b"www-authenticate", _CHALLENGE), *closing)
        case TooMany() | Overloaded():
            return ((b"retry-after", str(refusal.retry_after_s).encode()), *closing)
        case WrongMethod():
            return ((b"allow", ", ".join(refusal.allowed).encode()), *closing)
        case _:
            return closing
