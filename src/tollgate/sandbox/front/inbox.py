"""The newest webhooks that the inboxes of this host received, and a webhook for whoever has none.

Messages are opened in `inbox.reading`.
"""

import asyncio
from collections.abc import Sequence
from itertools import chain
from urllib.parse import urlencode, urlsplit

import msgspec
import orjson

from tollgate.operations.app import App
from tollgate.sandbox.front import sending
from tollgate.sandbox.front.developers import Developer
from tollgate.sandbox.inbox.pages import render_visible
from tollgate.sandbox.inbox.reading import PATH, Endpoint, list_endpoints, read_message
from tollgate.store import inboxes, webhooks
from tollgate.values import Instant
from tollgate.vault import signing

SHOWN = 8
_INBOXES_READ = 5
_adding = asyncio.Lock()
"""A form that is sent twice waits for the first, and then finds its webhook."""


class ShownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the front page shows it."""

    id: str
    inbox: str
    path: str
    received_at: Instant
    title: str
    note: str
    """The type and the amount, if the event is about a payment."""
    badge: str
    tone: str


async def list_newest(app: App) -> list[inboxes.InboxMessage]:
    """Lists the newest messages of the inboxes that were used last, newest first; nothing is opened."""
    used = await inboxes.list_inboxes(app.database, _INBOXES_READ)
    found = [await inboxes.list_messages(app.database, inbox.name, SHOWN) for inbox in used]
    return sorted(chain.from_iterable(found), key=lambda message: message.id, reverse=True)[:SHOWN]


async def show(app: App, messages: Sequence[inboxes.InboxMessage]) -> list[ShownMessage]:
    """Opens the messages; explaining what does not open takes time, in which other requests are served."""
    endpoints = {name: await list_endpoints(app, name) for name in {message.inbox for message in messages}}
    return await asyncio.to_thread(lambda: [_show(each, endpoints[each.inbox]) for each in messages])


def _show(message: inboxes.InboxMessage, endpoints: Sequence[Endpoint]) -> ShownMessage:
    read = read_message(message, endpoints)
    event = read.event if isinstance(read.event, dict) else {}
    payload = event.get("payload")
    about = payload if isinstance(payload, dict) else {}
    facts = [about.get(name) for name in ("paymentType", "amount", "currency")]
    badges = {"none": "not protected", "both": "encrypted and signed"}
    return ShownMessage(
        id=message.id,
        inbox=message.inbox,
        path=f"{PATH}/{message.inbox}",
        received_at=message.received_at,
        title=render_visible(str(event.get("type") or message.method)),
        note=render_visible(" ".join(str(fact) for fact in facts if fact)),
        badge=badges.get(read.scheme, read.scheme),
        tone="" if read.scheme == "none" else "good" if read.is_authentic else "bad",
    )


def get_address(app: App, developer: Developer) -> str:
    """Returns the path of the inbox of the webhook that the page adds; who is not told its name cannot read it."""
    return f"{PATH}/start-{signing.fingerprint('front inbox', [developer.merchant_id], app.keyring).hex()[2:18]}"


async def has_webhook(app: App, developer: Developer) -> bool:
    """Tells whether a webhook of the merchant sends to an inbox of this host."""
    own = await webhooks.list_webhooks(app.database, developer.merchant_id)
    return any(urlsplit(webhook.url).path.startswith(f"{PATH}/") for webhook in own)


async def add_webhook(app: App, developer: Developer) -> tuple[str, bool]:
    """Adds a webhook that sends to an inbox of this host, tests it, and returns what to tell and whether it works."""
    token, url = developer.credentials.access_token, f"{app.base_url}{get_address(app, developer)}"
    async with _adding:
        if await has_webhook(app, developer):
            return "A webhook sends to an inbox already", True
        added = await sending.send(app, "POST", "/v1/webhooks", urlencode({"url": url}).encode(), token)
    answer = orjson.loads(added.body)
    if "id" not in answer:
        return f"No webhook was added: {answer['result']['description']}", False
    tested = await sending.send(app, "POST", f"/v1/webhooks/{answer['id']}/test", b"", token)
    failure = orjson.loads(tested.body).get("test", {}).get("failure")
    if failure:
        return f"A webhook was added, but its test event did not arrive: {failure}", False
    return "A webhook was added, and its inbox answered the test event", True
