"""Endpoints of registrations, their schedules and their network tokens.

What a change does is decided in `flows`.
"""

from tollgate.catalog import codes, results
from tollgate.contract import accounts, answers, registrations, schedules
from tollgate.contract.fields import Fields
from tollgate.flows import pay, tokenize
from tollgate.flows.registrations import deregister, extend_life, register, reregister
from tollgate.flows.schedules import create_schedule, deschedule, reschedule, show_schedule
from tollgate.operations.accounts import open_wallet
from tollgate.operations.app import App, Call
from tollgate.values import NotFound
from tollgate.web.api.payments import Change, answer_once, begin, change_named
from tollgate.web.request import Access, Caller, Reply, Request, Routes, reply_with

ROUTES = Routes()


@ROUTES.add("POST", "/v1/registrations", "create_registration")
async def create_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Registers an account without a payment (RG); the answer's `id` pays from then on."""
    return await answer_once(request, caller, app, _register)


async def _register(app: App, fields: Fields, call: Call) -> answers.Answer:
    registrations.check_alone(fields)
    wallet = accounts.find_wallet_call(fields)
    order = registrations.read_registration_order(
        fields,
        call.channel,
        today=app.today,
        is_live=app.is_live,
        opened=await open_wallet(app, call, wallet.wallet, wallet.token, echo=fields.echo) if wallet else None,
    )
    return await register(app, order, call)


@ROUTES.add("GET", "/v1/secureRegistrations/{id}", "read_secure_registration", Access.TOKEN)
@ROUTES.add("GET", "/v1/registrations/{id}", "read_registration", Access.TOKEN)
async def read_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Reads a registration; 404 where there is none. Some clients use the second path."""
    registration = await pay.show_registration(app, caller.merchant_id, request.names[0])
    return reply_with(registrations.answer_registration(registration, app.envelope))


@ROUTES.add("POST", "/v1/registrations/{id}", "update_registration")
async def update_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Changes a registration (RR), or confirms one that waits for it (CF)."""
    return await change_named(request, caller, app, reregister)


@ROUTES.add("DELETE", "/v1/registrations/{id}", "delete_registration")
async def delete_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Deletes a registration (DR): the account is wiped, and its schedules end."""
    return await change_named(request, caller, app, deregister)


@ROUTES.add("POST", "/v1/registrations/{id}/extendlife", "extend_registration")
async def extend_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Extends the life of a registration (TE); the answer says until when."""
    return await change_named(request, caller, app, extend_life)


@ROUTES.add("POST", "/v1/registrations/{id}/payments", "pay_registration")
async def pay_registration(request: Request, caller: Caller, app: App) -> Reply:
    """Pays with a registration: PA, DB, CD or PA.CP."""
    return await begin(request, caller, app, request.names[0])


_SCHEDULES_PATH = "/scheduling/v1/schedules"
_OLDER_PATH = "/v1/schedules"


@ROUTES.add("POST", _OLDER_PATH, "schedule")
@ROUTES.add("POST", _SCHEDULES_PATH, "schedule")
async def make_schedule(request: Request, caller: Caller, app: App) -> Reply:
    """Schedules payments by a registration (SD): `registrationId`, an amount and `job.*`. One path is older."""
    return await answer_once(
        request, caller, app, create_schedule, payment_type=schedules.SCHEDULES, path=_SCHEDULES_PATH
    )


@ROUTES.add("POST", f"{_SCHEDULES_PATH}/{{id}}/reschedule", "reschedule")
async def replace_schedule(request: Request, caller: Caller, app: App) -> Reply:
    """Replaces a schedule (RS): another plan, amount or registration; its answer has the new id."""
    return await _change(request, caller, app, schedules.RESCHEDULES, reschedule)


@ROUTES.add("DELETE", f"{_OLDER_PATH}/{{id}}", "delete_schedule")
@ROUTES.add("POST", f"{_SCHEDULES_PATH}/{{id}}/deschedule", "deschedule")
async def end_schedule(request: Request, caller: Caller, app: App) -> Reply:
    """Ends a schedule (DS), named by any id of its series. One path is older."""
    return await _change(request, caller, app, schedules.DESCHEDULES, deschedule)


@ROUTES.add("GET", f"{_SCHEDULES_PATH}/{{id}}", "read_schedule", Access.TOKEN)
async def read_schedule(request: Request, caller: Caller, app: App) -> Reply:
    """Reads a schedule and its latest runs, or all schedules of a registration; 404 where there is none."""
    return reply_with(await show_schedule(app, caller.merchant_id, request.names[0], caller.ndc))


async def _change(request: Request, caller: Caller, app: App, payment_type: str, change: Change) -> Reply:
    path = f"{_SCHEDULES_PATH}/{request.names[0]}/{payment_type}"
    return await change_named(request, caller, app, change, payment_type=payment_type, path=path)


@ROUTES.add(
    "POST", "/v1/networkTokens/events/{token}", "take_token_event", Access.OPEN, hides_path=True, takes_bytes=True
)
async def take_token_event(request: Request, app: App) -> Reply:
    """A token vault reports an event of a registered card's network token.

    A wrong address gets the same answer as a path that does not exist.
    """
    if not await tokenize.accept_token_event(app, request.names[0], request.body):
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such path")
    return Reply(200, b"{}")
