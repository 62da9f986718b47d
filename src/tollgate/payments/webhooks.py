"""Webhooks: the endpoints of merchants, the deliveries of events to them, and when a failed delivery is tried again.

Nothing is stored or sent here.
"""

from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog.events import EVENT_ROWS, EventType
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS
from tollgate.values import DAY, HOUR, MINUTE, SECOND, ChannelId, Instant, MerchantId


class WebhookState(IntEnum):
    """The numbers are stored, so a number is never reused."""

    INACTIVE = 0
    """No test event was answered yet, and nothing is kept for it."""
    ACTIVE = 1
    PAUSED = 2
    """Paused by its owner; its events are kept until it is active again."""
    DISABLED = 3
    """The receiver answered 410; its events are kept until it is active again."""


KEEPING = frozenset({WebhookState.ACTIVE, WebhookState.PAUSED, WebhookState.DISABLED})
"""The states in which the events of an endpoint are kept for it."""


class Scheme(StrEnum):
    """The protection of a body."""

    ENCRYPTED = "encrypted"
    SIGNED = "signed"
    BOTH = "both"

    @property
    def encrypts(self) -> bool:
        return self is not Scheme.SIGNED

    @property
    def signs(self) -> bool:
        return self is not Scheme.ENCRYPTED


class Wrapper(StrEnum):
    """The form of an encrypted body."""

    RAW = "raw"
    JSON = "json"


class FieldChoice(StrEnum):
    ALL = "ALL"
    NON_CUSTOMER_DATA = "NON_CUSTOMER_DATA"


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint: where the events of a merchant, or of one of its channels, are delivered."""

    id: str
    merchant_id: MerchantId
    channel_id: ChannelId | None = None
    """The only channel whose events it receives; None for all channels of the merchant."""
    url: str
    state: WebhookState = WebhookState.INACTIVE
    types: tuple[str, ...] = ()
    """Types and names of events; empty for all."""
    payment_types: tuple[str, ...] = ()
    result_groups: tuple[str, ...] = ()
    fields: FieldChoice = FieldChoice.ALL
    wrapper: Wrapper = Wrapper.RAW
    scheme: Scheme = Scheme.ENCRYPTED
    is_ordered: bool = False
    """Whether an event waits until the earlier ones of the same object were delivered."""
    retries_s: tuple[int, ...] = ()
    """The pauses before each retry, in place of the usual ones; the last is repeated."""
    is_listener: bool = False
    """Whether its deliveries are fetched by `tollgate listen` instead of being sent by a worker."""
    reason: str = ""
    """The reason for which it is not active."""
    created_at: Instant
    revision: int = 0
    sealed_secrets: bytes

    def wants(self, name: str, channel_id: str, payment_type: str, result_code: str) -> bool:
        """Tells whether an event is for this endpoint."""
        if self.channel_id is not None and self.channel_id != channel_id:
            return False
        kind = EVENT_ROWS[name].type
        if self.types and name not in self.types and kind not in self.types:
            return False
        # Registrations carry a result code too, and are not chosen by it.
        if kind is not EventType.PAYMENT:
            return True
        if self.payment_types and payment_type and payment_type not in self.payment_types:
            return False
        return not self.result_groups or not result_code or RESULTS[result_code].group in self.result_groups


class DeliveryState(IntEnum):
    """The numbers are stored, so a number is never reused."""

    PENDING = 0
    DELIVERED = 1
    FAILED = 2
    """It was not delivered in 30 days."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One event on its way to one endpoint."""

    merchant_id: MerchantId
    webhook_id: str
    """The endpoint. For the `notificationUrl` of a request it is the merchant, whose notifications have one lane."""
    subject_id: str
    """The payment, registration or schedule."""
    event_id: str
    sequence: int
    queued_at: Instant
    """The time of the event, or of its replay."""
    due_at: Instant
    state: DeliveryState = DeliveryState.PENDING
    tries: int = 0
    is_replay: bool = False
    url: str | None = None
    """The address of a notification, which has no endpoint."""
    lease_owner: str | None = None
    status: int | None = None
    """The HTTP status of the last answer; None where none came."""


class DeliveryAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A record of one request, and of what came of it."""

    id: str
    merchant_id: MerchantId
    webhook_id: str
    event_id: str
    attempted_at: Instant
    status: int | None
    latency_ms: int
    request_headers: str
    """JSON."""
    answer: bytes
    """The beginning of the receiver's answer."""
    failure: str
    """The reason for which it failed; empty for a success."""
    is_replay: bool = False


RETRIES_S = tuple(pause // SECOND for pause in (*(count * MINUTE for count in (1, 2, 4, 8, 15, 30)), HOUR, DAY))
"""The pauses before each retry; the last is repeated until the delivery is given up."""


def find_retry(
    delivery: Delivery, retries_s: tuple[int, ...], now: Instant, retry_after_s: int | None = None
) -> Instant | None:
    """Returns when a delivery that has failed again is due; None where it is given up.

    A receiver may ask for a longer pause, up to a day.
    """
    pauses = retries_s or RETRIES_S
    pause_s = pauses[min(delivery.tries, len(pauses)) - 1]
    if retry_after_s is not None:
        pause_s = max(pause_s, min(retry_after_s, DAY // SECOND))
    due_at = now + pause_s * SECOND
    return due_at if due_at <= delivery.queued_at + LIMITS.delivery_lifetime else None
