"""The endpoint at which acquirers report events. What an event does is decided in `flows`."""

from tollgate.flows.acquirer_events import SIGNATURE, take_event
from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, Routes

ROUTES = Routes()


@ROUTES.add("POST", "/v1/acquirers/{id}/events", "take_acquirer_event", Access.OPEN, takes_bytes=True)
async def take_acquirer_event(request: Request, app: App) -> Reply:
    """An acquirer reports a dispute or a failed refund; it repeats what is not answered with 200."""
    signature = request.header(SIGNATURE.lower().encode()) or ""
    await take_event(app, request.names[0], request.body, signature, request.trace)
    return Reply(200, b"{}")
