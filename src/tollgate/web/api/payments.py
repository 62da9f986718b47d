"""Endpoints of payments and follow-ups, and what all endpoints with an Idempotency-Key share.

What a payment does is decided in `flows`.
"""

import re
from collections.abc import Awaitable, Callable

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.contract import accounts, answers, follow_ups, orders, registered, registrations
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.reviews import read_decision
from tollgate.flows import reviews
from tollgate.flows.follow_up import follow_up
from tollgate.flows.pay import look_up, look_up_registration, pay, show_registration
from tollgate.operations.accounts import open_registration, open_wallet, refuse_exposed
from tollgate.operations.app import App, Call
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.operations.stages import begin_stage
from tollgate.payments.payment import IdempotencyKey
from tollgate.values import Fault, InvalidParameters, NotFound, make_short_id
from tollgate.web.request import Access, Caller, Reply, Request, Routes, get_channel, reply_with
from tollgate.web.telemetry import count_payment

_REPLAYED = ((b"idempotency-replayed", b"true"),)
_BY_MERCHANT = "API"
"""The one who decided, in the row of a review."""
_KEY = re.compile(r"[\x21-\x7e]+")


ROUTES = Routes()


@ROUTES.add("POST", "/v1/payments", "create_payment")
def create_payment(request: Request, caller: Caller, app: App) -> Awaitable[Reply]:
    """Makes a payment: PA, DB, CD or PA.CP; with `referenceUuid` it raises or renews an authorization."""
    return begin(request, caller, app)


async def begin(request: Request, caller: Caller, app: App, registration_id: str | None = None) -> Reply:
    """Runs a payment, or an authentication without one, by an account that was sent along or registered before."""
    channel = get_channel(caller)
    await begin_stage(app.activity)
    fields = read_fields(request.pairs, app.make_situation(request.operation, channel))
    await begin_stage(app.activity)
    idempotency_key = read_key(request, app, caller, request.path, fields)
    earlier = await find_earlier_answer(app, idempotency_key)
    if earlier is not None:
        return replay(earlier)
    call = Call(channel, caller.ndc, idempotency_key)
    named_id = follow_ups.find_reference(fields)
    if named_id is not None:
        return await _refer(app, fields, named_id, call)
    registration_id = registration_id or registered.find_registration_id(fields)
    registration = await open_registration(app, caller.merchant_id, registration_id) if registration_id else None
    if registration is not None:
        refuse_exposed(registration.account, fields.echo, idempotency_key)
    wallet = None if registration_id else accounts.find_wallet_call(fields)
    order = orders.read_order(
        fields,
        channel,
        today=app.today,
        short_id=make_short_id(app.random_bytes),
        is_live=app.is_live,
        opened=await open_wallet(app, call, wallet.wallet, wallet.token, echo=fields.echo) if wallet else None,
        on_file=registration,
    )
    await begin_stage(app.activity)
    return count(order.payment_type, await pay(app, order, call))


@ROUTES.add("POST", "/v1/payments/{id}", "follow_up")
async def create_follow_up(request: Request, caller: Caller, app: App) -> Reply:
    """Follows a payment up: CP, RV, RF, RB, or PA to raise or renew an authorization."""
    channel, named_id = get_channel(caller), request.names[0]
    fields = read_fields(request.pairs, app.make_situation(request.operation, channel))
    follow_ups.check_reference(fields, named_id, channel)
    idempotency_key = read_key(request, app, caller, request.path, fields)
    earlier = await find_earlier_answer(app, idempotency_key)
    if earlier is not None:
        return replay(earlier)
    return await _follow(app, fields, named_id, Call(channel, caller.ndc, idempotency_key))


async def _refer(app: App, fields: Fields, named_id: str, call: Call) -> Reply:
    """Follows up the payment that a parameter names; an unknown id is that parameter's fault."""
    merchant_id = call.channel.merchant_id
    payment = await look_up(app, merchant_id, named_id)
    if payment is None and await look_up_registration(app, merchant_id, named_id) is None:
        raise follow_ups.make_unknown_reference(fields)
    return await _follow(app, fields, named_id, call)


async def _follow(app: App, fields: Fields, named_id: str, call: Call) -> Reply:
    wanted = follow_ups.read_follow_up(
        fields, call.channel, short_id=make_short_id(app.random_bytes), is_live=app.is_live
    )
    return count(wanted.payment_type, await follow_up(app, wanted, named_id, call))


def count(payment_type: str, answer: answers.Answer) -> Reply:
    """Counts an answer. One without a code was stored for its idempotency key by a parallel request."""
    if not answer.code:
        return replay(answer)
    count_payment(payment_type, results.get_result(answer.code).group)
    return reply_with(answer)


def replay(earlier: answers.Answer) -> Reply:
    return Reply(earlier.status, earlier.body, headers=_REPLAYED)


@ROUTES.add("GET", "/v1/payments/{id}", "read_payment", Access.TOKEN)
async def read_payment(request: Request, caller: Caller, app: App) -> Reply:
    """Reads a payment, or a registration, which some clients read at this address; 404 where there is none."""
    subject_id = request.names[0]
    payment = await look_up(app, caller.merchant_id, subject_id)
    if payment is not None:
        return reply_with(answers.answer_payment(payment, app.envelope))
    if await look_up_registration(app, caller.merchant_id, subject_id) is None:
        raise NotFound(results.get_result(codes.PAYMENT_UNKNOWN))
    registration = await show_registration(app, caller.merchant_id, subject_id)
    return reply_with(registrations.answer_registration(registration, app.envelope))


@ROUTES.add("POST", "/v1/payments/{id}/review", "review_payment")
async def review_payment(request: Request, caller: Caller, app: App) -> Reply:
    """Decides about a payment under review: ACCEPT makes it a success, REJECT gives the money back."""
    decided = await reviews.decide(
        app,
        caller.merchant_id,
        request.names[0],
        read_decision(request.pairs),
        _BY_MERCHANT,
        channel=get_channel(caller),
    )
    return reply_with(answers.answer_payment(decided, app.envelope))


def read_key(request: Request, app: App, caller: Caller, path: str, fields: Fields) -> IdempotencyKey | None:
    key = request.header(b"idempotency-key")
    if not key:
        return None
    if len(key) > LIMITS.idempotency_key_length_max or not _KEY.fullmatch(key):
        message = f"must have 1 to {LIMITS.idempotency_key_length_max} visible ASCII characters"
        raise InvalidParameters(results.get_result(codes.INVALID_REQUEST), [Fault("Idempotency-Key", message)])
    channel, is_dispatched = get_channel(caller), caller.is_dispatched
    return make_idempotency_key(app, key, channel, request.method, path, fields, is_dispatched=is_dispatched)


Flow = Callable[[App, Fields, Call], Awaitable[answers.Answer]]
Change = Callable[[App, Fields, str, Call], Awaitable[answers.Answer]]
"""A flow that changes what the path names by its id."""


async def answer_once(
    request: Request, caller: Caller, app: App, flow: Flow, *, payment_type: str | None = None, path: str = ""
) -> Reply:
    """Runs a flow once for an Idempotency-Key; a repeated request gets the first answer.

    An answer without a code was stored for the key by a request that came at the same time.
    path: names the resource for the key, where requests to several paths are the same request.
    """
    channel = get_channel(caller)
    operation = "schedule" if payment_type else request.operation
    fields = read_fields(request.pairs, app.make_situation(operation, channel, payment_type))
    path = path or request.path
    idempotency_key = read_key(request, app, caller, path, fields)
    answer = await find_earlier_answer(app, idempotency_key)
    if answer is None:
        answer = await flow(app, fields, Call(channel, caller.ndc, idempotency_key))
    return reply_with(answer) if answer.code else replay(answer)


async def change_named(request: Request, caller: Caller, app: App, change: Change, **rest: str) -> Reply:
    """rest: the keyword arguments of `answer_once`."""

    def flow(app: App, fields: Fields, call: Call) -> Awaitable[answers.Answer]:
        return change(app, fields, request.names[0], call)

    return await answer_once(request, caller, app, flow, **rest)
