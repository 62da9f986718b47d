"""The one place where refusals become answers, and breakage a 500 with a trace to look for.

Handlers never catch.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Envelope, answer_refusal
from tollgate.store.database import Damaged, Unavailable
from tollgate.values import Clock, Overloaded, Refusal, TemporarilyUnavailable, TooMany, Unauthenticated, WrongMethod
from tollgate.web.request import Reply
from tollgate.web.visit import Visit

_log = logging.getLogger("tollgate.guard")

RETRY_AFTER_S = 5
"""How soon a client may try again while the database takes no writes."""

_CHALLENGE = b'Bearer realm="tollgate", error="invalid_token", error_description="Invalid Authorization header!"'


async def guard(work: Awaitable[Reply], visit: Visit, envelope: Envelope, clock: Clock) -> Reply:
    try:
        return await work
    except Refusal as refusal:
        return render_refusal(refusal, visit.refusal_ndc, envelope, clock)
    except (Unavailable, Damaged) as fault:
        # Nothing was begun: a payment that was started and could not be completed raises another exception.
        facts = {"ndc": visit.ndc, "operation": visit.operation, "why": str(fault)}
        _log.error("database unavailable", extra=facts)
        later = TemporarilyUnavailable(get_result(codes.UNAVAILABLE), RETRY_AFTER_S)
        return render_refusal(later, visit.ndc, envelope, clock)
    except Exception:
        return _answer_breakage(visit, envelope, clock)


def guard_head(check: Callable[[], None], visit: Visit, envelope: Envelope, clock: Clock) -> Reply | None:
    """Runs the check of a request's head, and returns the answer to one that does not pass."""
    try:
        check()
    except Refusal as refusal:
        return render_refusal(refusal, visit.refusal_ndc, envelope, clock)
    except Exception:
        return _answer_breakage(visit, envelope, clock)
    return None


def guard_upkeep(work: Callable[[], None]) -> bool:
    """Runs work that no request waits for; returns False, and logs the error, if it failed."""
    try:
        work()
    except Exception:
        _log.exception("breakage")
        return False
    return True


def _answer_breakage(visit: Visit, envelope: Envelope, clock: Clock) -> Reply:
    """Logs the exception that is being handled, and answers without its details."""
    _log.exception("breakage", extra={"ndc": visit.ndc, "operation": visit.operation})
    # The answer carries the ndc of the log line, by which an operator finds the reason.
    return render_refusal(Refusal(get_result(codes.INTERNAL_ERROR)), visit.ndc, envelope, clock)


def render_refusal(refusal: Refusal, ndc: str, envelope: Envelope, clock: Clock) -> Reply:
    answer = answer_refusal(refusal, envelope, ndc, clock.now())
    return Reply(answer.status, answer.body, headers=_headers_of(refusal), is_last=refusal.leaves_body_unread)


def _headers_of(refusal: Refusal) -> tuple[tuple[bytes, bytes], ...]:
    match refusal:
        case Unauthenticated():
            return ((b"www-authenticate", _CHALLENGE),)
        case TooMany() | Overloaded() | TemporarilyUnavailable():
            return ((b"retry-after", str(refusal.retry_after_s).encode()),)
        case WrongMethod():
            return ((b"allow", ", ".join(refusal.allowed).encode()),)
        case _:
            return ()
