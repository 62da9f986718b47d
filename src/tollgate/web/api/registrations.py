"""Endpoints of registrations, their schedules and their network tokens.

What a change does is decided in `flows`.
"""

from __future__ import annotations

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.contract.accounts import find_wallet_call
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields
from tollgate.contract.registrations import answer_registration, check_alone, read_registration_order
from tollgate.contract.schedules import DESCHEDULES, RESCHEDULES, SCHEDULES
from tollgate.flows.pay import show_registration
from tollgate.flows.registrations import deregister, extend_life, register, reregister
from tollgate.flows.schedules import create_schedule, deschedule, reschedule, show_schedule
from tollgate.flows.tokenize import accept_token_event
from tollgate.operations.app import App, Call
from tollgate.operations.registrations import open_wallet
from tollgate.values import NotFound
from tollgate.web.api.payments import Change, answer_once, begin, change_named
from tollgate.web.request import Access, Caller, Reply, Request, Routes, reply_with

_PATH = "/v1/registrations"


ROUTES = Routes()


@ROUTES.add(
    "POST",
    "/v1/registrations",
    "create_registration",
    "Store an account without a payment (RG); the answer's `id` pays from then on.",
)
async def create_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, _register, operation="create_registration")


async def _register(app: App, fields: Fields, call: Call) -> Answer:
    check_alone(fields)
    wallet = find_wallet_call(fields)
    order = read_registration_order(
        fields,
        call.channel,
        today=app.today,
        is_live=app.is_live,
        opened=await open_wallet(app, call, wallet.wallet, wallet.token, echo=fields.echo) if wallet else None,
    )
    return await register(app, order, call)


@ROUTES.add(
    "GET",
    "/v1/secureRegistrations/{id}",
    "read_secure_registration",
    "The same at the address that some clients ask.",
    Access.TOKEN,
)
@ROUTES.add(
    "GET", "/v1/registrations/{id}", "read_registration", "Read a registration; 404 where there is none.", Access.TOKEN
)
async def read_registration(request: Request, caller: Caller, app: App) -> Reply:
    registration = await show_registration(app, caller.merchant_id, request.names[0])
    return reply_with(answer_registration(registration, app.envelope))


@ROUTES.add(
    "POST",
    "/v1/registrations/{id}",
    "update_registration",
    "Change what is known of a stored account (RR), or confirm one that waits for it (CF).",
)
async def update_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(request, caller, app, _make_path(request), reregister, operation="update_registration")


@ROUTES.add(
    "DELETE",
    "/v1/registrations/{id}",
    "delete_registration",
    "Remove a stored account (DR): it is wiped, and its schedules end.",
)
async def delete_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(request, caller, app, _make_path(request), deregister, operation="delete_registration")


@ROUTES.add(
    "POST",
    "/v1/registrations/{id}/extendlife",
    "extend_registration",
    "Keep a stored account longer (TE); the answer says until when.",
)
async def extend_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(
        request, caller, app, _make_path(request, "/extendlife"), extend_life, operation="extend_registration"
    )


@ROUTES.add(
    "POST", "/v1/registrations/{id}/payments", "pay_registration", "Pay with a stored account: PA, DB, CD or PA.CP."
)
async def pay_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await begin(request, caller, app, "pay_registration", _make_path(request, "/payments"), request.names[0])


def _make_path(request: Request, suffix: str = "") -> str:
    return f"{_PATH}/{request.names[0]}{suffix}"


_SCHEDULES_PATH = "/scheduling/v1/schedules"
_OLDER_PATH = "/v1/schedules"
_SCHEDULE = "schedule"


@ROUTES.add("POST", _OLDER_PATH, _SCHEDULE, "The older path to have a registration charged by a plan (SD).")
@ROUTES.add(
    "POST",
    _SCHEDULES_PATH,
    _SCHEDULE,
    "Have a registration charged by a plan (SD): `registrationId`, an amount and `job.*`.",
)
async def make_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(
        request, caller, app, _SCHEDULES_PATH, create_schedule, operation=_SCHEDULE, payment_type=SCHEDULES
    )


@ROUTES.add(
    "POST",
    f"{_SCHEDULES_PATH}/{{id}}/reschedule",
    "reschedule",
    "Replace a schedule (RS): another plan, amount or registration; its answer has the new id.",
)
async def replace_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await _change(request, caller, app, RESCHEDULES, reschedule)


@ROUTES.add("DELETE", f"{_OLDER_PATH}/{{id}}", "delete_schedule", "The older path to end a schedule (DS).")
@ROUTES.add(
    "POST", f"{_SCHEDULES_PATH}/{{id}}/deschedule", "deschedule", "End a schedule (DS), named by any id of its series."
)
async def end_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return await _change(request, caller, app, DESCHEDULES, deschedule)


@ROUTES.add(
    "GET",
    f"{_SCHEDULES_PATH}/{{id}}",
    "read_schedule",
    "Read a schedule and its latest runs, or all schedules of a registration; 404 where there is none.",
    Access.TOKEN,
)
async def read_schedule(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await show_schedule(app, caller.merchant_id, request.names[0], caller.ndc))


async def _change(request: Request, caller: Caller, app: App, payment_type: str, change: Change) -> Reply:
    path = f"{_SCHEDULES_PATH}/{request.names[0]}/{payment_type}"
    return await change_named(request, caller, app, path, change, operation=_SCHEDULE, payment_type=payment_type)


@ROUTES.add(
    "POST",
    "/v1/networkTokens/events/{ticket}",
    "take_token_event",
    "A token vault tells that something happened to the network token of a stored card.",
    Access.OPEN,
    hides_path=True,
    takes_bytes=True,
)
async def take_token_event(request: Request, app: App) -> Reply:
    """Who does not know the address is told no more than who invents a path."""
    if not await accept_token_event(app, request.names[0], request.body):
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such path")
    return Reply(200, b"{}")
