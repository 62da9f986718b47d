"""Payment links for merchants: make one, ask how it stands, end it.

What happens in between is told in `flows`. To a shopper's browser the id is a key, so no log shows it.
"""

from __future__ import annotations

from tollgate.flows.payment_links import end_payment_link, make_payment_link, read_link_payment, read_payment_link
from tollgate.operations.app import App
from tollgate.web.api.changes import answer_once
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with

_PATH = "/paybylink/v1"


async def create_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, make_payment_link, operation="payment_link")


async def show_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await read_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


async def delete_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await end_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


async def show_link_payment(request: Request, caller: Caller, app: App) -> Reply:
    link_id, checkout_id = request.names
    return reply_with(await read_link_payment(app, link_id, checkout_id, get_channel(caller)))


ROUTES = (
    RouteRow(
        method="POST",
        path=_PATH,
        operation="create_payment_link",
        summary="Make a payment link: an address to send to a shopper, with a page that takes one payment.",
        access=Access.ENTITY,
        handler=create_payment_link,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}",
        operation="read_payment_link",
        summary="How a payment link stands: open, paid, expired or ended.",
        access=Access.ENTITY,
        handler=show_payment_link,
        hides_path=True,
    ),
    RouteRow(
        method="DELETE",
        path=f"{_PATH}/{{id}}",
        operation="delete_payment_link",
        summary="End a payment link that nobody has paid.",
        access=Access.ENTITY,
        handler=delete_payment_link,
        hides_path=True,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}/checkouts/{{checkout}}/payment",
        operation="read_link_payment",
        summary="The payment of a payment link, as often as it is asked for.",
        access=Access.ENTITY,
        handler=show_link_payment,
        hides_path=True,
    ),
)
