"""The secrets of an endpoint, and the requests that deliver events to it. When they are sent is decided elsewhere."""

import msgspec
import orjson

from tollgate.contract.events import render_body
from tollgate.operations.app import App
from tollgate.payments.webhooks import Webhook, Wrapper
from tollgate.store.events import Event
from tollgate.values import SECOND
from tollgate.vault.sealing import make_owner
from tollgate.vault.webhooks import WebhookSecrets, encrypt_body, open_secrets, seal_secrets, sign_body
from tollgate.wire import Outgoing

WEBHOOK_NOUN = "webhook"


def make_webhook_owner(webhook: Webhook) -> str:
    return make_owner(WEBHOOK_NOUN, webhook.merchant_id, webhook.id)


def seal_webhook(app: App, webhook: Webhook, secrets: WebhookSecrets) -> Webhook:
    """Returns the endpoint with these secrets sealed in it."""
    owner = make_webhook_owner(webhook)
    return msgspec.structs.replace(webhook, sealed_secrets=seal_secrets(secrets, owner=owner, keyring=app.keyring))


def open_webhook(app: App, webhook: Webhook) -> WebhookSecrets:
    """Returns the secrets of an endpoint; a previous pair that is not live any more is left out."""
    secrets = open_secrets(webhook.sealed_secrets, owner=make_webhook_owner(webhook), keyring=app.keyring)
    if secrets.previous_until > app.clock.now():
        return secrets
    return msgspec.structs.replace(secrets, previous_secret=None, previous_signing=None)


def make_request(
    app: App, webhook: Webhook, secrets: WebhookSecrets, event: Event, payload: bytes, *, is_replay: bool = False
) -> Outgoing:
    """Makes the request of one attempt, with an IV and a timestamp of its own. The event id is the same in all."""
    body, headers = render_body(event.topic, payload, webhook.fields), {"Content-Type": "application/json"}
    if webhook.scheme.encrypts:
        encrypted = encrypt_body(body, secrets.secret)
        headers = {"X-Initialization-Vector": encrypted.iv, "X-Authentication-Tag": encrypted.tag}
        if webhook.wrapper is Wrapper.JSON:
            headers["Content-Type"] = "application/json"
            body = orjson.dumps({"encryptedBody": encrypted.body})
        else:
            headers["Content-Type"] = "text/plain"
            body = encrypted.body.encode()
    headers["webhook-id"] = event.id
    if webhook.scheme.signs:
        # Receivers compare it with their own clock, which a test host's movable one may be far from.
        now_s = app.clock.wall() // SECOND
        live = [secrets.signing, *([secrets.previous_signing] if secrets.previous_signing else [])]
        headers["webhook-timestamp"] = str(now_s)
        headers["webhook-signature"] = sign_body(body, event.id, now_s, live)
    headers["Webhook-Sequence"] = str(event.sequence)
    if is_replay:
        headers["Webhook-Replay"] = "true"
    return Outgoing(webhook.url, "POST", headers, body)
