"""Reads the messages of an inbox: decrypts them, verifies their signatures, and says why where that fails.

The secrets are those of the webhooks that have the address of the inbox. Nothing is shown here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import orjson

from tollgate.operations.app import App
from tollgate.operations.webhooks import open_webhook
from tollgate.store.inboxes import InboxMessage
from tollgate.store.webhooks import list_all_webhooks
from tollgate.values import SECOND, Secret, to_datetime
from tollgate.vault.body_explaining import Explanation, explain_body
from tollgate.vault.signature_explaining import explain_signature
from tollgate.vault.webhooks import WebhookSecrets

PATH = "/sandbox/inbox"
"""The path of all inboxes; the name of one follows."""

ENDPOINTS_MAX = 10
"""The number of webhooks whose secrets are tried for one message."""
_LARGE_BYTES = 64 * 1024
"""For larger bodies only the newest webhook is tried: explaining one takes a twentieth of a second for each secret."""
NO_WEBHOOK = "No webhook of this host has the address of this inbox, so there is no secret to try."
NOT_JSON = "What it contains is not JSON."
_SEQUENCE = re.compile("[0-9]{1,9}")


class Endpoint(msgspec.Struct, frozen=True):
    """A webhook that has the address of an inbox."""

    webhook_id: str
    secrets: WebhookSecrets


class ReadMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One message as scripts get it."""

    id: str
    received_at: str
    method: str
    target: str
    headers: dict[str, str]
    body: str
    """Bytes that are not UTF-8 are written as `\\xff`."""
    event: Any
    """The JSON of a body that is authentic; None for any other."""
    scheme: str
    """encrypted, signed, both or none, as the headers tell."""
    decryption: str | None
    """A sentence that says how the body opened, or why not; None where it is not encrypted."""
    signature: str | None
    endpoint: str | None
    """The webhook whose secret was right."""
    webhook_id: str | None
    """The header of this name: the id of the event."""
    replay: bool
    sequence: int | None
    status: int | None
    """The status that was answered; None where the connection was reset."""

    @property
    def is_authentic(self) -> bool:
        return self.endpoint is not None


async def list_endpoints(app: App, inbox: str) -> list[Endpoint]:
    """Lists the webhooks of all merchants that have the address of an inbox, newest first."""
    found = [webhook for webhook in await list_all_webhooks(app.database) if is_address_of(webhook.url, inbox)]
    return [Endpoint(webhook.id, open_webhook(app, webhook)) for webhook in found[: -ENDPOINTS_MAX - 1 : -1]]


def is_address_of(url: str, inbox: str) -> bool:
    """Tells whether an address has the path of an inbox; the host is not compared, because this one has many names."""
    try:
        words = [word for word in urlsplit(url).path.split("/") if word]
    except ValueError:
        return False
    return words == [*PATH.strip("/").split("/"), inbox]


class _Finding(msgspec.Struct, frozen=True):
    endpoint: str | None
    plain: bytes | None
    text: str


def read_message(message: InboxMessage, endpoints: Sequence[Endpoint]) -> ReadMessage:
    headers: dict[str, str] = orjson.loads(message.headers)
    endpoints = endpoints[:1] if len(message.body) > _LARGE_BYTES else endpoints
    iv, tag = headers.get("x-initialization-vector"), headers.get("x-authentication-tag")
    decrypted = signed = None
    if iv is not None or tag is not None:
        decrypted = _find(
            _list_secrets(endpoints, lambda secrets: (secrets.secret, secrets.previous_secret)),
            lambda secret: explain_body(message.body, iv, tag, secret),
            "Opened with the {age}secret of webhook {id}.",
        )
    if "webhook-signature" in headers:
        event_id, timestamp, proof = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        signed = _find(
            _list_secrets(endpoints, lambda secrets: (secrets.signing, secrets.previous_signing)),
            lambda secret: explain_signature(
                message.body, event_id, timestamp, proof, secret, message.wall_at // SECOND
            ),
            "The signature is right for the {age}signing secret of webhook {id}.",
        )
    authentic = decrypted or signed
    event, is_json = _read_event(authentic.plain if authentic else None)
    sequence = headers.get("webhook-sequence", "")
    return ReadMessage(
        id=message.id,
        received_at=to_datetime(message.received_at).isoformat().replace("+00:00", "Z"),
        method=message.method,
        target=message.target,
        headers=headers,
        body=message.body.decode("utf-8", "backslashreplace"),
        event=event,
        scheme=_SCHEMES[decrypted is not None, signed is not None],
        decryption=None if decrypted is None else f"{decrypted.text}{'' if is_json else ' ' + NOT_JSON}",
        signature=None if signed is None else signed.text,
        endpoint=authentic.endpoint if authentic else None,
        webhook_id=headers.get("webhook-id"),
        replay=headers.get("webhook-replay") == "true",
        sequence=int(sequence) if _SEQUENCE.fullmatch(sequence) else None,
        status=message.status,
    )


_SCHEMES = {(False, False): "none", (True, False): "encrypted", (False, True): "signed", (True, True): "both"}


def _list_secrets(
    endpoints: Sequence[Endpoint], choose: Callable[[WebhookSecrets], tuple[Secret, Secret | None]]
) -> Iterator[tuple[str, str, Secret]]:
    """Yields the webhook, a word about the age of the secret, and the secret."""
    for endpoint in endpoints:
        live, previous = choose(endpoint.secrets)
        yield endpoint.webhook_id, "", live
        if previous is not None:
            yield endpoint.webhook_id, "previous ", previous


def _find(
    candidates: Iterator[tuple[str, str, Secret]], explain: Callable[[Secret], Explanation], success: str
) -> _Finding:
    """Finds the secret that is right; otherwise keeps the first explanation, or that of a body that nearly opened."""
    kept: _Finding | None = None
    for webhook_id, age, secret in candidates:
        explanation = explain(secret)
        if explanation.fault is None:
            text = success.format(id=webhook_id, age=age)
            return _Finding(webhook_id, explanation.plain, " ".join((text, *explanation.notes)))
        if kept is None or (kept.plain is None and explanation.plain is not None):
            known = webhook_id if explanation.plain is not None else None
            kept = _Finding(known, explanation.plain, " ".join((explanation.fault, *explanation.notes)))
    return kept or _Finding(None, None, NO_WEBHOOK)


def _read_event(plain: bytes | None) -> tuple[Any, bool]:
    """Returns the JSON of an authentic body, and whether it is JSON at all."""
    if plain is None:
        return None, True
    try:
        return orjson.loads(plain), True
    except orjson.JSONDecodeError:
        return None, False
