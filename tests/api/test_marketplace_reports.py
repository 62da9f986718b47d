"""The report of sellers over HTTP: what each earned, gave back and lost in disputes, and the audit of it."""

from __future__ import annotations

from typing import Any

import pytest

from api import scheduling
from api.chains import capture, happen, name, refund, result_of, stay_within_a_day
from api.marketplaces import name_faults, sell, shares_of, spell
from api.merchants import add_channel, run_command
from api.registration_requests import register
from gateway import Client, GatewayProcess

pytestmark = pytest.mark.both_databases

REPORT = "/reports/v1/sellers"
SUMMARY = "/reports/v1/reconciliations/aggregations"
SHARES = {"ann": "60.00", "bob": "40.00"}


@pytest.fixture(scope="module")
def market(own_gateway: GatewayProcess) -> Client:
    """A channel with a day of payments of two sellers in euros and one in dollars."""
    client = add_channel(own_gateway, own_gateway.client(), "Market")
    stay_within_a_day(client)
    captured = name(capture(client, sell(client, "PA", SHARES), "50.00"))
    name(refund(client, captured, "10.00"))
    disputed = sell(client, "DB", SHARES)
    charged_back = happen(client, disputed, "CB", "100.00").json["id"]
    happen(client, charged_back, "CR")
    happen(client, captured, "CB", "5.00")
    assert client.pay(None, amount="7.00", currency="USD", **spell({"ann": "7.00"})).status == 200
    client.pay(None, amount="11.00")
    assert client.pay(None, amount="7.00", card__number="4444444444444444", **spell({"ann": "7.00"})).status == 400
    return client


def dates(client: Client) -> dict[str, str | None]:
    day = client.get("/sandbox/clock").json["now"][:10]
    return {"date.from": day, "date.to": day}


def list_sellers(client: Client, **more: str) -> list[dict[str, Any]]:
    answer = client.get(REPORT, {**dates(client), **more})
    assert answer.status == 200, answer.body
    sellers: list[dict[str, Any]] = answer.json["sellers"]
    return sellers


ANN = {
    "id": "ann",
    "currency": "EUR",
    "count": 6,
    "grossAmount": "90.00",
    "refundAmount": "6.00",
    "chargebackAmount": "63.00",
    "chargebackReversalAmount": "60.00",
    "netAmount": "81.00",
}
BOB = {
    "id": "bob",
    "currency": "EUR",
    "count": 6,
    "grossAmount": "60.00",
    "refundAmount": "4.00",
    "chargebackAmount": "42.00",
    "chargebackReversalAmount": "40.00",
    "netAmount": "54.00",
}
DOLLARS = {
    "id": "ann",
    "currency": "USD",
    "count": 1,
    "grossAmount": "7.00",
    "refundAmount": "0.00",
    "chargebackAmount": "0.00",
    "chargebackReversalAmount": "0.00",
    "netAmount": "7.00",
}


def test_every_seller_has_its_sums_in_each_currency(market: Client) -> None:
    assert list_sellers(market) == [ANN, BOB, DOLLARS]
    assert list_sellers(market, currency="USD") == [DOLLARS]
    assert list_sellers(market, testMode="EXTERNAL") == []


def test_pages_lead_to_every_seller_once(market: Client) -> None:
    found, cursor = [], None
    for _ in range(3):
        answer = market.get(REPORT, {**dates(market), "limit": "1", "cursor": cursor})
        found += answer.json["sellers"]
        cursor = answer.json.get("cursor")

    assert (found, cursor) == ([ANN, BOB, DOLLARS], None)
    second = market.get(REPORT, {**dates(market), "limit": "1", "pageNo": "2"}).json
    assert (second["sellers"], second["pages"], second["pageNo"]) == ([BOB], 3, 2)


def test_a_cursor_of_another_list_is_refused(market: Client) -> None:
    cursor = market.get(REPORT, {**dates(market), "limit": "1"}).json["cursor"]

    assert name_faults(market.get(REPORT, {**dates(market), "currency": "EUR", "cursor": cursor})) == ["cursor"]


def test_the_settlement_of_the_merchant_is_the_same_as_without_sellers(market: Client) -> None:
    (euros, dollars) = market.get(SUMMARY, dates(market)).json["aggregations"]

    # The payment without sellers is in the sum of the merchant alone.
    assert (euros["count"], euros["netAmount"]) == (7, "146.00")
    assert (dollars["count"], dollars["netAmount"]) == (1, "7.00")


def test_a_report_of_sellers_needs_its_days(market: Client) -> None:
    assert name_faults(market.get(REPORT)) == ["date.from", "date.to"]


def test_another_merchant_and_another_channel_see_no_sellers(own_gateway: GatewayProcess, market: Client) -> None:
    other = add_channel(own_gateway, market, "Elsewhere")

    assert list_sellers(other) == []


def test_the_payments_of_a_schedule_are_split(own_gateway: GatewayProcess) -> None:
    timetable = scheduling.Timetable(own_gateway, own_gateway.client())
    client = timetable.client
    fields = {"job.dayOfMonth": "L", "amount": "100.00", **spell(SHARES)}
    schedule_id = scheduling.plan(client, register(client), fields)

    timetable.pass_to_next_run(schedule_id)
    timetable.wait_for_runs(schedule_id, 1)

    payment = client.get(f"/v1/payments/{scheduling.list_runs(client, schedule_id)[0]['paymentId']}")
    assert shares_of(payment) == SHARES


def test_the_audit_finds_every_share_in_order(own_gateway: GatewayProcess, market: Client) -> None:
    assert result_of(market.pay(None, amount="1.00", **spell({"ann": "1.00"})))[0] == 200

    assert "all is well" in run_command(own_gateway, "verify")
