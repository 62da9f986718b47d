"""Payments read again: by id, by the merchant's reference, in reports; and the list of result codes."""

from __future__ import annotations

from typing import Any

import pytest

from gateway import Client, GatewayProcess

pytestmark = pytest.mark.both_databases

UNKNOWN_ID = "8a" + "0" * 30

TOLD = {
    "merchantTransactionId": "told-again-0001",
    "merchantInvoiceId": "invoice-0001",
    "merchantMemo": "for the reports",
    "taxAmount": "1.50",
    "customer.givenName": "Jané",
    "customer.surname": "O'Jones",
    "customer.email": "jane@example.org",
    "customer.ip": "2001:db8::1",
    "customer.browser.language": "de",
    "billing.street1": "Hauptstraße 1",
    "billing.city": "Graz",
    "billing.country": "AT",
    "cart.items[0].name": "Lamp",
    "cart.items[0].price": "10.00",
    "cart.items[12].name": "Bulb",
    "customParameters[SHOPPER_pluginId]": "woo",
    'customParameters["branch.id"]': "7",
    "threeDSecure.eci": "05",
}


def test_a_status_answer_is_the_first_answer_again(client: Client) -> None:
    first = client.pay(None, **TOLD)

    for path in ("/v1/payments", "/v1/query"):
        again = client.get(f"{path}/{first.json['id']}")
        assert (again.status, again.json) == (200, first.json)


def test_a_status_answer_repeats_what_the_merchant_sent(client: Client) -> None:
    payment_id = client.pay(None, **TOLD).json["id"]

    body = client.get(f"/v1/payments/{payment_id}").json

    assert body["merchantTransactionId"] == "told-again-0001"
    assert body["merchantInvoiceId"] == "invoice-0001"
    assert body["merchantMemo"] == "for the reports"
    assert body["customer"] == {
        "givenName": "Jané",
        "surname": "O'Jones",
        "email": "jane@example.org",
        "ip": "2001:db8::1",
        "browser": {"language": "de"},
    }
    assert body["billing"] == {"street1": "Hauptstraße 1", "city": "Graz", "country": "AT"}
    assert body["cart"] == {"items": [{"name": "Lamp", "price": "10.00"}, {"name": "Bulb"}]}
    assert body["customParameters"] == {"SHOPPER_pluginId": "woo", "branch.id": "7"}
    assert body["threeDSecure"] == {"eci": "05"}


def test_a_failed_payment_is_read_with_its_own_status(client: Client) -> None:
    payment_id = client.pay(card__number="4444444444444444").json["id"]

    answer = client.get(f"/v1/payments/{payment_id}")

    assert (answer.status, answer.code) == (400, "100.100.101")


def test_an_unknown_id_is_404_as_a_payment_and_400_in_a_report(client: Client) -> None:
    for unknown in (UNKNOWN_ID, "x", "8a", UNKNOWN_ID + "0", UNKNOWN_ID.upper(), "%00", "%F0%9F%98%80", "a" * 500):
        payment, report = client.get(f"/v1/payments/{unknown}"), client.get(f"/v1/query/{unknown}")

        assert (payment.status, payment.code) == (404, "700.400.580")
        assert (report.status, report.code) == (400, "700.400.580")
        assert payment.json["result"]["description"] == "cannot find transaction"


def test_a_report_by_reference_lists_the_oldest_first(client: Client) -> None:
    ids = [client.pay(merchantTransactionId="tried-thrice-1", amount=f"{n}.00").json["id"] for n in (1, 2, 3)]

    answer = client.get("/v1/query", {"merchantTransactionId": "tried-thrice-1"})

    assert (answer.status, answer.json["result"]) == (
        200,
        {"code": "000.000.100", "description": "successful request"},
    )
    assert [row["id"] for row in answer.json["payments"]] == ids
    assert [row["amount"] for row in answer.json["payments"]] == ["1.00", "2.00", "3.00"]
    assert answer.json["ndc"].startswith(f"{client.entity_id}_")


def test_a_report_without_a_match_is_400(client: Client) -> None:
    answer = client.get("/v1/query", {"merchantTransactionId": "nobody-sent-this"})

    assert (answer.status, answer.code) == (400, "700.400.580")


def test_a_report_needs_a_reference(client: Client) -> None:
    answer = client.get("/v1/query")

    assert (answer.status, answer.faults) == (400, {"merchantTransactionId": "may not be empty"})


def test_a_report_may_carry_a_body_and_an_odd_content_type(client: Client) -> None:
    payment_id = client.pay().json["id"]
    headers = client.authorized({"Content-Type": "application/json"})

    answer = client.send("GET", f"/v1/query/{payment_id}?entityId={client.entity_id}", b"{}", headers)

    assert answer.json["id"] == payment_id


def test_the_result_codes_are_listed_for_everybody(client: Client) -> None:
    answer = client.send("GET", "/v1/resultcodes")

    codes: list[dict[str, Any]] = answer.json["resultCodes"]
    described = {row["code"]: row["description"] for row in codes}
    assert answer.status == 200
    assert len(codes) == len(described) > 600
    assert described["000.000.000"] == "Transaction succeeded"
    assert described["800.120.100"]
    assert all(set(row) == {"code", "description"} and len(row["description"]) <= 255 for row in codes)


def test_payments_outlive_a_restart(gateway: GatewayProcess, client: Client) -> None:
    before = [client.pay().json, client.pay(card__number="4444444444444444").json]

    assert gateway.stop() == 0
    gateway.start()

    assert [client.get(f"/v1/payments/{body['id']}").json["result"] for body in before] == [
        body["result"] for body in before
    ]
