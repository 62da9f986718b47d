"""The merchant's schedules: make one, replace or end it, read it and its runs.

What happens in between is told in `flows`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tollgate.catalog import Situation
from tollgate.contract import DESCHEDULES, RESCHEDULES, SCHEDULES, Answer, Fields, read_fields
from tollgate.flows import create_schedule, deschedule, find_earlier_answer, make_claim, reschedule, show_schedule
from tollgate.payments import Channel, Claim
from tollgate.steps import House
from tollgate.web.api.payments import read_key, replay
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with

_PATH = "/scheduling/v1/schedules"
_OLDER_PATH = "/v1/schedules"
_OPERATION = "schedule"
_Story = Callable[[Fields, Claim | None], Awaitable[Answer]]
_Change = Callable[[House, Fields, str, Channel, str, Claim | None], Awaitable[Answer]]


async def make_schedule(request: Request, caller: Caller, house: House) -> Reply:
    async def make(fields: Fields, claim: Claim | None) -> Answer:
        return await create_schedule(house, fields, get_channel(caller), caller.ndc, claim)

    return await _answer_once(request, caller, house, SCHEDULES, _PATH, make)


async def replace_schedule(request: Request, caller: Caller, house: House) -> Reply:
    return await _change(request, caller, house, RESCHEDULES, reschedule)


async def end_schedule(request: Request, caller: Caller, house: House) -> Reply:
    return await _change(request, caller, house, DESCHEDULES, deschedule)


async def read_schedule(request: Request, caller: Caller, house: House) -> Reply:
    return reply_with(await show_schedule(house, caller.merchant_id, request.names[0], caller.ndc))


async def _change(request: Request, caller: Caller, house: House, kind: str, change: _Change) -> Reply:
    named_id = request.names[0]

    async def tell(fields: Fields, claim: Claim | None) -> Answer:
        return await change(house, fields, named_id, get_channel(caller), caller.ndc, claim)

    return await _answer_once(request, caller, house, kind, f"{_PATH}/{named_id}/{kind}", tell)


async def _answer_once(request: Request, caller: Caller, house: House, kind: str, path: str, story: _Story) -> Reply:
    """An answer without a code was kept for its key by a request that came at the same time."""
    channel = get_channel(caller)
    fields = read_fields(request.pairs, Situation(_OPERATION, kind, channel.is_lenient, house.is_live))
    claim = make_claim(house, read_key(request), channel, request.method, path, fields)
    answer = await find_earlier_answer(house, claim) or await story(fields, claim)
    return reply_with(answer) if answer.code else replay(answer)


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
