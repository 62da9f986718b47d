"""The door at which a token vault tells that something happened to a network token. What it was is asked for inside."""

from __future__ import annotations

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.flows.tokenize import hear_token_event
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.request import Access, Reply, Request, RouteRow


async def take_token_event(request: Request, app: App) -> Reply:
    """Who does not know the address is told no more than who invents a path."""
    if not await hear_token_event(app, request.names[0], request.body):
        raise NotFound(get_result(codes.INVALID_PARAMETERS), "no such path")
    return Reply(200, b"{}")


ROUTES = (
    RouteRow(
        method="POST",
        path="/v1/networkTokens/events/{ticket}",
        operation="take_token_event",
        summary="A token vault tells that something happened to the network token of a stored card.",
        access=Access.OPEN,
        handler=take_token_event,
        hides_path=True,
        takes_bytes=True,
    ),
)
