"""What the host says of itself: alive, ready, its counters, its result codes. Open to everyone who can reach it."""

from __future__ import annotations

import orjson

from tollgate.catalog import codes
from tollgate.catalog.results import RESULTS, get_result
from tollgate.contract.answers import encode_answer
from tollgate.operations.app import App
from tollgate.web.metrics import CONTENT_TYPE, render_metrics
from tollgate.web.request import Access, Reply, Request, RouteRow, reply_with

_CODES = [{"code": row.code, "description": row.description} for row in RESULTS.values()]


async def read_result_codes(request: Request, app: App) -> Reply:
    result = get_result(codes.REQUEST_SUCCEEDED)
    body = app.envelope.wrap(result, request.trace, app.clock.now(), resultCodes=_CODES)
    return reply_with(encode_answer(200, body))


async def tell_alive(_request: Request, _app: App) -> Reply:
    return Reply(200, orjson.dumps({"status": "alive"}))


async def tell_ready(_request: Request, app: App) -> Reply:
    """Ready means that the database takes writes; a load balancer sends nobody here while it does not."""
    trouble = await app.database.find_trouble()
    if trouble is None:
        return Reply(200, orjson.dumps({"status": "ready"}))
    return Reply(503, orjson.dumps({"status": "not ready", "reason": trouble}))


async def tell_metrics(_request: Request, _app: App) -> Reply:
    return Reply(200, render_metrics(), CONTENT_TYPE)


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/resultcodes",
        operation="result_codes",
        summary="The whole catalogue of result codes.",
        access=Access.OPEN,
        handler=read_result_codes,
    ),
    RouteRow(
        method="GET",
        path="/healthz",
        operation="healthz",
        summary="Is the process alive?",
        access=Access.OPEN,
        handler=tell_alive,
        is_for_probes=True,
    ),
    RouteRow(
        method="GET",
        path="/readyz",
        operation="readyz",
        summary="Can it take payments?",
        access=Access.OPEN,
        handler=tell_ready,
        is_for_probes=True,
    ),
)

METRICS = RouteRow(
    method="GET",
    path="/metrics",
    operation="metrics",
    summary="Counters and timings for Prometheus.",
    access=Access.OPEN,
    handler=tell_metrics,
)
"""Joined where metrics may be seen: on a test host's port, or alone on a port of its own."""
