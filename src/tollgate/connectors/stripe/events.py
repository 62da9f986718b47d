"""The events of the Stripe API that a payment has to know of: disputes and failed refunds.

Whether an event is authentic, and what becomes of it, is decided elsewhere.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from tollgate.catalog import codes
from tollgate.connectors.acquiring import read_minor_units
from tollgate.connectors.exchange import read_message
from tollgate.connectors.stripe import messages
from tollgate.connectors.stripe.messages import Id
from tollgate.values import Money

WEBHOOK_SECRET = "webhook-secret"
"""The name of the secret with which the processor signs its events."""
SIGNATURE = "Stripe-Signature"

_Word = Annotated[str, msgspec.Meta(max_length=100)]


class EventKind(StrEnum):
    DISPUTE_OPENED = "dispute opened"
    DISPUTE_WON = "dispute won"
    REFUND_FAILED = "refund failed"


REASONS: Mapping[str, str] = {
    "credit_not_processed": "000.100.225",
    "duplicate": "000.100.224",
    "fraudulent": "000.100.220",
    "product_not_received": "000.100.221",
    "unrecognized": "000.100.222",
}
"""The reasons of disputes that have a result code of their own."""


class _Named(msgspec.Struct, frozen=True):
    """An object that an event contains as a whole, in place of its id."""

    id: Id
    metadata: Mapping[str, str] | None = None


class _Object(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    status: _Word | None = None
    reason: _Word | None = None
    amount: int = 0
    currency: _Word = ""
    payment_intent: Id | _Named | None = None
    charge: Id | _Named | None = None
    metadata: Mapping[str, str] | None = None


class _Contents(msgspec.Struct, frozen=True):
    object: _Object


class _Envelope(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    type: _Word
    livemode: bool = False
    data: _Contents


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: EventKind | None
    """It is None for an event that changes nothing here."""
    is_live: bool
    reference: str
    """The id of the dispute or refund."""
    money: Money | None
    result_code: str
    """The code of a chargeback with this reason."""
    intent_id: str | None
    payment_id: str | None
    """The payment, where the event itself names it."""


def read_event(body: bytes) -> Event | None:
    """Returns None for what is no event about an object with an id."""
    envelope = read_message(body, _Envelope)
    if envelope is None:
        return None
    about = envelope.data.object
    holders = [each for each in (about.charge, about.payment_intent) if isinstance(each, _Named)]
    keys = [messages.find_key(about.metadata), *(messages.find_key(each.metadata) for each in holders)]
    intent = about.payment_intent
    return Event(
        id=envelope.id,
        kind=choose_kind(envelope.type, about.status or ""),
        is_live=envelope.livemode,
        reference=about.id,
        money=read_minor_units(about.amount, about.currency.upper()),
        result_code=REASONS.get(about.reason or "", codes.CHARGED_BACK),
        intent_id=intent.id if isinstance(intent, _Named) else intent,
        payment_id=next(filter(None, keys), None),
    )


def choose_kind(name: str, status: str) -> EventKind | None:
    match name:
        # An inquiry of the bank is announced as a warning, and moves no money.
        case "charge.dispute.created" if not status.startswith("warning_"):
            return EventKind.DISPUTE_OPENED
        case "charge.dispute.closed" if status == "won":
            return EventKind.DISPUTE_WON
        case "refund.failed":
            return EventKind.REFUND_FAILED
        case "charge.refund.updated" | "refund.updated" if status == "failed":
            return EventKind.REFUND_FAILED
        case _:
            return None
