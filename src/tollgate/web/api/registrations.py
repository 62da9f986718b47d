"""The merchant's stored accounts: store one, read, change and remove it, pay with it, keep it longer.

What happens in between is told in `flows`.
"""

from __future__ import annotations

from tollgate.contract.accounts import find_wallet_call
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields
from tollgate.contract.registrations import answer_registration, check_alone, read_registration_order
from tollgate.flows.pay import show_registration
from tollgate.flows.registrations import deregister, extend_life, register, reregister
from tollgate.operations.app import App, Call
from tollgate.operations.registrations import open_wallet
from tollgate.values import to_datetime
from tollgate.web.api.changes import answer_once, change_named
from tollgate.web.api.payments import begin
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, reply_with

_PATH = "/v1/registrations"


async def create_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, _register, operation="registration")


async def _register(app: App, fields: Fields, call: Call) -> Answer:
    check_alone(fields)
    wallet = find_wallet_call(fields)
    order = read_registration_order(
        fields,
        call.channel,
        today=to_datetime(app.clock.now()).date(),
        is_live=app.is_live,
        opened=await open_wallet(app, call, wallet.wallet, wallet.token, echo=fields.echo) if wallet else None,
    )
    return await register(app, order, call)


async def read_registration(request: Request, caller: Caller, app: App) -> Reply:
    registration = await show_registration(app, caller.merchant_id, request.names[0])
    return reply_with(answer_registration(registration, app.envelope))


async def update_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(request, caller, app, _name(request), reregister, operation="registration_update")


async def delete_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(request, caller, app, _name(request), deregister, operation="registration_removal")


async def extend_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await change_named(
        request, caller, app, _name(request, "/extendlife"), extend_life, operation="registration_extension"
    )


async def pay_registration(request: Request, caller: Caller, app: App) -> Reply:
    return await begin(request, caller, app, "registration_payment", _name(request, "/payments"), request.names[0])


def _name(request: Request, suffix: str = "") -> str:
    return f"{_PATH}/{request.names[0]}{suffix}"


ROUTES = (
    RouteRow(
        method="POST",
        path="/v1/registrations",
        operation="create_registration",
        summary="Store an account without a payment (RG); the answer's `id` pays from then on.",
        access=Access.ENTITY,
        handler=create_registration,
    ),
    RouteRow(
        method="GET",
        path="/v1/registrations/{id}",
        operation="read_registration",
        summary="Read a registration; 404 where there is none.",
        access=Access.TOKEN,
        handler=read_registration,
    ),
    RouteRow(
        method="GET",
        path="/v1/secureRegistrations/{id}",
        operation="read_secure_registration",
        summary="The same at the address that some clients ask.",
        access=Access.TOKEN,
        handler=read_registration,
    ),
    RouteRow(
        method="POST",
        path="/v1/registrations/{id}",
        operation="update_registration",
        summary="Change what is known of a stored account (RR), or confirm one that waits for it (CF).",
        access=Access.ENTITY,
        handler=update_registration,
    ),
    RouteRow(
        method="DELETE",
        path="/v1/registrations/{id}",
        operation="delete_registration",
        summary="Remove a stored account (DR): it is wiped, and its schedules end.",
        access=Access.ENTITY,
        handler=delete_registration,
    ),
    RouteRow(
        method="POST",
        path="/v1/registrations/{id}/payments",
        operation="pay_registration",
        summary="Pay with a stored account: PA, DB, CD or PA.CP.",
        access=Access.ENTITY,
        handler=pay_registration,
    ),
    RouteRow(
        method="POST",
        path="/v1/registrations/{id}/extendlife",
        operation="extend_registration",
        summary="Keep a stored account longer (TE); the answer says until when.",
        access=Access.ENTITY,
        handler=extend_registration,
    ),
)
