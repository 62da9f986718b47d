"""Completion reports over HTTP: sums for each day and currency, and the records that a sum is made of."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from api.chains import authorise, begin, capture, debit, happen, name, rebill, refund, reverse, stay_within_a_day
from api.merchants import add_channel
from gateway import Answer, Client, GatewayProcess
from tollgate.store.opening import open_database
from tollgate.store.statements import Statement
from tollgate.values import read_hundredths

pytestmark = pytest.mark.both_databases

SUMMARY = "/reports/v1/reconciliations/aggregations"
PAGED = "/reports/v2/reconciliations/aggregations"
SUMS = ("grossAmount", "refundAmount", "chargebackAmount", "chargebackReversalAmount", "netAmount")


@dataclass(frozen=True)
class Day:
    """One day of a channel: what a mixture of payments left in the merchant's account, in order."""

    client: Client
    date: str
    expected: list[tuple[str, str, str]]
    """Id, payment type and amount as the account sees it."""

    @property
    def dates(self) -> dict[str, str]:
        return {"date.from": self.date, "date.to": self.date}

    @property
    def aggregation(self) -> str:
        return self.date.replace("-", "") + "-EUR"


def live_through(client: Client) -> list[tuple[str, str, str]]:
    authorised = authorise(client, "100.00", merchantTransactionId="settled-order-1")
    captured = name(capture(client, authorised, "60.00"))
    refunded = name(refund(client, captured, "12.50"))
    name(reverse(client, authorised))
    debited = debit(client, "80.00")
    billed = name(rebill(client, debited, "20.00"))
    undone = debit(client, "7.77")
    reversed_again = name(reverse(client, undone))
    paid_out = begin(client, "CD", "5.00")
    disputed = happen(client, debited, "CB", "30.00", currency="EUR").json["id"]
    won = happen(client, disputed, "CR").json["id"]
    lost = happen(client, billed, "CB", "20.00", currency="EUR").json["id"]
    assert capture(client, authorised, "1.00").status == refund(client, captured, "99.00").status == 400
    assert client.pay(card__number="4444444444444444").status == 400
    return [
        (captured, "CP", "60.00"),
        (refunded, "RF", "-12.50"),
        (debited, "DB", "80.00"),
        (billed, "RB", "20.00"),
        (undone, "DB", "7.77"),
        (reversed_again, "RV", "-7.77"),
        (paid_out, "CD", "-5.00"),
        (disputed, "CB", "-30.00"),
        (won, "CR", "30.00"),
        (lost, "CB", "-20.00"),
    ]


@pytest.fixture(scope="module")
def day(gateway: GatewayProcess, client: Client) -> Day:
    merchant = add_channel(gateway, client, "Completion")
    stay_within_a_day(merchant)
    date = merchant.get("/sandbox/clock").json["now"][:10]
    return Day(merchant, date, live_through(merchant))


def read_earned(gateway: GatewayProcess, channel_id: str) -> int:
    """Returns the balance of the ledger account, straight from the store."""
    text = """SELECT COALESCE(SUM(CASE WHEN target = 'earned' THEN amount ELSE -amount END), 0) FROM ledger_entries
 WHERE channel_id = :channel_id AND 'earned' IN (source, target)"""

    async def read() -> int:
        database = await open_database(gateway.database or str(gateway.data / "tollgate.db"), read_only=True)
        row = await database.fetch_one(Statement(sa.text(text)), {"channel_id": channel_id})
        await database.close()
        return int(row[0]) if row else 0

    return asyncio.run(read())


def count_hundredths(amount: str) -> int:
    return -read_hundredths(amount[1:]) if amount.startswith("-") else read_hundredths(amount)


def records(answer: Answer) -> list[dict[str, Any]]:
    assert answer.status == 200, answer.body
    rows: list[dict[str, Any]] = answer.json["reconciliations"]
    return rows


def test_a_day_is_summed_up(day: Day) -> None:
    answer = day.client.get(SUMMARY, day.dates)

    assert answer.json["result"]["code"] == "000.000.100"
    assert answer.json["aggregations"] == [
        {
            "id": day.aggregation,
            "date": day.date,
            "currency": "EUR",
            "count": 10,
            "grossAmount": "167.77",
            "refundAmount": "25.27",
            "chargebackAmount": "50.00",
            "chargebackReversalAmount": "30.00",
            "netAmount": "122.50",
        }
    ]


def test_the_sum_of_all_that_was_earned_is_the_balance_of_the_ledger_account(gateway: GatewayProcess, day: Day) -> None:
    year = day.date[:4]
    rows = day.client.get(SUMMARY, {"date.from": f"{year}-01-01", "date.to": f"{year}-12-31"}).json["aggregations"]

    net = sum(count_hundredths(row["netAmount"]) for row in rows)

    assert net == read_earned(gateway, day.client.entity_id) == 12250


def test_every_sum_can_be_had_from_the_records(day: Day) -> None:
    [summary] = day.client.get(SUMMARY, day.dates).json["aggregations"]
    rows = records(day.client.get(f"{SUMMARY}/{day.aggregation}"))

    def add_up(kind: str) -> list[int]:
        return [count_hundredths(row["amount"]) for row in rows if row["reconciliationType"] == kind]

    assert {title: count_hundredths(summary[title]) for title in SUMS} == {
        "grossAmount": sum(amount for amount in add_up("SETTLED") if amount > 0),
        "refundAmount": -sum(amount for amount in add_up("SETTLED") if amount < 0),
        "chargebackAmount": -sum(add_up("CHARGEBACK")),
        "chargebackReversalAmount": sum(add_up("CHARGEBACK REVERSAL")),
        "netAmount": sum(count_hundredths(row["amount"]) for row in rows),
    }
    assert summary["count"] == len(rows)


@pytest.mark.parametrize("path", [SUMMARY, PAGED])
def test_the_records_of_a_day_are_all_that_moved_the_account_and_nothing_else(day: Day, path: str) -> None:
    answer = day.client.get(f"{path}/{day.aggregation}", {"sortValue": "SettlementTxDate", "sortOrder": "asc"})
    backwards = day.client.get(f"{path}/{day.aggregation}", {"sortValue": "SettlementTxDate", "sortOrder": "Desc"})

    assert [(row["id"], row["paymentType"], row["amount"]) for row in records(answer)] == day.expected
    assert records(backwards) == records(answer)[::-1]


def test_a_record_names_its_transaction_and_what_that_refers_to(day: Day) -> None:
    first, second = records(day.client.get(f"{SUMMARY}/{day.aggregation}"))[:2]
    captured, refunded = day.expected[0][0], day.expected[1][0]

    assert second == {
        "id": refunded,
        "referencedId": captured,
        "paymentType": "RF",
        "paymentBrand": "VISA",
        "amount": "-12.50",
        "currency": "EUR",
        "settlementTxDate": second["settlementTxDate"],
        "reconciliationType": "SETTLED",
        "matchedTransactions": [{"status": "MATCHED", "id": refunded}],
    }
    assert second["settlementTxDate"].startswith(day.date)
    assert first["id"] == captured


def test_records_are_narrowed_by_type_and_by_mode(day: Day) -> None:
    def find(**wanted: str) -> list[str]:
        answer = day.client.get(f"{PAGED}/{day.aggregation}", wanted)
        return [row["paymentType"] for row in records(answer)]

    assert find(reconciliationType="CHARGEBACK") == ["CB", "CB"]
    assert find(reconciliationType="CHARGEBACK REVERSAL") == ["CR"]
    assert find(reconciliationType="SETTLED") == ["CP", "RF", "DB", "RB", "DB", "RV", "CD"]
    assert find(reconciliationType="FEE") == []
    assert len(find(testMode="INTERNAL")) == len(day.expected)
    assert find(testMode="EXTERNAL") == []


def test_a_summary_is_narrowed_by_currency_and_by_mode(day: Day) -> None:
    def find(**wanted: str) -> list[str]:
        answer = day.client.get(SUMMARY, {**day.dates, **wanted})
        assert answer.status == 200
        return [row["id"] for row in answer.json["aggregations"]]

    assert find(currency="EUR", testMode="INTERNAL") == [day.aggregation]
    assert find(currency="USD") == []
    assert find(testMode="EXTERNAL") == []


def test_a_day_without_records_is_an_empty_list_and_no_day_at_all_a_miss(day: Day) -> None:
    for path in (SUMMARY, PAGED):
        assert records(day.client.get(f"{path}/20010101-EUR")) == []
        for unknown in ("20011301-EUR", "20010101-XXZ", "20010101", "8a" + "0" * 30, "%00"):
            answer = day.client.get(f"{path}/{unknown}")
            assert (answer.status, answer.code) == (400, "700.400.580")


@pytest.mark.parametrize(
    ("path", "sent", "faulty"),
    [
        (SUMMARY, {}, ["date.from", "date.to"]),
        (SUMMARY, {"date.from": "2026-01-01"}, ["date.to"]),
        (SUMMARY, {"date.from": "2026-01-01", "date.to": "2027-01-02"}, ["date.to"]),
        (SUMMARY, {"date.from": "2026-01-01 10:00:00", "date.to": "2026-01-02"}, ["date.from"]),
        (SUMMARY, {"date.from": "2026-01-01", "date.to": "2026-01-02", "currency": "euro"}, ["currency"]),
        (f"{PAGED}/20260101-EUR", {"reconciliationType": "OTHER"}, ["reconciliationType"]),
        (f"{PAGED}/20260101-EUR", {"sortOrder": "up"}, ["sortOrder"]),
        (f"{PAGED}/20260101-EUR", {"sortValue": "amount"}, ["sortValue"]),
        (f"{PAGED}/20260101-EUR", {"pageNo": "101"}, ["pageNo"]),
        (f"{PAGED}/20260101-EUR", {"cursor": "abc"}, ["cursor"]),
    ],
)
def test_a_faulty_query_is_answered_with_the_parameter(
    day: Day, path: str, sent: dict[str, str], faulty: list[str]
) -> None:
    answer = day.client.get(path, sent)

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert list(answer.faults) == faulty


def test_nobody_sees_what_another_channel_earned(gateway: GatewayProcess, client: Client, day: Day) -> None:
    newcomer = add_channel(gateway, client, "Newcomer")

    assert newcomer.get(SUMMARY, day.dates).json["aggregations"] == []
    assert records(newcomer.get(f"{PAGED}/{day.aggregation}")) == []


def test_nobody_sees_what_another_merchant_earned(day: Day, stranger: Client) -> None:
    seen = {row["id"] for row in records(stranger.get(f"{PAGED}/{day.aggregation}"))}

    assert not seen & {row["id"] for row in records(day.client.get(f"{PAGED}/{day.aggregation}"))}


def test_a_long_day_is_read_by_numbers_and_by_cursors(gateway: GatewayProcess, client: Client) -> None:
    merchant = add_channel(gateway, client, "Busy")
    stay_within_a_day(merchant)
    aggregation = merchant.get("/sandbox/clock").json["now"][:10].replace("-", "") + "-EUR"
    made = [debit(merchant, "1.00") for _ in range(103)]
    newest_first = {"sortOrder": "DESC"}

    numbered = [merchant.get(f"{PAGED}/{aggregation}", {**newest_first, "pageNo": str(n)}) for n in (1, 2, 3)]
    cursor = numbered[0].json["cursor"]
    led = merchant.get(f"{PAGED}/{aggregation}", {**newest_first, "cursor": cursor})

    assert [len(records(page)) for page in numbered] == [100, 3, 0]
    assert [(page.json["pages"], page.json["pageNo"]) for page in numbered] == [(2, 1), (2, 2), (2, 3)]
    assert [row["id"] for page in numbered for row in records(page)] == made[::-1]
    assert records(led) == records(numbered[1])
    assert "pages" not in led.json
    assert list(merchant.get(f"{PAGED}/{aggregation}", {"cursor": cursor}).faults) == ["cursor"]
    assert [row["id"] for row in records(merchant.get(f"{SUMMARY}/{aggregation}"))] == made
