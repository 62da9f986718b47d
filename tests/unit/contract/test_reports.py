"""Questions about payments, read from their query, and lists of payments as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Envelope
from tollgate.contract.reports import BOTH_NAMES, ONE_NAME, answer_chain, answer_payment_page, read_question
from tollgate.payments.payment import Payment, State
from tollgate.payments.reporting import FOREVER, Page, Search, Window
from tollgate.values import DAY, SECOND, ChannelId, Instant, InvalidParameters, MerchantId, Money, PaymentId, to_instant

ENVELOPE = Envelope("build")
NOW = 1_800_000_000_000_000
SEARCH = Situation("search", None)


def at(year: int, month: int, day: int, hour: int = 0) -> Instant:
    return to_instant(datetime(year, month, day, hour, tzinfo=UTC))


def make_payment(number: int, chain_id: str | None = None) -> Payment:
    return Payment(
        id=PaymentId(f"8a{number:02d}"),
        merchant_id=MerchantId("8a02"),
        channel_id=ChannelId("8a03"),
        payment_type="DB" if chain_id is None else "RF",
        state=State.APPROVED,
        money=Money(100 * number, "EUR"),
        brand="VISA",
        method="CC",
        descriptor="shop",
        short_id="1",
        ndc=f"ndc-{number}",
        created_at=NOW,
        deadline_at=NOW,
        result_code="000.100.110",
        chain_id=None if chain_id is None else PaymentId(chain_id),
    )


def test_a_bare_question_takes_the_length_of_page_it_is_given() -> None:
    question = read_question([("merchantTransactionId", "order-0001")], SEARCH, LIMITS.query_page)

    assert question.search == Search(reference="order-0001", begins_at=0, ends_at=FOREVER)
    assert question.window == Window(rows_max=LIMITS.query_page, page_no=1, cursor=None)
    assert not question.with_linked


def test_everything_that_may_be_asked_is_read() -> None:
    pairs = [
        ("date.from", "2026-11-15 10:00:00"),
        ("date.to", "2026-11-16"),
        ("shortId", "1234.5678.9012"),
        ("paymentTypes", "RF,CP,RF"),
        ("paymentMethods", "DC,CC"),
        ("limit", "500"),
        ("pageNo", "100"),
        ("includeLinkedTransactions", "true"),
    ]

    question = read_question(pairs, SEARCH, LIMITS.query_page)

    assert question.search == Search(
        short_id="1234.5678.9012",
        payment_types=("CP", "RF"),
        methods=("CC", "DC"),
        begins_at=at(2026, 11, 15, 10),
        ends_at=at(2026, 11, 17),
    )
    assert question.window == Window(rows_max=500, page_no=100)
    assert question.with_linked


@pytest.mark.parametrize(
    ("text", "ends_at"),
    [
        ("2026-11-15", at(2026, 11, 15) + DAY),
        ("2026-11-15 00:00:00", at(2026, 11, 15) + SECOND),
        ("2024-02-29", at(2024, 3, 1)),
        ("9999-12-31", at(9999, 12, 31) + DAY),
    ],
)
def test_the_day_or_the_second_a_report_ends_with_is_within_it(text: str, ends_at: Instant) -> None:
    pairs = [("date.from", "2024-01-01"), ("date.to", text)]

    assert read_question(pairs, SEARCH, 1).search.ends_at == ends_at < FOREVER


def test_a_page_number_beyond_the_last_one_points_to_the_cursor() -> None:
    pairs = [("merchantTransactionId", "order-0001"), ("pageNo", "101")]

    with pytest.raises(InvalidParameters) as refused:
        read_question(pairs, SEARCH, 1)

    [fault] = refused.value.faults
    assert (fault.name, fault.message) == ("pageNo", "must be a number from 1 to 100; use cursor to go further")


def test_a_page_has_an_envelope_and_rows_without_one() -> None:
    page = Page(rows=[make_payment(1), make_payment(2)], pages=7, page_no=3, cursor="next")

    body = json.loads(answer_payment_page(page, None, ONE_NAME, ENVELOPE, "ndc", NOW).body)

    assert list(body) == [*("result", "buildNumber", "timestamp", "ndc"), *("payments", "pages", "pageNo", "cursor")]
    assert [row["ndc"] for row in body["payments"]] == ["ndc-1", "ndc-2"]
    assert all("buildNumber" not in row and "linkedTransactions" not in row for row in body["payments"])


def test_a_page_reached_by_cursor_does_not_speak_of_numbers() -> None:
    page = Page(rows=[make_payment(1)], pages=None, page_no=None, cursor=None)

    body = json.loads(answer_payment_page(page, {}, BOTH_NAMES, ENVELOPE, "ndc", NOW).body)

    assert list(body)[4:] == ["payments", "records"]
    assert body["payments"] == body["records"]
    assert body["records"][0]["linkedTransactions"] == []


def test_linked_transactions_are_the_others_of_the_chain() -> None:
    first, second, third = make_payment(1), make_payment(2, "8a01"), make_payment(3, "8a01")
    page = Page(rows=[second, make_payment(9)], pages=1, page_no=1, cursor=None)

    answer = answer_payment_page(page, {"8a01": [first, second, third]}, ONE_NAME, ENVELOPE, "ndc", NOW)

    rows = json.loads(answer.body)["payments"]
    assert [[other["id"] for other in row["linkedTransactions"]] for row in rows] == [["8a01", "8a03"], []]


def test_a_chain_stands_beside_the_payment_it_was_asked_for() -> None:
    first, second = make_payment(1), make_payment(2, "8a01")

    body = json.loads(answer_chain(second, [first, second], ENVELOPE).body)

    assert (body["id"], body["ndc"], body["result"]["code"]) == ("8a02", "ndc-2", "000.100.110")
    assert [row["id"] for row in body["payments"]] == ["8a01", "8a02"]
