"""The life of a network token, moved by hand on a test host: how it stands, and what shall happen to it.

The gateway hears of it as it would of a real one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.connectors import tokens
from tollgate.contract.answers import Answer, encode_answer
from tollgate.flows.tokenize import hear_token_event
from tollgate.operations.app import SUCCESS_CODES, App
from tollgate.operations.registrations import get_registration
from tollgate.payments.registration import Registration
from tollgate.sandbox.token_vault import Standing, find_standing, let_happen
from tollgate.sandbox.token_years import Event
from tollgate.values import Fault, InvalidParameters, NotFound, make_id
from tollgate.web import Access, Caller, Reply, Request, RouteRow, reply_with

Handler = Callable[[Request, Caller, App], Awaitable[Reply]]

_EVENT_ID = re.compile("[A-Za-z0-9._-]{1,64}")


async def show_token(request: Request, caller: Caller, app: App) -> Reply:
    registration = await get_registration(app, caller.merchant_id, request.names[0])
    standing = await find_standing(app.database, registration.id, app.clock.now())
    return reply_with(_tell(app, caller, registration, standing))


async def fire_event(request: Request, caller: Caller, app: App) -> Reply:
    event, event_id = _read_event(request), request.find("eventId") or make_id(app.random_bytes)
    if _EVENT_ID.fullmatch(event_id) is None:
        raise InvalidParameters(
            get_result(codes.INVALID_PARAMETERS),
            [Fault("eventId", "must have 1 to 64 letters, digits or . _ -", event_id)],
        )
    registration = await get_registration(app, caller.merchant_id, request.names[0])
    standing = await let_happen(app.database, registration.id, event, event_id, app.clock.now())
    if standing is None:
        raise NotFound(get_result(codes.NETWORK_TOKEN_UNKNOWN))
    message = tokens.EventMessage(id=event_id, key=registration.id, event=event)
    await hear_token_event(app, standing.shopper_token, tokens.write_message(message))
    return reply_with(_tell(app, caller, registration, standing))


def _read_event(request: Request) -> Event:
    text = request.find("event")
    if text not in set(Event):
        message = f"must be one of [{', '.join(Event)}]"
        raise InvalidParameters(get_result(codes.INVALID_PARAMETERS), [Fault("event", message, text)])
    return Event(text)


def _tell(app: App, caller: Caller, registration: Registration, standing: Standing | None) -> Answer:
    """Both sides: what the gateway knows, and what the vault does."""
    known = registration.network_token
    token = None
    if known is not None:
        token = {
            "state": known.state,
            "resultCode": known.code,
            "last4Digits": known.last_digits,
            "expiryMonth": known.expiry_month,
            "expiryYear": known.expiry_year,
        }
    result = get_result(SUCCESS_CODES[registration.test_mode])
    body = app.envelope.wrap(
        result,
        caller.ndc,
        app.clock.now(),
        id=registration.id,
        networkToken=token,
        vaultStatus=None if standing is None else standing.status,
    )
    return encode_answer(200, body)


def _row(method: str, operation: str, summary: str, handler: Handler) -> RouteRow:
    return RouteRow(
        method=method,
        path="/sandbox/registrations/{id}/networkToken",
        operation=operation,
        summary=summary,
        access=Access.TOKEN,
        handler=handler,
    )


ROUTES = (
    _row("GET", "show_network_token", "How the network token of a registration of this test host stands.", show_token),
    _row("POST", "fire_token_event", "Let an `event` happen to the network token of a registration.", fire_event),
)
