"""Sends a request to the API in the name of the sandbox merchant, through the same checks as a request of a shop.

Who may is decided in `developers`.
"""

import re

from tollgate.catalog import codes, results
from tollgate.operations.app import App
from tollgate.sandbox import controls
from tollgate.values import Fault, InvalidParameters
from tollgate.web import parsing, server, throttling
from tollgate.web.api import ROUTES
from tollgate.web.request import Reply

_ROWS = (*ROUTES, *controls.ROUTES)
_METHODS = ("GET", "POST", "DELETE")
_TARGET = re.compile(r"/[!-~]{0,8000}")
_FORM = b"application/x-www-form-urlencoded"
_KEY = re.compile("[A-Za-z0-9-]{0,255}")


async def send(app: App, method: str, target: str, body: bytes, access_token: str, key: str = "") -> Reply:
    """target: the path with its query, as a client writes it. Refusals are answers, as everywhere in the API.

    key: the idempotency key of a form, so that a double click is carried out once.
    """
    if method not in _METHODS:
        raise _make_invalid("method", f"must be one of [{', '.join(_METHODS)}]")
    if _TARGET.fullmatch(target) is None:
        raise _make_invalid("target", "must be a path of the API, with its query")
    if _KEY.fullmatch(key) is None:
        raise _make_invalid("key", "is missing: open the page again")
    reader = parsing.HeadReader()
    lines = (
        f"{method} {target} HTTP/1.1".encode(),
        b"host: localhost",
        # Endpoints for shoppers answer with JSON only where it is asked for.
        b"accept: application/json",
        b"authorization: Bearer " + access_token.encode(),
        b"content-length: " + str(len(body)).encode(),
        *((b"content-type: " + _FORM,) if body else ()),
        *((b"idempotency-key: " + key.encode(),) if key else ()),
    )
    reader.feed(b"\r\n".join((*lines, b"", b"")), 0)
    throttles = throttling.Throttles(throttling.configure_throttles(""), app.clock, app.keyring, None)
    gateway = server.Gateway(app, _ROWS, throttles)
    context = gateway.admit(reader.read(), "127.0.0.1", is_secure=True)
    reply = context.refused if context.counting is None else None
    reply = reply or await gateway.answer(context, body)
    gateway.conclude(context, reply)
    return reply


def _make_invalid(name: str, message: str) -> InvalidParameters:
    return InvalidParameters(results.get_result(codes.INVALID_REQUEST), [Fault(name, message)])
