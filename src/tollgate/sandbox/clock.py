"""The test clock: read it, or move it forward for every process of the host. It never goes back."""

from __future__ import annotations

import orjson

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.operations.app import App
from tollgate.store.opening import add_to_setting
from tollgate.values import SECOND, Fault, Instant, InvalidParameters, SystemClock, to_datetime
from tollgate.web import Access, Caller, Reply, Request, RouteRow
from tollgate.workers import CLOCK_OFFSET

_ADVANCE_S_MAX = 100 * 366 * 24 * 3600


async def read_clock(_request: Request, app: App) -> Reply:
    return _tell(app.clock.now())


async def advance_clock(request: Request, _caller: Caller, app: App) -> Reply:
    advance_s = _read_advance(request)
    offset = await add_to_setting(app.database, CLOCK_OFFSET, advance_s * SECOND)
    if isinstance(app.clock, SystemClock):
        app.clock.offset = offset
    return _tell(app.clock.now())


def _read_advance(request: Request) -> int:
    sent = [value for name, value in request.pairs if name == "advance"]
    if len(sent) != 1 or not sent[0].isascii() or not sent[0].isdigit() or int(sent[0]) > _ADVANCE_S_MAX:
        message = f"must be a whole number of seconds from 0 to {_ADVANCE_S_MAX}"
        raise InvalidParameters(
            get_result(codes.INVALID_PARAMETERS), [Fault("advance", message, sent[0] if sent else None)]
        )
    return int(sent[0])


def _tell(now: Instant) -> Reply:
    return Reply(200, orjson.dumps({"now": to_datetime(now).isoformat().replace("+00:00", "Z")}))


ROUTES = (
    RouteRow(
        method="GET",
        path="/sandbox/clock",
        operation="read_clock",
        summary="What time it is on this test host.",
        access=Access.OPEN,
        handler=read_clock,
    ),
    RouteRow(
        method="POST",
        path="/sandbox/clock",
        operation="advance_clock",
        summary="Move the time of this test host forward by `advance` seconds.",
        access=Access.TOKEN,
        handler=advance_clock,
    ),
)
