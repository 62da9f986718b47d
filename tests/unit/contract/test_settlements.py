"""Completion reports: which day an id names, what is in a sum, how a record reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.payment_types import PAYMENT_TYPES, Reconciliation
from tollgate.catalog.rule import Situation
from tollgate.contract import reports
from tollgate.contract.answers import Envelope
from tollgate.payments.completion import list_entries
from tollgate.payments.following import FOLLOWINGS, Action
from tollgate.payments.ledger import FIRST_ENTRIES, LedgerAccount
from tollgate.payments.order import TestMode
from tollgate.payments.reporting import Page, ReportEntry, Tally
from tollgate.values import DAY, InvalidParameters, PaymentId, to_instant
from unit.payments.samples import make_payment

ENVELOPE = Envelope("build")
DETAIL = Situation("query", None)
NOON = to_instant(datetime(2026, 11, 15, 12, tzinfo=UTC))
MIDNIGHT = NOON // DAY * DAY


def tally(payment_type: str, gain: int, count: int = 1, currency: str = "EUR", day: int = NOON // DAY) -> Tally:
    target = LedgerAccount.EARNED if gain > 0 else LedgerAccount.SHOPPER
    return Tally(day=day, currency=currency, payment_type=payment_type, target=target, count=count, amount=abs(gain))


def aggregate(*tallies: Tally) -> list[dict[str, Any]]:
    body = json.loads(reports.answer_aggregations(tallies, ENVELOPE, "ndc", NOON).body)
    rows: list[dict[str, Any]] = body["aggregations"]
    return rows


def test_every_kind_that_moves_the_account_has_exactly_one_type() -> None:
    moving = {payment_type for payment_type, accounts in FIRST_ENTRIES.items() if LedgerAccount.EARNED in accounts}
    moving |= {row.payment_type for row in FOLLOWINGS.values() if LedgerAccount.EARNED in (row.source, row.target)}

    assert {code for code, row in PAYMENT_TYPES.items() if row.reconciliation} == moving


def test_the_types_are_those_a_caller_may_ask_for() -> None:
    assert tuple(Reconciliation) == PARAMETERS["reconciliationType"].shape.choices


def test_a_summary_is_of_whole_days() -> None:
    pairs = [("date.from", "2026-11-15"), ("date.to", "2026-11-16"), ("currency", "EUR"), ("testMode", "EXTERNAL")]

    period = reports.read_days(pairs, Situation("reconciliations", None))

    assert (period.begins_at, period.ends_at) == (MIDNIGHT, MIDNIGHT + 2 * DAY)
    assert (period.currency, period.test_mode, period.payment_types) == ("EUR", TestMode.EXTERNAL, None)


def test_a_summary_names_all_dates_that_are_missing() -> None:
    with pytest.raises(InvalidParameters) as refused:
        reports.read_days([], Situation("reconciliations", None))

    assert [fault.name for fault in refused.value.faults] == ["date.from", "date.to"]


@pytest.mark.parametrize(
    ("sent", "kinds", "is_newest_first"),
    [
        ([], None, False),
        ([("reconciliationType", "FEE"), ("sortOrder", "asc")], (), False),
        ([("reconciliationType", "CHARGEBACK"), ("sortOrder", "dEsC")], ("CB",), True),
    ],
)
def test_an_id_names_a_day_and_a_currency(
    sent: list[tuple[str, str]], kinds: tuple[str, ...] | None, is_newest_first: bool
) -> None:
    found = reports.read_aggregation("20261115-EUR", sent, DETAIL, 100)

    assert found is not None
    period, window = found
    assert (period.begins_at, period.ends_at, period.currency) == (MIDNIGHT, MIDNIGHT + DAY, "EUR")
    assert (period.payment_types, period.is_newest_first, window.rows_max) == (kinds, is_newest_first, 100)


@pytest.mark.parametrize("text", ["", "20261115", "20261115-EURO", "20261315-EUR", "00000000-EUR", "20261115-ABC"])
def test_other_text_names_nothing(text: str) -> None:
    assert reports.read_aggregation(text, [], DETAIL, 100) is None


def test_sums_are_kept_apart_by_day_and_currency() -> None:
    tomorrow = NOON // DAY + 1

    rows = aggregate(tally("DB", 100, 2), tally("DB", 7, currency="USD"), tally("DB", 5, day=tomorrow))

    assert [(row["id"], row["date"], row["count"], row["netAmount"]) for row in rows] == [
        ("20261115-EUR", "2026-11-15", 2, "1.00"),
        ("20261115-USD", "2026-11-15", 1, "0.07"),
        ("20261116-EUR", "2026-11-16", 1, "0.05"),
    ]


def test_a_sum_separates_taken_given_back_and_charged_back() -> None:
    # A refund that the bank sent back is a chargeback in the merchant's favour.
    [row] = aggregate(
        tally("CP", 1000), tally("RF", -300, 2), tally("CD", -1500), tally("CB", -200), tally("CB", 50), tally("CR", 70)
    )

    assert (row["grossAmount"], row["refundAmount"]) == ("10.00", "18.00")
    assert (row["chargebackAmount"], row["chargebackReversalAmount"]) == ("1.50", "0.70")
    assert (row["netAmount"], row["count"]) == ("-8.80", 7)


def test_a_record_says_only_what_is_known() -> None:
    chargeback = make_payment(
        "CB", 250, id=PaymentId("8a01"), brand="", action=Action.CHARGEBACK, created_at=NOON, completed_at=NOON
    )
    whole = replace(chargeback, brand="VISA", referenced_id=PaymentId("8a00"), merchant_transaction_id="order-0001")
    rows = [ReportEntry(list_entries(payment)[0], payment) for payment in (chargeback, whole)]
    page = Page(rows=rows, pages=1, page_no=1, cursor=None)

    bare, full = json.loads(reports.answer_report_entries(page, ENVELOPE, "ndc", NOON).body)["reconciliations"]

    assert bare == {
        "id": "8a01",
        "paymentType": "CB",
        "amount": "-2.50",
        "currency": "EUR",
        "settlementTxDate": "2026-11-15 12:00:00+0000",
        "reconciliationType": "CHARGEBACK",
        "matchedTransactions": [{"status": "MATCHED", "id": "8a01"}],
    }
    extra = {"referencedId": "8a00", "merchantTransactionId": "order-0001", "paymentBrand": "VISA"}
    assert full == bare | extra
