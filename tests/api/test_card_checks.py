"""Checks of card and amount before anything is sent: each has its result code, and the attempt is on record."""

from __future__ import annotations

import pytest

from api.recording import RecordingAcquirer
from gateway import Client

AMEX = {"paymentBrand": "AMEX", "card__number": "377777777777770"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"card__number": "4444444444444444"}, "100.100.101"),
        ({"card__number": "4200000000000001"}, "100.100.101"),
        ({"card__number": "4444444444444444", "paymentBrand": None}, "100.100.101"),
        ({"card__expiryMonth": "01", "card__expiryYear": "2020"}, "100.100.303"),
        ({"card__cvv": "1234"}, "100.100.601"),
        ({**AMEX, "card__cvv": "123"}, "100.100.601"),
        ({"card__number": "5454545454545454"}, "100.100.700"),
        ({"paymentBrand": "MASTER"}, "100.100.700"),
        ({"amount": "0.00"}, "100.550.300"),
        ({"amount": "0", "paymentType": "CD"}, "100.550.300"),
        ({"amount": "10.50", "currency": "JPY"}, "100.550.303"),
        ({"amount": "10", "currency": "JPY", "taxAmount": "0.50"}, "100.550.303"),
        ({"forex.amount": "0.50", "forex.currency": "JPY"}, "100.550.303"),
        ({"amount": "10", "currency": "JPY", "cart.items[0].price": "0.50"}, "100.550.303"),
    ],
)
def test_a_check_that_fails_is_a_decline_with_its_own_code(
    client: Client, changes: dict[str, str | None], code: str
) -> None:
    answer = client.pay(None, **changes)

    assert (answer.status, answer.code) == (400, code)
    assert client.get(f"/v1/payments/{answer.json['id']}").code == code


@pytest.mark.parametrize(
    "changes",
    [
        {**AMEX, "card__cvv": "1234"},
        {"card__cvv": None},
        {"amount": "0.00", "paymentType": "PA"},
        {"amount": "10.00", "currency": "JPY"},
        {"amount": "10.50", "currency": "KWD"},
        {"card__holder": None},
        {"card__numberType": "DPAN"},
    ],
)
def test_what_only_looks_odd_is_paid(client: Client, changes: dict[str, str | None]) -> None:
    assert client.pay(None, **changes).code == "000.100.110"


def test_a_bad_number_is_described_in_the_words_clients_look_for(client: Client) -> None:
    described = client.pay(card__number="4444444444444444").json["result"]["description"]

    assert described == "invalid creditcard, bank account number or bank name"


def test_a_card_is_good_until_the_end_of_its_month_by_the_hosts_clock(client: Client) -> None:
    year, month = client.send("GET", "/sandbox/clock").json["now"].split("-")[:2]

    assert client.pay(card__expiryYear=year, card__expiryMonth=month).code == "000.100.110"


def test_a_channel_that_requires_the_cvv_refuses_a_card_without(external: Client, acquirer: RecordingAcquirer) -> None:
    before = len(acquirer.received)

    answer = external.pay(card__cvv=None, testMode="EXTERNAL")

    assert (answer.status, answer.code) == (400, "100.100.600")
    assert len(acquirer.received) == before
