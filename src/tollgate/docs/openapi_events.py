"""The events as the webhooks of the OpenAPI document: their bodies, plain and encrypted, and their headers.

How they are delivered is written in the guide.
"""

import re

from tollgate.catalog import endpoints, events
from tollgate.docs.schemas import Json, refer

JSON_TYPE = "application/json"
_HEADERS = (
    ("webhook-id", True, "The id of the event; a repeated delivery has the same."),
    ("Webhook-Sequence", True, "The number of the event among those of its object."),
    ("Webhook-Replay", False, "`true` if somebody asked for this delivery again."),
    ("X-Initialization-Vector", False, "Of an encrypted body: the IV of AES-256-GCM, in hex."),
    ("X-Authentication-Tag", False, "Of an encrypted body: the tag of AES-256-GCM, in hex."),
    ("webhook-timestamp", False, "Of a signed body: the time in seconds since 1970."),
    ("webhook-signature", False, "Of a signed body: `v1,` and the base64 of HMAC-SHA256 over id, time and body."),
)


HEADERS: Json = {
    name: {"name": name, "in": "header", "required": is_always, "description": text, "schema": {"type": "string"}}
    for name, is_always, text in _HEADERS
}
"""The headers of a delivery, as components."""


def render_event(row: events.EventRow) -> Json:
    constants = {"type": {"const": row.type.value}, **({"action": {"const": row.action}} if row.action else {})}
    plain = {
        "type": "object",
        "required": [*constants, "payload"],
        "properties": {**constants, "payload": refer(f"{row.object.capitalize()}Payload")},
    }
    return {
        "post": {
            "operationId": "on" + "".join(word.capitalize() for word in re.split("[._]", row.name)),
            "tags": [endpoints.Section.WEBHOOKS.value],
            "summary": row.name,
            "description": row.occasion,
            "security": [],
            "parameters": [refer(name, "parameters") for name, _, _ in _HEADERS],
            "requestBody": {
                "required": True,
                "content": {
                    JSON_TYPE: {"schema": {"anyOf": [plain, refer("EncryptedEvent")]}},
                    "text/plain": {"schema": refer("EncryptedText")},
                },
            },
            "responses": {
                "2XX": {"description": "Delivered."},
                "410": {"description": "The endpoint is disabled."},
                "default": {"description": "Not delivered; it is tried again."},
            },
        }
    }


ENCRYPTED_TEXT = {
    "type": "string",
    "description": "The event, encrypted with the secret of the endpoint, in hex.",
    "pattern": "^(?:[0-9A-Fa-f]{2})+$",
}
ENCRYPTED_EVENT = {
    "type": "object",
    "required": ["encryptedBody"],
    "properties": {"encryptedBody": refer("EncryptedText")},
}
