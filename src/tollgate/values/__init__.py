"""The smallest words of the house: money, ids, time, secrets, results, refusals. Knows nothing of ours."""

from tollgate.values.clock import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Clock,
    FixedClock,
    Instant,
    SystemClock,
    render_timestamp,
    to_datetime,
    to_instant,
)
from tollgate.values.ids import Chance, ChannelId, MerchantId, PaymentId, make_id, system_chance
from tollgate.values.money import HUNDREDTHS_MAX, Money, read_hundredths, render_hundredths
from tollgate.values.refusal import (
    Conflict,
    Fault,
    Forbidden,
    InvalidParameters,
    NotFound,
    Refusal,
    TooLarge,
    TooMany,
    TooSlow,
    Unauthenticated,
    WrongMethod,
)
from tollgate.values.result import Result
from tollgate.values.secret import Secret

__all__ = [
    "DAY",
    "HOUR",
    "HUNDREDTHS_MAX",
    "MINUTE",
    "SECOND",
    "Chance",
    "ChannelId",
    "Clock",
    "Conflict",
    "Fault",
    "FixedClock",
    "Forbidden",
    "Instant",
    "InvalidParameters",
    "MerchantId",
    "Money",
    "NotFound",
    "PaymentId",
    "Refusal",
    "Result",
    "Secret",
    "SystemClock",
    "TooLarge",
    "TooMany",
    "TooSlow",
    "Unauthenticated",
    "WrongMethod",
    "make_id",
    "read_hundredths",
    "render_hundredths",
    "render_timestamp",
    "system_chance",
    "to_datetime",
    "to_instant",
]
