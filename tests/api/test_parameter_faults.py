"""Faults of a request: all of them, named as the client spelled them, with secrets masked."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from gateway import CARD, PAYMENT, Client

FULL_NAME = {"customer.givenName": "Jane", "customer.surname": "Jones"}


def fault_of(client: Client, **changes: str | None) -> dict[str, str | None]:
    """Returns the one fault that the standard payment has after these changes."""
    answer = client.pay(None, **changes)
    assert (answer.status, answer.code) == (400, "200.300.404")
    assert answer.json["result"]["description"] == "invalid or missing parameter"
    assert "id" not in answer.json
    faults: list[dict[str, str | None]] = answer.json["result"]["parameterErrors"]
    assert len(faults) == 1
    return faults[0]


def test_a_bad_amount_is_answered_with_its_value_and_the_pattern(client: Client, lenient: Client) -> None:
    assert fault_of(client, amount="-20.20") == {
        "name": "amount",
        "value": "-20.20",
        "message": r"must match ^[0-9]{1,10}(\.[0-9]{2})?$",
    }
    assert fault_of(lenient, amount="-20.20") == {
        "name": "amount",
        "value": "-20.20",
        "message": r"must match ^[0-9]{1,12}(\.[0-9]{2})?$",
    }


@pytest.mark.parametrize("name", ["amount", "currency", "paymentType"])
def test_what_a_payment_needs_may_not_be_empty(client: Client, name: str) -> None:
    missing = {"name": name, "value": None, "message": "may not be empty"}

    assert fault_of(client, **{name: None}) == missing
    assert fault_of(client, **{name: ""}) == missing


@pytest.mark.parametrize("payment_type", ["RF", "RV", "CP"])
def test_a_payment_cannot_begin_with_a_follow_up(client: Client, payment_type: str) -> None:
    assert fault_of(client, paymentType=payment_type) == {
        "name": "paymentType",
        "value": payment_type,
        "message": "must be one of [PA, DB, CD, PA.CP]",
    }


def test_without_an_account_the_card_is_missed(client: Client) -> None:
    answer = client.post("/v1/payments", {"amount": "1.00", "currency": "EUR", "paymentType": "DB"})

    assert answer.json["result"]["parameterErrors"] == [
        {"name": "paymentBrand", "value": None, "message": "card properties must be set"}
    ]


def test_an_empty_request_lists_everything_it_lacks(client: Client) -> None:
    answer = client.post("/v1/payments", {})

    assert answer.faults == {
        "amount": "may not be empty",
        "currency": "may not be empty",
        "paymentType": "may not be empty",
        "paymentBrand": "card properties must be set",
    }


def test_all_faults_are_listed_at_once_with_secrets_masked(client: Client) -> None:
    answer = client.pay(
        amount="1,00",
        currency="EURO",
        card__number="4200 0000 0000 0000",
        card__cvv="73",
        card__expiryMonth="13",
        card__holder="J",
        customer__email="x@y",
        customer__merchantCustomerId="7",
        merchantTransactionId="short",
    )

    faults = {fault["name"]: fault["value"] for fault in answer.json["result"]["parameterErrors"]}
    assert faults == {
        "amount": "1,00",
        "currency": "EURO",
        "card.number": "***",
        "card.cvv": "***",
        "card.expiryMonth": "***",
        "card.holder": "***",
        "customer.email": "***",
        "merchantTransactionId": "short",
        "customer.givenName": None,
        "customer.surname": None,
    }
    assert b"4200 0000" not in answer.body


def test_the_order_of_faults_is_always_the_same(client: Client) -> None:
    answers = [client.pay(amount="x", currency="x", card__cvv="x").json["result"] for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"currency": "XYZ"}, "currency"),
        ({"currency": "eur"}, "currency"),
        ({"billing.country": "ZZ"}, "billing.country"),
        ({"card.expiryYear": "34"}, "card.expiryYear"),
        ({"cart.items[1001].name": "x"}, "cart.items[1001].name"),
        ({"cart.items[01].name": "x"}, "cart.items[01].name"),
        ({"cart.items[x].name": "x"}, "cart.items[x].name"),
        ({"customParameters[no]": "x"}, "customParameters[no]"),
        ({"customParameters[a b c]": "x"}, "customParameters[a b c]"),
        ({"numberOfCaptures": "99"}, "numberOfCaptures"),
        ({"shipping.cost": "1"}, "shipping.cost"),
        ({"billing.houseNumber2": "1"}, "billing.houseNumber1"),
        ({"billing.street1": "1", "billing.street2": "2"}, "billing.street1"),
        ({"overridePaymentType[VISA]": "PA"}, "overridePaymentType[VISA]"),
        ({"forex.amount": "1.00"}, "forex.currency"),
        ({"paymentBrand": "NOSUCHBRAND"}, "paymentBrand"),
        ({"paymentBrand": "AMERICAN_EXPRESS"}, "paymentBrand"),
        ({"card.expiryYear": None}, "card.expiryYear"),
        ({**FULL_NAME, "customer.birthDate": "1980-02-30"}, "customer.birthDate"),
        ({"merchantMemo": "m" * 256}, "merchantMemo"),
    ],
)
def test_a_single_fault_is_named(client: Client, changes: dict[str, str | None], name: str) -> None:
    assert fault_of(client, **changes)["name"] == name


def test_a_cart_of_more_than_a_thousand_items_is_refused(client: Client) -> None:
    thousand = {f"cart.items[{index}].name": "Lamp" for index in range(1000)}

    assert client.pay(None, **thousand).status == 200
    assert list(client.pay(None, **thousand, **{"cart.items[1000].name": "Lamp"}).faults) == ["cart.items"]


def test_unknown_names_are_ignored(client: Client) -> None:
    answer = client.pay(
        None, csrf_token="x", plugin="woo", **{"lodging.folio": "1", "a.b.c[9].d": "2", "card.colour": "red"}
    )

    assert answer.status == 200
    assert b"woo" not in answer.body


def test_empty_values_count_as_absent(client: Client) -> None:
    answer = client.pay(
        None, descriptor="", merchantInvoiceId="", **{"customer.email": "", "customParameters[abc]": ""}
    )

    assert answer.status == 200
    assert "customer" not in answer.json
    assert "customParameters" not in answer.json


def test_a_fault_makes_no_payment(client: Client) -> None:
    client.pay(merchantTransactionId="never-made-01", card__cvv="x")

    assert client.get("/v1/query", {"merchantTransactionId": "never-made-01"}).code == "700.400.580"


def test_a_body_may_leave_blanks_and_brackets_unescaped(client: Client) -> None:
    body = "&".join(
        f"{name}={value}"
        for name, value in {
            **PAYMENT,
            "entityId": client.entity_id,
            "card.holder": "Jane Jones",
            "descriptor": "Jane's #1 @ home",
            "customParameters[branch_id]": "7",
        }.items()
    )

    answer = client.send("POST", "/v1/payments", body.encode(), client.authorized())

    assert answer.status == 200
    assert answer.json["descriptor"] == "Jane's #1 @ home"
    assert answer.json["customParameters"] == {"branch_id": "7"}


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded;charset=UTF-8",
        'application/x-www-form-urlencoded; charset="utf-8"',
        "APPLICATION/X-WWW-FORM-URLENCODED",
    ],
)
def test_a_form_is_a_form_however_its_type_is_spelled(client: Client, content_type: str | None) -> None:
    body = urlencode({**PAYMENT, "entityId": client.entity_id})
    headers = client.authorized({"Content-Type": content_type} if content_type else None)

    assert client.send("POST", "/v1/payments", body.encode(), headers).status == 200


def test_parameters_of_a_payment_in_the_query_do_not_count(client: Client) -> None:
    body = urlencode({"entityId": client.entity_id, "currency": "EUR", "paymentType": "DB", **CARD})

    answer = client.send("POST", "/v1/payments?amount=1.00", body, client.authorized())

    assert answer.faults == {"amount": "may not be empty"}
