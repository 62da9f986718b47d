"""Completion reports as merchants ask for them and read them: sums per day and currency, and what is in a sum.

What was earned is told by the book; nothing is added up here that it did not post.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from itertools import groupby

from tollgate.catalog import CURRENCIES, Situation, get_result
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer
from tollgate.contract.fields import Fields
from tollgate.contract.form import Pairs
from tollgate.contract.report_answers import answer_page
from tollgate.contract.reports import read_begin, read_end, read_report_fields, read_window
from tollgate.payments import Page, Period, ReportEntry, Tally, TestMode, Window
from tollgate.values import DAY, Instant, render_hundredths, render_timestamp, to_datetime, to_instant

_SETTLED, _CHARGEBACK, _CHARGEBACK_REVERSAL = "SETTLED", "CHARGEBACK", "CHARGEBACK REVERSAL"

RECONCILIATIONS: Mapping[str, tuple[str, ...]] = {
    _SETTLED: ("DB", "PA.CP", "CP", "RB", "RC", "RF", "RV", "CD"),
    "FEE": (),
    _CHARGEBACK: ("CB",),
    _CHARGEBACK_REVERSAL: ("CR",),
}
"""Which payment types a reconciliation type is made of. Nobody charges a fee here, so none is ever settled."""

_TYPES = {payment_type: name for name, payment_types in RECONCILIATIONS.items() for payment_type in payment_types}
_ID = re.compile("([0-9]{8})-([A-Z]{3})")


def read_days(pairs: Pairs, situation: Situation) -> Period:
    fields = read_report_fields(pairs, situation)
    return Period(
        begins_at=read_begin(fields.get("date.from")),
        ends_at=read_end(fields.get("date.to")),
        currency=fields.get("currency"),
        test_mode=_read_test_mode(fields),
    )


def read_aggregation(
    aggregation_id: str, pairs: Pairs, situation: Situation, rows_max: int
) -> tuple[Period, Window] | None:
    """None where the id names no day and currency."""
    fields = read_report_fields(pairs, situation)
    found = _read_id(aggregation_id)
    if found is None:
        return None
    begins_at, currency = found
    wanted = fields.get("reconciliationType")
    period = Period(
        begins_at=begins_at,
        ends_at=begins_at + DAY,
        currency=currency,
        test_mode=_read_test_mode(fields),
        payment_types=RECONCILIATIONS[wanted] if wanted else None,
        is_newest_first=(fields.get("sortOrder") or "").upper() == "DESC",
    )
    return period, read_window(fields, rows_max)


def answer_aggregations(tallies: Iterable[Tally], envelope: Envelope, ndc: str, now: Instant) -> Answer:
    """`tallies` are sorted by day and currency."""
    rows = [
        _render_aggregation(begins_at, currency, list(parts))
        for (begins_at, currency), parts in groupby(tallies, lambda tally: (tally.begins_at, tally.currency))
    ]
    return encode_answer(200, envelope.wrap(get_result("000.000.100"), ndc, now, aggregations=rows))


def answer_report_entries(page: Page[ReportEntry], envelope: Envelope, ndc: str, now: Instant) -> Answer:
    rows = [_render_report_entry(report_entry) for report_entry in page.rows]
    return answer_page({"reconciliations": rows}, page, envelope, ndc, now)


def _render_aggregation(begins_at: Instant, currency: str, tallies: list[Tally]) -> Json:
    """Every sum can be had from the records by adding the amounts of one type."""
    day = to_datetime(begins_at)
    settled = [tally.gain for tally in tallies if _TYPES[tally.payment_type] == _SETTLED]
    sums = {
        "grossAmount": sum(gain for gain in settled if gain > 0),
        "refundAmount": -sum(gain for gain in settled if gain < 0),
        "chargebackAmount": -sum(tally.gain for tally in tallies if _TYPES[tally.payment_type] == _CHARGEBACK),
        "chargebackReversalAmount": sum(
            tally.gain for tally in tallies if _TYPES[tally.payment_type] == _CHARGEBACK_REVERSAL
        ),
        "netAmount": sum(tally.gain for tally in tallies),
    }
    return {
        "id": f"{day:%Y%m%d}-{currency}",
        "date": f"{day:%Y-%m-%d}",
        "currency": currency,
        "count": sum(tally.count for tally in tallies),
        **{name: render_hundredths(hundredths) for name, hundredths in sums.items()},
    }


def _render_report_entry(report_entry: ReportEntry) -> Json:
    entry, payment = report_entry.entry, report_entry.payment
    row: Json = {"id": payment.id}
    if payment.referenced_id:
        row["referencedId"] = payment.referenced_id
    if payment.merchant_transaction_id:
        row["merchantTransactionId"] = payment.merchant_transaction_id
    row["paymentType"] = payment.payment_type
    if payment.brand:
        row["paymentBrand"] = payment.brand
    return row | {
        "amount": render_hundredths(report_entry.gain),
        "currency": entry.currency,
        "settlementTxDate": render_timestamp(entry.posted_at),
        "reconciliationType": _TYPES[payment.payment_type],
        # The book has a line only because of its transaction, so there is always exactly one.
        "matchedTransactions": [{"status": "MATCHED", "id": payment.id}],
    }


def _read_test_mode(fields: Fields) -> TestMode | None:
    text = fields.get("testMode")
    return TestMode(text) if text else None


def _read_id(aggregation_id: str) -> tuple[Instant, str] | None:
    match = _ID.fullmatch(aggregation_id)
    if match is None or match[2] not in CURRENCIES:
        return None
    try:
        day = date.fromisoformat(match[1])
    except ValueError:
        return None
    return to_instant(datetime(day.year, day.month, day.day, tzinfo=UTC)), match[2]
