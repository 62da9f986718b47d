"""3-D Secure's endpoints: an authentication by itself and its status, and the two doors for the issuer's side.

What a message means is known to the connector.
"""

from __future__ import annotations

from tollgate.catalog import codes
from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.catalog.results import get_result
from tollgate.connectors import threeds
from tollgate.contract.answers import answer_payment
from tollgate.contract.shopper_urls import METHOD_FIELD
from tollgate.flows.pay import look_up
from tollgate.flows.resume import hear_method, hear_result
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.api.payments import begin
from tollgate.web.pages import Pages
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, reply_with

_pages = Pages()
_JSON = b"application/json;charset=UTF-8"


async def create_authentication(request: Request, caller: Caller, app: App) -> Reply:
    return await begin(request, caller, app, "three_d_secure", "/v1/threeDSecure")


async def read_authentication(request: Request, caller: Caller, app: App) -> Reply:
    payment = await look_up(app, caller.merchant_id, request.names[0])
    if payment is None or payment.payment_type != AUTHENTICATION:
        raise NotFound(get_result(codes.PAYMENT_UNKNOWN))
    return reply_with(answer_payment(payment, app.envelope))


async def take_result(request: Request, app: App) -> Reply:
    """What is wrong with a message is said in the protocol's own words, so the status is always the same."""
    return Reply(200, await hear_result(app, request.names[0], request.body), _JSON)


async def take_method(request: Request, app: App) -> Reply:
    sent = dict(request.pairs).get(METHOD_FIELD)
    await hear_method(app, request.names[0], None if sent is None else threeds.read_method_data(sent))
    return _pages.end("Done", "")


ROUTES = (
    RouteRow(
        method="POST",
        path="/v1/threeDSecure",
        operation="authenticate",
        summary="Authenticate a shopper without paying; the result may be sent along with a payment later.",
        access=Access.ENTITY,
        handler=create_authentication,
    ),
    RouteRow(
        method="GET",
        path="/v1/threeDSecure/{id}",
        operation="read_authentication",
        summary="Read an authentication; 404 where there is none.",
        access=Access.TOKEN,
        handler=read_authentication,
    ),
    RouteRow(
        method="POST",
        path="/v1/threeDSecure/results/{ticket}",
        operation="take_result",
        summary="The directory server tells the result of a challenge (RReq, answered by RRes).",
        access=Access.OPEN,
        handler=take_result,
        hides_path=True,
        takes_bytes=True,
    ),
    RouteRow(
        method="POST",
        path="/v1/threeDSecure/method/{ticket}",
        operation="take_method",
        summary="The issuer's hidden page (3DS method) is done.",
        access=Access.OPEN,
        handler=take_method,
        hides_path=True,
    ),
)
