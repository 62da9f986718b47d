"""The first payment a newcomer makes, and what its answer says."""

from __future__ import annotations

import re
import subprocess

import pytest

from api.merchants import run_command
from gateway import PAYMENT, Client, GatewayProcess

KEYS_IN_ORDER = [
    "id",
    "paymentType",
    "paymentBrand",
    "amount",
    "currency",
    "descriptor",
    "merchantTransactionId",
    "result",
    "resultDetails",
    "card",
    "billing",
    "threeDSecure",
    "customParameters",
    "risk",
    "buildNumber",
    "timestamp",
    "ndc",
]


@pytest.mark.both_databases
@pytest.mark.parametrize("payment_type", ["DB", "PA", "CD", "PA.CP"])
def test_a_card_payment_succeeds(client: Client, payment_type: str) -> None:
    answer = client.pay(paymentType=payment_type)

    assert answer.status == 200
    assert answer.json["paymentType"] == payment_type
    assert answer.json["result"] == {
        "code": "000.100.110",
        "description": "Request successfully processed in 'Merchant in Integrator Test Mode'",
    }


def test_the_printed_curl_works_when_pasted(gateway: GatewayProcess) -> None:
    shown = run_command(gateway, "credentials")
    command = shown[shown.index("curl ") :]

    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300, check=True)

    assert '"code":"000.100.110"' in done.stdout


def test_an_answer_has_its_fields_in_the_recorded_order(client: Client) -> None:
    answer = client.pay(
        None,
        **{
            "customParameters[branch_id]": "7",
            "threeDSecure.eci": "05",
            "billing.city": "Graz",
            "merchantTransactionId": "order-0001",
        },
    )

    assert list(answer.json) == KEYS_IN_ORDER


def test_the_values_of_an_answer_have_their_recorded_form(client: Client) -> None:
    body = client.pay().json

    assert re.fullmatch("8a[0-9a-f]{30}", body["id"])
    assert re.fullmatch(r"[0-9a-f]{40}@\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000", body["buildNumber"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000", body["timestamp"])
    assert re.fullmatch(f"{client.entity_id}_[0-9a-f]{{32}}", body["ndc"])
    assert body["risk"] == {"score": "0"}
    assert body["resultDetails"]["ExtendedDescription"]


def test_a_card_is_answered_without_its_middle_digits_and_without_cvv(client: Client) -> None:
    answer = client.pay(card__cvv="731")

    assert answer.json["card"] == {
        "bin": "420000",
        "last4Digits": "0000",
        "holder": "Jane Jones",
        "expiryMonth": "05",
        "expiryYear": "2034",
    }
    assert PAYMENT["card.number"].encode() not in answer.body


@pytest.mark.parametrize(("sent", "answered"), [("79", "79.00"), ("10.50", "10.50"), ("0000000001", "1.00")])
def test_amounts_are_answered_as_strings_with_two_decimals(client: Client, sent: str, answered: str) -> None:
    assert client.pay(amount=sent).json["amount"] == answered


@pytest.mark.both_databases
def test_the_largest_amount_of_the_specification_is_kept_exactly(client: Client) -> None:
    assert client.pay(amount="9999999999.99").json["amount"] == "9999999999.99"


def test_without_a_descriptor_the_answer_has_the_short_id_and_the_channels_name(client: Client) -> None:
    assert re.fullmatch(r"\d{4}\.\d{4}\.\d{4} Sandbox", client.pay().json["descriptor"])


def test_a_descriptor_is_answered_as_sent_also_beside_a_merchant_name(client: Client) -> None:
    body = client.pay(descriptor="Café Größe ☕", merchant__name="Shop").json

    assert body["descriptor"] == "Café Größe ☕"


@pytest.mark.parametrize(
    ("number", "brand", "cvv"),
    [
        ("4200000000000000", "VISA", "123"),
        ("5454545454545454", "MASTER", "123"),
        ("377777777777770", "AMEX", "1234"),
        ("30082246403846", "DINERS", "123"),
        ("3530111333300000", "JCB", "123"),
    ],
)
def test_a_missing_brand_is_derived_from_the_number(client: Client, number: str, brand: str, cvv: str) -> None:
    answer = client.pay(paymentBrand=None, card__number=number, card__cvv=cvv)

    assert (answer.status, answer.json["paymentBrand"]) == (200, brand)


@pytest.mark.both_databases
def test_every_payment_gets_an_id_of_its_own(client: Client) -> None:
    ids = {client.pay().json["id"] for _ in range(20)}

    assert len(ids) == 20


def test_answers_are_json_that_nobody_caches(client: Client) -> None:
    headers = client.pay().headers

    assert headers["content-type"].startswith("application/json")
    assert "no-store" in headers["cache-control"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "transfer-encoding" not in headers
