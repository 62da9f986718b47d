"""Endpoints about the host itself: health, metrics, result codes. They are open to everyone who can reach it."""

import orjson

from tollgate.catalog import codes, results
from tollgate.contract.answers import encode_answer
from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, RouteRow, Routes, reply_with
from tollgate.web.telemetry import CONTENT_TYPE, render_metrics

_CODES = [{"code": row.code, "description": row.description} for row in results.RESULTS.values()]


ROUTES = Routes()


@ROUTES.add("GET", "/v1/resultcodes", "result_codes", Access.OPEN)
async def read_result_codes(request: Request, app: App) -> Reply:
    """Lists all result codes."""
    result = results.get_result(codes.REQUEST_SUCCEEDED)
    body = app.envelope.wrap(result, request.trace, app.clock.now(), resultCodes=_CODES)
    return reply_with(encode_answer(200, body))


@ROUTES.add("GET", "/healthz", "healthz", Access.OPEN, is_for_probes=True)
async def answer_alive(_request: Request, _app: App) -> Reply:
    """Tells that the process is alive."""
    return Reply(200, orjson.dumps({"status": "alive"}))


@ROUTES.add("GET", "/readyz", "readyz", Access.OPEN, is_for_probes=True)
async def answer_ready(_request: Request, app: App) -> Reply:
    """Tells whether the host takes payments: the database takes writes, and the host is not about to stop. A load
    balancer sends no requests here otherwise."""
    trouble = "the host is about to stop" if app.activity.is_draining else await app.database.find_trouble()
    if trouble is None:
        # Without Redis the host goes on, so it stays ready.
        counting = {} if app.shared is None else {"throttles": "shared" if app.shared.is_reached else "not shared"}
        return Reply(200, orjson.dumps({"status": "ready", **counting}))
    return Reply(503, orjson.dumps({"status": "not ready", "reason": trouble}))


async def answer_metrics(_request: Request, _app: App) -> Reply:
    """Returns counters and timings for Prometheus."""
    return Reply(200, render_metrics(), CONTENT_TYPE)


METRICS = RouteRow(
    method="GET",
    path="/metrics",
    operation="metrics",
    access=Access.OPEN,
    handler=answer_metrics,
)
"""Joined where metrics may be seen: on a test host's port, or alone on a port of its own."""


async def answer_name(_request: Request, _app: App) -> Reply:
    """Returns the name of the software, and nothing else."""
    return Reply(200, b"Tollgate\n", b"text/plain;charset=UTF-8")


NAME = RouteRow(method="GET", path="/", operation="host_name", access=Access.OPEN, handler=answer_name)
"""Joined on a live host; a test host has its front page there."""
