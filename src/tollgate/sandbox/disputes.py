"""Facts that banks bring on a live host, made by hand on a test host: receipts, chargebacks and their reversals.

What they move is decided by the same rows as everything else.
"""

from __future__ import annotations

from tollgate.catalog import codes
from tollgate.catalog.results import RESULTS, get_result
from tollgate.contract.answers import answer_payment
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.follow_ups import read_follow_up
from tollgate.flows.follow_up import record
from tollgate.operations.app import App, Call
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.values import Fault, InvalidParameters, make_short_id
from tollgate.web import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with

_NOTICES = frozenset(code for code, result in RESULTS.items() if result.group == "chargeback")


async def record_fact(request: Request, caller: Caller, app: App) -> Reply:
    channel = get_channel(caller)
    fields = read_fields(request.pairs, app.make_situation("follow_up", channel))
    notice = (_read_notice(request) or codes.CHARGED_BACK) if _read_payment_type(fields) == "CB" else None
    fact = read_follow_up(fields, channel, short_id=make_short_id(app.random_bytes), is_live=app.is_live)
    payment = await record(app, fact, request.names[0], Call(channel, caller.ndc), notice)
    return reply_with(answer_payment(payment, app.envelope))


def _read_payment_type(fields: Fields) -> str:
    payment_type = fields.values["paymentType"]
    if payment_type not in SYSTEM_ONLY:
        _refuse("paymentType", f"must be one of [{', '.join(SYSTEM_ONLY)}]", payment_type)
    return payment_type


def _read_notice(request: Request) -> str | None:
    """The bank's reason. Not a parameter of the interface, so it has no row in the catalogue."""
    code = next((value for name, value in request.pairs if name == "resultCode" and value), None)
    if code is not None and code not in _NOTICES:
        _refuse("resultCode", "must be a chargeback code such as 000.100.203", code)
    return code


def _refuse(name: str, message: str, value: str) -> None:
    raise InvalidParameters(get_result(codes.INVALID_PARAMETERS), [Fault(name, message, value)])


ROUTES = (
    RouteRow(
        method="POST",
        path="/sandbox/payments/{id}",
        operation="record_fact",
        summary="Let a receipt (RC), a chargeback (CB) or its reversal (CR) happen to a payment of this test host.",
        access=Access.ENTITY,
        handler=record_fact,
        also_takes=frozenset({"resultCode"}),
    ),
)
