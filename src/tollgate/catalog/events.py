"""The events that merchants are told of as rows: name, type, occasion, object; and which one a payment causes.

Deliveries are made elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.catalog.results import is_pending, is_review


class EventType(StrEnum):
    """The `type` of a webhook body."""

    PAYMENT = "PAYMENT"
    REGISTRATION = "REGISTRATION"
    SCHEDULE = "SCHEDULE"
    RISK = "RISK"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class EventRow:
    name: str
    type: EventType
    occasion: str
    object: str
    """The object that the payload shows."""
    since: str = "0.1"
    """The first version that announces it."""
    action: str | None = None
    """The `action` of the body; only registrations and tests have one."""


_PAYMENT, _REGISTRATION, _SCHEDULE = EventType.PAYMENT, EventType.REGISTRATION, EventType.SCHEDULE
_ROWS = (
    EventRow("payment.pending", _PAYMENT, "The outcome is open: the shopper or somebody else has to act.", "payment"),
    EventRow("payment.authorized", _PAYMENT, "A preauthorization (`PA`) was approved.", "payment"),
    EventRow("payment.succeeded", _PAYMENT, "A debit (`DB`, `PA.CP`) was approved.", "payment"),
    EventRow(
        "payment.review",
        _PAYMENT,
        "A payment was approved and is to be reviewed, or its review rejected it.",
        "payment",
    ),
    EventRow("payment.credited", _PAYMENT, "A credit (`CD`) was approved.", "payment"),
    EventRow("payment.authenticated", _PAYMENT, "A shopper was authenticated without a charge (`3D`).", "payment"),
    EventRow("payment.captured", _PAYMENT, "A capture (`CP`) was approved.", "payment"),
    EventRow("payment.reversed", _PAYMENT, "A reversal (`RV`) was approved.", "payment"),
    EventRow("payment.refunded", _PAYMENT, "A refund (`RF`) was approved.", "payment"),
    EventRow("payment.rebilled", _PAYMENT, "A rebill (`RB`) was approved.", "payment"),
    EventRow("payment.received", _PAYMENT, "The money of a payment arrived (`RC`).", "payment"),
    EventRow("payment.charged_back", _PAYMENT, "A payment was charged back (`CB`).", "payment"),
    EventRow("payment.chargeback_reversed", _PAYMENT, "A chargeback was reversed (`CR`).", "payment"),
    EventRow("payment.failed", _PAYMENT, "A payment, or what followed it, was declined or failed.", "payment"),
    EventRow("registration.created", _REGISTRATION, "An account was stored.", "registration", action="CREATED"),
    EventRow("registration.updated", _REGISTRATION, "A stored account was changed.", "registration", action="UPDATED"),
    EventRow("registration.deleted", _REGISTRATION, "A stored account was deleted.", "registration", action="DELETED"),
    EventRow("schedule.created", _SCHEDULE, "A schedule was created.", "schedule"),
    EventRow("schedule.updated", _SCHEDULE, "A schedule was replaced by another plan.", "schedule"),
    EventRow("schedule.ended", _SCHEDULE, "A schedule was cancelled, ran out, or was ended.", "schedule"),
    EventRow("webhook.test", EventType.TEST, "An endpoint is tested.", "result", action="webhook activation"),
)
EVENT_ROWS: Mapping[str, EventRow] = MappingProxyType({row.name: row for row in _ROWS})

EVENTFUL_PAYMENT_TYPES = tuple(
    code for code, row in PAYMENT_TYPES.items() if row.role not in (Role.REGISTERS, Role.SCHEDULES)
)

SUBSCRIBED_TYPES = (EventType.PAYMENT, EventType.REGISTRATION, EventType.SCHEDULE, EventType.RISK)
SUBSCRIPTIONS = frozenset({*SUBSCRIBED_TYPES, *(row.name for row in _ROWS if row.type is not EventType.TEST)})
"""The words by which an endpoint chooses its events: a type, or the name of one event."""


def choose_payment_event(payment_type: str, result_code: str, *, is_approved: bool) -> str:
    """Returns the name of the event that announces a result of a payment."""
    if is_pending(result_code):
        return "payment.pending"
    if not is_approved:
        return "payment.failed"
    return "payment.review" if is_review(result_code) else PAYMENT_TYPES[payment_type].event
