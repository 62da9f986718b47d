"""The bodies of webhooks: what an event says about a payment, a registration or a schedule.

How they are sent is not known here.
"""

from typing import Any

import orjson

from tollgate.catalog import codes
from tollgate.catalog.events import EVENT_ROWS
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Answer, Envelope, Json
from tollgate.contract.schedules import SOURCE
from tollgate.contract.shopper_urls import make_registration_url, make_return_url
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.registration import Registration, RegistrationEvent
from tollgate.payments.webhooks import FieldChoice
from tollgate.values import Instant

_CUSTOMER_WORDS = ("customer", "billing", "shipping", "bankAccount", "virtualAccount")
_CUSTOMER_MEMBERS = (("card", "holder"), ("tokenAccount", "holder"))
"""The members that an endpoint without customer data is not shown."""
_FORM, _SYSTEM = "OPPUI", "SYSTEM"


def render_payment_payload(body: Json, payment: Payment, channel: Channel | None) -> bytes:
    """Renders what a read of the payment answers now, and the further members of an event."""
    more = {
        "presentationAmount": body["amount"],
        "presentationCurrency": body["currency"],
        "authentication": {"entityId": payment.channel_id},
        "channelName": channel.name if channel else "",
        "source": _choose_source(payment),
        "paymentMethod": payment.method,
        "shortId": payment.short_id,
    }
    return orjson.dumps({"redirect": {"parameters": []}, "customParameters": {}, **body, **more})


def _choose_source(payment: Payment) -> str:
    return payment.echo.get(SOURCE) or (_SYSTEM if payment.checkout_id is None else _FORM)


def render_object_payload(answer: Answer, channel: Channel | None, **more: Any) -> bytes:
    """Renders what a read of a registration or a schedule answers, and the further members of an event."""
    body: Json = orjson.loads(answer.body)
    if channel is not None:
        body |= {"authentication": {"entityId": channel.id}, "channelName": channel.name}
    return orjson.dumps(body | more)


def find_notification_url(payment: Payment) -> str | None:
    """Returns the address to call, if the merchant named one and is waiting for this result.

    The result of a checkout is always waited for, that of another payment if it was open before.
    """
    url = payment.echo.get("notificationUrl")
    is_awaited = payment.checkout_id is not None or payment.events > 1
    return make_return_url(url, payment) if url and is_awaited else None


def find_registration_notification(registration: Registration, name: str, sequence: int) -> str | None:
    """Does the same for a registration; where a payment made it, that payment's result is what the merchant awaits."""
    url = registration.echo.get("notificationUrl")
    is_awaited = registration.made_by is None and name == RegistrationEvent.CREATED and sequence > 1
    return make_registration_url(url, registration.id) if url and is_awaited else None


def render_body(name: str, payload: bytes, fields: FieldChoice = FieldChoice.ALL) -> bytes:
    """Renders the plain body of a webhook."""
    row = EVENT_ROWS[name]
    shown: Json = orjson.loads(payload)
    if fields is FieldChoice.NON_CUSTOMER_DATA:
        shown = _strip_customer(shown)
    action = {} if row.action is None else {"action": row.action}
    return orjson.dumps({"type": row.type.value, **action, "payload": shown})


def describe_body(body: bytes) -> str:
    """Describes a body in a few words: the payment type, the amount and the result code, or the id of its object."""
    payload: Json = orjson.loads(body)["payload"]
    words = [payload.get(name) for name in ("paymentType", "amount", "currency")]
    known = [*words, payload.get("result", {}).get("code")] if words[1] else [payload.get("id")]
    return " ".join(str(word) for word in known if word)


def _strip_customer(shown: Json) -> Json:
    kept = {word: value for word, value in shown.items() if word not in _CUSTOMER_WORDS}
    for word, member in _CUSTOMER_MEMBERS:
        if word in kept:
            kept[word] = {name: value for name, value in kept[word].items() if name != member}
    return kept


def render_test_payload(envelope: Envelope, ndc: str, now: Instant) -> bytes:
    return orjson.dumps(envelope.wrap(get_result(codes.SUCCEEDED_INTERNAL_TEST), ndc, now))
