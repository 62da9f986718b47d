"""Reports: look payments up by id or by the merchant's reference.

A miss is a 400 here, as clients of reports expect.
"""

from __future__ import annotations

from tollgate.catalog import Situation, get_result
from tollgate.contract import answer_payment, answer_payment_list, read_reference
from tollgate.flows import look_up, look_up_reference
from tollgate.steps import House
from tollgate.values import Refusal
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with


async def query_payment(request: Request, caller: Caller, house: House) -> Reply:
    payment = await look_up(house, caller.merchant_id, request.names[0])
    if payment is None or payment.channel_id != get_channel(caller).id:
        raise Refusal(get_result("700.400.580"))
    return reply_with(answer_payment(payment, house.envelope))


async def query_payments(request: Request, caller: Caller, house: House) -> Reply:
    channel = get_channel(caller)
    reference = read_reference(request.pairs, Situation("query", None, channel.is_lenient, house.is_live))
    payments = await look_up_reference(house, channel, reference)
    if not payments:
        raise Refusal(get_result("700.400.580"))
    return reply_with(answer_payment_list(payments, house.envelope, caller.ndc, house.clock.now()))


ROUTES = (
    RouteRow(
        method="GET",
        path="/v1/query/{id}",
        operation="query",
        summary="Report on one payment.",
        access=Access.ENTITY,
        handler=query_payment,
    ),
    RouteRow(
        method="GET",
        path="/v1/query",
        operation="query_list",
        summary="Report on all payments with one of the merchant's references, oldest first.",
        access=Access.ENTITY,
        handler=query_payments,
    ),
)
