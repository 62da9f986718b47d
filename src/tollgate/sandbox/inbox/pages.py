"""The inboxes of a test host: `/sandbox/inbox/NAME` records any request, shows what came, and answers as it was told.

Messages are read in `reading`.
"""

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs

import msgspec
import orjson

from tollgate.catalog import codes, results
from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.sandbox.inbox.behaviour import USUAL, Behaviour, read_behaviour
from tollgate.sandbox.inbox.reading import PATH, ReadMessage, list_endpoints, read_message
from tollgate.store import inboxes
from tollgate.values import DAY, NotFound, make_id, make_timed_id
from tollgate.web.pages.rendering import Pages, StaticFiles
from tollgate.web.request import Access, Caller, Reply, Request, Routes

MESSAGES_SHOWN = 50
_MESSAGES_LISTED = 100
_TEXT_LENGTH_MAX = 16 * 1024
"""A page shows so much of a body; JSON has all of it."""
_NAME = re.compile("[A-Za-z0-9_-]{1,64}")
_LIMIT = re.compile("[1-9][0-9]{0,3}")
_HIDDEN_HEADERS = frozenset({b"authorization", b"proxy-authorization", b"cookie"})
"""Everybody may look into an inbox, and these are secrets of whoever sent them."""
_INBOX, _BEHAVIOUR = f"{PATH}/{{name}}", f"{PATH}/{{name}}/behaviour"

_PAGES = Pages(Path(__file__).parent / "pages")
_FILES = StaticFiles(Path(__file__).parent / "files", f"{PATH}/files")


ROUTES = Routes()
ROUTES.add("GET", f"{PATH}/files/{{hash}}/{{name}}", "inbox_files", Access.OPEN)(_FILES.answer)


@ROUTES.add("POST", _INBOX, "receive_by_post", Access.OPEN, takes_bytes=True)
@ROUTES.add("PUT", _INBOX, "receive_by_put", Access.OPEN, takes_bytes=True)
async def receive(request: Request, app: App) -> Reply:
    """Records a request, and answers 204 or what the inbox was told."""
    return await _record(request, app, HTTPStatus.NO_CONTENT)


@ROUTES.add("GET", _INBOX, "read_inbox", Access.OPEN, takes_bytes=True)
async def read_inbox(request: Request, app: App) -> Reply:
    """Shows what came, newest first: a page for browsers, JSON for everybody else.

    A call of a `notificationUrl`, which has `id` and `resourcePath`, is recorded instead.
    """
    query = parse_qs(request.target.partition(b"?")[2].decode("latin-1"))
    if "id" in query and "resourcePath" in query:
        return await _record(request, app, HTTPStatus.OK)
    name, is_browser = _get_name(request), "text/html" in (request.header(b"accept") or "")
    limit = MESSAGES_SHOWN if is_browser else _read_limit(query.get("limit", [""])[0])
    endpoints = await list_endpoints(app, name)
    rows = await inboxes.list_messages(app.database, name, limit)
    # Explaining what does not open takes time, in which other requests are served.
    messages = await asyncio.to_thread(lambda: [read_message(row, endpoints) for row in rows])
    if not is_browser:
        return Reply(200, orjson.dumps([msgspec.to_builtins(message) for message in messages]))
    return _PAGES.render(
        "inbox.html",
        form_targets=None,
        title=f"Inbox {name}",
        style=_FILES.get_path("inbox.css"),
        url=f"{app.base_url}{PATH}/{name}",
        path=f"{PATH}/{name}",
        messages=[ShownMessage(message) for message in messages],
        limit=limit,
        endpoints=endpoints,
        days=LIMITS.inbox_memory // DAY,
        behaviour=render_behaviour(await _get_behaviour(app, name)),
    )


@ROUTES.add("DELETE", _INBOX, "empty_inbox", Access.OPEN, takes_bytes=True)
async def empty_inbox(request: Request, app: App) -> Reply:
    """Removes the messages of an inbox."""
    await inboxes.empty_inbox(app.database, _get_name(request))
    return Reply(204, b"")


@ROUTES.add("GET", _BEHAVIOUR, "read_behaviour", Access.OPEN)
async def show_behaviour(request: Request, app: App) -> Reply:
    """Returns what the inbox was told to answer; an empty object if it answers as usual."""
    return Reply(200, msgspec.json.encode(await _get_behaviour(app, _get_name(request))))


@ROUTES.add("POST", _BEHAVIOUR, "set_behaviour", Access.TOKEN)
async def set_behaviour(request: Request, _caller: Caller, app: App) -> Reply:
    """Tells the inbox to fail, delay, reset or redirect; without fields it answers as usual again."""
    name, behaviour = _get_name(request), read_behaviour(request.pairs)
    told = None if behaviour == USUAL else msgspec.json.encode(behaviour).decode()
    inbox = inboxes.Inbox(name=name, used_at=app.clock.now(), behaviour=told, requests_left=behaviour.count)
    await inboxes.put_behaviour(app.database, inbox)
    return Reply(200, msgspec.json.encode(behaviour))


async def _get_behaviour(app: App, name: str) -> Behaviour:
    inbox = await inboxes.find_inbox(app.database, name)
    if inbox is None or inbox.behaviour is None or (inbox.requests_left is not None and inbox.requests_left <= 0):
        return USUAL
    return msgspec.structs.replace(_decode(inbox.behaviour), count=inbox.requests_left)


_decode = msgspec.json.Decoder(Behaviour).decode


def render_behaviour(behaviour: Behaviour) -> str:
    return ", ".join(f"{name}={value}".lower() for name, value in msgspec.to_builtins(behaviour).items())


async def _record(request: Request, app: App, usual_status: int) -> Reply:
    name, now = _get_name(request), app.clock.now()
    told = await inboxes.use_inbox(app.database, name, now)
    behaviour = USUAL if told is None else _decode(told)
    reply = behaviour.make_reply(usual_status)
    headers = {
        key.decode("latin-1"): "***" if key in _HIDDEN_HEADERS else value.decode("latin-1")
        for key, value in request.headers.items()
    }
    message = inboxes.InboxMessage(
        inbox=name,
        id=make_timed_id(now, make_id(app.random_bytes)),
        received_at=now,
        method=request.method,
        target=request.target.decode("utf-8", "backslashreplace"),
        headers=orjson.dumps(headers).decode(),
        body=request.body,
        status=None if reply.is_reset else reply.status,
        wall_at=app.clock.wall(),
    )
    # Before the delay, so that a test can see that the request is here.
    await inboxes.insert_message(app.database, message)
    await asyncio.sleep(behaviour.delay)
    return reply


def _get_name(request: Request) -> str:
    if _NAME.fullmatch(request.names[0]) is None:
        detail = "the name of an inbox has 1 to 64 letters, digits, hyphens and underscores"
        raise NotFound(results.get_result(codes.INVALID_REQUEST), detail)
    return request.names[0]


def _read_limit(text: str) -> int:
    return min(int(text), LIMITS.inbox_messages_max) if _LIMIT.fullmatch(text) else _MESSAGES_LISTED


class ShownMessage:
    """A message as the page shows it: with limits, and with characters made visible that a browser would hide."""

    def __init__(self, message: ReadMessage) -> None:
        event = message.event
        self.message = message
        self.target = render_visible(message.target)
        self.headers = [(render_visible(name), render_visible(value)) for name, value in message.headers.items()]
        self.body = render_visible(message.body)
        self.event = "" if event is None else render_visible(orjson.dumps(event, option=orjson.OPT_INDENT_2).decode())
        self.type = render_visible(str(event.get("type", ""))) if isinstance(event, dict) else ""
        self.time = f"{message.received_at[:10]} {message.received_at[11:19]} UTC"


def render_visible(text: str) -> str:
    """Writes control characters, and those that change the direction of text, as their numbers."""
    shown = text[:_TEXT_LENGTH_MAX]
    visible = "".join(each if each.isprintable() or each in "\n\t" else f"\\u{ord(each):04x}" for each in shown)
    left = len(text) - len(shown)
    return f"{visible}\n... and {left} more characters" if left else visible
