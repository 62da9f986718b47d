"""The webhook of the demo shop: its events arrive in an inbox of this host, and the result page shows them.

They are delivered by the same workers, over the same network, as those of any merchant.
"""

from contextlib import suppress
from typing import Any

import msgspec
import orjson

from tollgate.flows import webhooks as flows
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel
from tollgate.payments.webhooks import Scheme, WebhookState
from tollgate.sandbox.inbox.pages import render_visible
from tollgate.sandbox.inbox.reading import PATH, ReadMessage, is_address_of, list_endpoints, read_message
from tollgate.store.deliveries import list_attempts
from tollgate.store.events import AFTER_ALL, list_events
from tollgate.store.inboxes import list_messages
from tollgate.store.webhooks import list_webhooks, update_webhook
from tollgate.values import MerchantId, Refusal

INBOX = "shop"
_NEWEST = 100
"""The messages and events among which those of a payment are looked for."""
_TYPES = ("PAYMENT",)
_TLS_FAULT = "TLS certificate not accepted"
_TLS_HINT = (
    "This host does not trust its own certificate, because certificates are always verified. Serve it without TLS, or "
    "with --tls-cert and an --outbound-ca that vouches for it, to see the event."
)


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """The event of a payment, as far as it is known."""

    payment_id: str
    message: ReadMessage | None = None
    failure: str = ""
    """The reason why the last attempt to deliver it failed; empty where none did."""
    inbox_path: str = f"{PATH}/{INBOX}"

    @property
    def json(self) -> str:
        if self.message is None:
            return ""
        return render_visible(orjson.dumps(self.message.event, option=orjson.OPT_INDENT_2).decode())

    @property
    def hint(self) -> str:
        return _TLS_HINT if _TLS_FAULT in self.failure else ""


async def ensure_webhook(app: App, channel: Channel) -> None:
    """Makes the webhook of the shop, or corrects its address and state; one that was paused stays so.

    Two first orders at once may make two, and then each event arrives twice, as any event may.
    """
    url, merchant_id = f"{app.base_url}{PATH}/{INBOX}", channel.merchant_id
    cached = app.merchants.list_webhooks(merchant_id)
    if any(each.url == url and each.state in (WebhookState.ACTIVE, WebhookState.PAUSED) for each in cached):
        return
    stored = await list_webhooks(app.database, merchant_id)
    own = next((each for each in stored if is_address_of(each.url, INBOX)), None)
    # A merchant with too many webhooks still has a shop.
    with suppress(Refusal):
        if own is None:
            terms: dict[str, Any] = {"channel_id": channel.id, "types": _TYPES, "scheme": Scheme.BOTH}
            await flows.add_webhook(app, merchant_id, url, state=WebhookState.ACTIVE, **terms)
        else:
            state = own.state if own.state is WebhookState.PAUSED else WebhookState.ACTIVE
            # Its receiver is this host, so it needs no test.
            await update_webhook(app.database, msgspec.structs.replace(own, url=url, state=state, reason=""))
    await app.merchants.refresh(app.database)


async def get_arrival(app: App, merchant_id: MerchantId, payment_id: str) -> Arrival:
    """Returns the newest event of a payment in the shop's inbox, or else why its delivery failed."""
    endpoints = await list_endpoints(app, INBOX)
    for row in await list_messages(app.database, INBOX, _NEWEST):
        message = read_message(row, endpoints)
        if _is_about(message, payment_id):
            return Arrival(payment_id=payment_id, message=message)
    ids = {endpoint.webhook_id for endpoint in endpoints}
    events = await list_events(app.database, merchant_id, "", AFTER_ALL, _NEWEST, is_newest_first=True)
    for event in events:
        if event.subject_id == payment_id:
            attempts = await list_attempts(app.database, merchant_id, event.id, _NEWEST)
            failures = [each.failure for each in attempts if each.webhook_id in ids]
            return Arrival(payment_id=payment_id, failure=failures[-1] if failures else "")
    return Arrival(payment_id=payment_id)


def _is_about(message: ReadMessage, payment_id: str) -> bool:
    event = message.event
    payload = event.get("payload") if isinstance(event, dict) else None
    return isinstance(payload, dict) and payload.get("id") == payment_id
