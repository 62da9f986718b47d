"""The front page of a test host and what its scripts ask for. Who may is decided in `developers`."""

import msgspec
import orjson

from tollgate.operations.app import App
from tollgate.sandbox.front import developers, sending
from tollgate.web.request import Access, Reply, Request, Routes

ROUTES = Routes()


@ROUTES.add("GET", "/sandbox/credentials", "read_credentials", Access.OPEN)
async def read_credentials(request: Request, app: App) -> Reply:
    """Returns the credentials of the sandbox merchant and a form token, for the examples of the documentation."""
    developer = await developers.get_developer(request, app)
    shown = msgspec.to_builtins(developer.credentials) | {"formToken": developer.form_token}
    return developers.remember(Reply(200, orjson.dumps(shown)), developer, app)


@ROUTES.add("POST", "/sandbox/send", "send_request", Access.OPEN)
async def send_request(request: Request, app: App) -> Reply:
    """Sends a request of the documentation with the developer's token, and returns the whole answer as JSON."""
    developer = await developers.get_developer(request, app)
    method, target, body = (request.find(name) for name in ("method", "target", "body"))
    reply = await sending.send(app, method, target, body.encode(), developer.credentials.access_token)
    headers = {name.decode(): value.decode("latin-1") for name, value in reply.headers}
    answer = {"status": reply.status, "headers": headers, "body": reply.body.decode("utf-8", "replace")}
    return Reply(200, orjson.dumps(answer))
