"""The merchant's schedules: make one, replace or end it, read it and its runs.

What happens in between is told in `flows`.
"""

from __future__ import annotations

from tollgate.contract.schedules import DESCHEDULES, RESCHEDULES, SCHEDULES
from tollgate.flows.schedules import create_schedule, deschedule, reschedule, show_schedule
from tollgate.operations.app import App
from tollgate.web.api.changes import Change, answer_once, change_named
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, reply_with

_PATH = "/scheduling/v1/schedules"
_OLDER_PATH = "/v1/schedules"
_OPERATION = "schedule"


async def make_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, create_schedule, operation=_OPERATION, payment_type=SCHEDULES)


async def replace_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await _change(request, caller, app, RESCHEDULES, reschedule)


async def end_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await _change(request, caller, app, DESCHEDULES, deschedule)


async def read_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await show_schedule(app, caller.merchant_id, request.names[0], caller.ndc))


async def _change(request: Request, caller: Caller, app: App, payment_type: str, change: Change) -> Reply:
    path = f"{_PATH}/{request.names[0]}/{payment_type}"
    return await change_named(request, caller, app, path, change, operation=_OPERATION, payment_type=payment_type)


ROUTES = (
    RouteRow(
        method="POST",
        path=_PATH,
        operation=_OPERATION,
        summary="Have a registration charged by a plan (SD): `registrationId`, an amount and `job.*`.",
        access=Access.ENTITY,
        handler=make_schedule,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}",
        operation="read_schedule",
        summary="Read a schedule and its latest runs, or all schedules of a registration; 404 where there is none.",
        access=Access.TOKEN,
        handler=read_schedule,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}/reschedule",
        operation="reschedule",
        summary="Replace a schedule (RS): another plan, amount or registration; its answer has the new id.",
        access=Access.ENTITY,
        handler=replace_schedule,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}/deschedule",
        operation="deschedule",
        summary="End a schedule (DS), named by any id of its series.",
        access=Access.ENTITY,
        handler=end_schedule,
    ),
    RouteRow(
        method="POST",
        path=_OLDER_PATH,
        operation=_OPERATION,
        summary="The older path to have a registration charged by a plan (SD).",
        access=Access.ENTITY,
        handler=make_schedule,
    ),
    RouteRow(
        method="DELETE",
        path=f"{_OLDER_PATH}/{{id}}",
        operation="delete_schedule",
        summary="The older path to end a schedule (DS).",
        access=Access.ENTITY,
        handler=end_schedule,
    ),
)
