"""Endpoints that control a test host: its clock, chargebacks, and events of network tokens.

What a payment may do is decided in `flows`.
"""

import re
from typing import NoReturn

import orjson

from tollgate import values, workers
from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.connectors import exchange, tokens
from tollgate.contract import answers, follow_ups
from tollgate.contract.fields import read_fields
from tollgate.flows import follow_up, tokenize
from tollgate.operations.accounts import get_registration
from tollgate.operations.app import SUCCESS_CODES, App, Call
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.payments.registration import Registration
from tollgate.sandbox.token_vault import Event, Standing, find_standing, let_happen
from tollgate.web.request import Access, Caller, Reply, Request, Routes, get_channel, reply_with

ADVANCE_S_MAX = LIMITS.test_clock_advance_s_max
_SECONDS = re.compile("[0-9]{1,12}")
UNITS = {"seconds": 1, "hours": 3600, "days": 86_400}
"""The units by which forms move the clock, in seconds."""


ROUTES = Routes()


@ROUTES.add("GET", "/sandbox/clock", "read_clock", Access.OPEN)
async def read_clock(_request: Request, app: App) -> Reply:
    """Returns the time of this test host."""
    return _answer_time(app.clock.now())


@ROUTES.add("POST", "/sandbox/clock", "advance_clock", Access.TOKEN)
async def advance_clock(request: Request, _caller: Caller, app: App) -> Reply:
    """Moves the time of this test host forward by `advance` seconds."""
    sent = [value for name, value in request.pairs if name == "advance"]
    if len(sent) != 1 or _SECONDS.fullmatch(sent[0]) is None or int(sent[0]) > ADVANCE_S_MAX:
        _refuse("advance", f"must be a whole number of seconds from 0 to {ADVANCE_S_MAX}", sent[0] if sent else None)
    await move_clock(app, int(sent[0]))
    return _answer_time(app.clock.now())


async def move_clock(app: App, seconds: int) -> None:
    """Moves the time forward; the other processes follow within a second."""
    offset = await workers.move_clock(app.database, seconds)
    if offset is None:
        _refuse("advance", f"must not move the clock beyond the year {LIMITS.test_clock_year_max}", str(seconds))
    if isinstance(app.clock, values.SystemClock):
        app.clock.offset = offset


def _answer_time(now: values.Instant) -> Reply:
    return Reply(200, orjson.dumps({"now": values.to_datetime(now).isoformat().replace("+00:00", "Z")}))


_NOTICES = frozenset(code for code, result in results.RESULTS.items() if result.group == "chargeback")


@ROUTES.add("POST", "/sandbox/payments/{id}", "record_fact", also_takes=frozenset({"resultCode"}))
async def record_fact(request: Request, caller: Caller, app: App) -> Reply:
    """Records a receipt (RC), a chargeback (CB) or its reversal (CR) of a payment of this test host."""
    channel = get_channel(caller)
    fields = read_fields(request.pairs, app.make_situation("follow_up", channel))
    payment_type, notice = fields.values["paymentType"], None
    if payment_type not in SYSTEM_ONLY:
        _refuse("paymentType", f"must be one of [{', '.join(SYSTEM_ONLY)}]", payment_type)
    if payment_type == "CB":
        # The bank's reason is no parameter of the interface, so it has no row in the catalogue.
        notice = request.find("resultCode") or codes.CHARGED_BACK
        if notice not in _NOTICES:
            _refuse("resultCode", "must be a chargeback code such as 000.100.203", notice)
    fact = follow_ups.read_follow_up(
        fields, channel, short_id=values.make_short_id(app.random_bytes), is_live=app.is_live
    )
    payment = await follow_up.record_fact(app, fact, request.names[0], Call(channel, caller.ndc), notice)
    return reply_with(answers.answer_payment(payment, app.envelope))


def _refuse(name: str, message: str, value: str | None) -> NoReturn:
    raise values.InvalidParameters(results.get_result(codes.INVALID_REQUEST), [values.Fault(name, message, value)])


_TOKEN_PATH = "/sandbox/registrations/{id}/networkToken"
_EVENT_ID = re.compile("[A-Za-z0-9._-]{1,64}")


@ROUTES.add("GET", _TOKEN_PATH, "show_network_token", Access.TOKEN)
async def show_token(request: Request, caller: Caller, app: App) -> Reply:
    """Shows the state of a registration's network token on this test host."""
    registration = await get_registration(app, caller.merchant_id, request.names[0])
    standing = await find_standing(app.database, registration.id, app.clock.now())
    return reply_with(_answer_token(app, caller, registration, standing))


@ROUTES.add("POST", _TOKEN_PATH, "fire_token_event", Access.TOKEN)
async def fire_event(request: Request, caller: Caller, app: App) -> Reply:
    """Makes an `event` happen to the network token of a registration."""
    event, event_id = request.find("event"), request.find("eventId") or values.make_id(app.random_bytes)
    if event not in set(Event):
        _refuse("event", f"must be one of [{', '.join(Event)}]", event)
    if _EVENT_ID.fullmatch(event_id) is None:
        _refuse("eventId", "must have 1 to 64 letters, digits or . _ -", event_id)
    registration = await get_registration(app, caller.merchant_id, request.names[0])
    standing = await let_happen(app.database, registration.id, Event(event), event_id, app.clock.now())
    if standing is None:
        raise values.NotFound(results.get_result(codes.NETWORK_TOKEN_UNKNOWN))
    message = tokens.EventMessage(id=event_id, key=registration.id, event=Event(event))
    await tokenize.accept_token_event(app, standing.shopper_token, exchange.encode_message(message))
    return reply_with(_answer_token(app, caller, registration, standing))


def _answer_token(app: App, caller: Caller, registration: Registration, standing: Standing | None) -> answers.Answer:
    """Renders the token as the gateway knows it, and its status at the vault."""
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
    result = results.get_result(SUCCESS_CODES[registration.test_mode])
    body = app.envelope.wrap(
        result,
        caller.ndc,
        app.clock.now(),
        id=registration.id,
        networkToken=token,
        vaultStatus=None if standing is None else standing.status,
    )
    return answers.encode_answer(200, body)
