"""A payment as the server itself wrote it, taken as the pattern for the limits and for filling. Runs no SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | bytes | None

READ_PAYMENT = "SELECT * FROM payments WHERE state = 1 LIMIT 1"
READ_EVENT = "SELECT * FROM outbox LIMIT 1"
COUNT_SETTLED = """SELECT (SELECT count(*) FROM payments WHERE state = 1 AND settled_at IS NOT NULL) AS payments,
 (SELECT count(*) FROM outbox) AS events"""

AT_START: Mapping[str, Value] = {"state": 0, "result_code": "", "details": "{}", "settled_at": None}
"""What the second commit changes, as the first one leaves it."""

INSTANT_DIGITS = 16
"""An event's id begins with its instant in so many hex digits."""


@dataclass(frozen=True)
class Specimen:
    payment: Mapping[str, Value]
    event: Mapping[str, Value]

    def __post_init__(self) -> None:
        payment_id, event_id = self.payment["id"], str(self.event["id"])
        if self.event["subject_id"] != payment_id or event_id[INSTANT_DIGITS:] != payment_id:
            raise ValueError("the event does not belong to the payment, or its id is made in another way than here")

    @property
    def settled(self) -> dict[str, Value]:
        """The columns of the second commit."""
        return {name: self.payment[name] for name in AT_START}

    @property
    def started(self) -> dict[str, Value]:
        """The row of the first commit."""
        return {**self.payment, **AT_START}
