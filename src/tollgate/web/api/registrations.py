"""The merchant's stored accounts: store one, read, change and remove it, pay with it, keep it longer.

What happens in between is told in `flows`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tollgate.catalog import Situation
from tollgate.contract import (
    Answer,
    Fields,
    answer_registration,
    check_alone,
    find_wallet_call,
    read_fields,
    read_registration_order,
)
from tollgate.flows import (
    deregister,
    extend_life,
    find_earlier_answer,
    make_claim,
    register,
    reregister,
    show_registration,
)
from tollgate.payments import Channel, Claim
from tollgate.steps import House, open_wallet
from tollgate.values import to_datetime
from tollgate.web.api.payments import begin, read_key, replay
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with

_PATH = "/v1/registrations"
_Story = Callable[[Fields, Claim | None], Awaitable[Answer]]
_Change = Callable[[House, Fields, str, Channel, str, Claim | None], Awaitable[Answer]]


async def create_registration(request: Request, caller: Caller, house: House) -> Reply:
    channel = get_channel(caller)

    async def store(fields: Fields, claim: Claim | None) -> Answer:
        check_alone(fields)
        call = find_wallet_call(fields)
        order = read_registration_order(
            fields,
            channel,
            today=to_datetime(house.clock.now()).date(),
            is_live=house.is_live,
            opened=await open_wallet(house, channel, call.wallet, call.token, claim) if call else None,
        )
        return await register(house, order, channel, caller.ndc, claim)

    return await _answer_once(request, caller, house, "registration", _PATH, store)


async def read_registration(request: Request, caller: Caller, house: House) -> Reply:
    registration = await show_registration(house, caller.merchant_id, request.names[0])
    return reply_with(answer_registration(registration, house.envelope))


async def update_registration(request: Request, caller: Caller, house: House) -> Reply:
    return await _change(request, caller, house, "registration_update", "", reregister)


async def delete_registration(request: Request, caller: Caller, house: House) -> Reply:
    return await _change(request, caller, house, "registration_removal", "", deregister)


async def extend_registration(request: Request, caller: Caller, house: House) -> Reply:
    return await _change(request, caller, house, "registration_extension", "/extendlife", extend_life)


async def pay_registration(request: Request, caller: Caller, house: House) -> Reply:
    registration_id = request.names[0]
    path = f"{_PATH}/{registration_id}/payments"
    return await begin(request, caller, house, "registration_payment", path, registration_id)


async def _change(
    request: Request, caller: Caller, house: House, operation: str, suffix: str, change: _Change
) -> Reply:
    channel, registration_id = get_channel(caller), request.names[0]

    async def tell(fields: Fields, claim: Claim | None) -> Answer:
        return await change(house, fields, registration_id, channel, caller.ndc, claim)

    return await _answer_once(request, caller, house, operation, f"{_PATH}/{registration_id}{suffix}", tell)


async def _answer_once(
    request: Request, caller: Caller, house: House, operation: str, path: str, story: _Story
) -> Reply:
    """An answer without a code was kept for its key by a request that came at the same time."""
    channel = get_channel(caller)
    fields = read_fields(request.pairs, Situation(operation, None, channel.is_lenient, house.is_live))
    claim = make_claim(house, read_key(request), channel, request.method, path, fields)
    answer = await find_earlier_answer(house, claim) or await story(fields, claim)
    return reply_with(answer) if answer.code else replay(answer)


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
