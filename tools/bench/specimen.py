"""A payment as the server itself wrote it, taken as the pattern for the limits and for filling. Runs no SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | bytes | None

READ_PAYMENT = "SELECT * FROM payments WHERE state = 1 LIMIT 1"
READ_EVENT = "SELECT * FROM outbox LIMIT 1"
READ_LINE = "SELECT * FROM ledger_entries LIMIT 1"
COUNT_COMPLETED = """SELECT (SELECT count(*) FROM payments WHERE state = 1 AND completed_at IS NOT NULL) AS payments,
 (SELECT count(*) FROM outbox) AS events"""
# Two scans instead of a join: the ledger has no index by payment, and the count is taken once.
COUNT_REFUNDS = """SELECT (SELECT count(*) FROM payments WHERE payment_type = 'RF' AND state = 1) AS refunds,
 (SELECT count(*) FROM ledger_entries WHERE source = 'earned' AND target = 'shopper') AS lines"""
PICK_STORED = """SELECT id FROM payments WHERE merchant_transaction_id LIKE 'stored-%' AND payment_type = 'DB'
 ORDER BY random() LIMIT """

AT_START: Mapping[str, Value] = {
    "state": 0,
    "outcome": None,
    "result_code": "",
    "details": "{}",
    "completed_at": None,
    "mac": None,
}
"""The first commit writes these values and the second changes them."""

INSTANT_DIGITS = 16
"""The ids of an event and of a ledger entry begin with their instant in so many hex digits."""

FILLED_BEFORE_US = 60_000_000
"""About so long before the specimen lie filled payments, a microsecond apart."""


@dataclass(frozen=True)
class Specimen:
    payment: Mapping[str, Value]
    event: Mapping[str, Value]
    line: Mapping[str, Value]

    def __post_init__(self) -> None:
        payment_id = self.payment["id"]
        for owner, timed_id in (
            (self.event["subject_id"], self.event["id"]),
            (self.line["payment_id"], self.line["id"]),
        ):
            if owner != payment_id or str(timed_id)[INSTANT_DIGITS:] != payment_id:
                raise ValueError("what was written beside the payment is another's, or its id is made in another way")

    @property
    def completed(self) -> dict[str, Value]:
        """The columns of the second commit."""
        return {name: self.payment[name] for name in AT_START}

    @property
    def started(self) -> dict[str, Value]:
        """The row of the first commit."""
        return {**self.payment, **AT_START}
