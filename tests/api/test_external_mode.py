"""testMode=EXTERNAL: the processor's own test system is asked in the card protocol, with all that it may know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api.merchants import add_channel
from api.recording import APPROVED, RecordingAcquirer
from gateway import Client, GatewayProcess
from ports import find_free_port

DETAILED = {
    "amount": "150.25",
    "currency": "EUR",
    "descriptor": "Order 7",
    "merchant.name": "Jones and Daughters",
    "merchant.mcc": "5812",
    "merchantInvoiceId": "invoice-4711",
    "merchantMemo": "for reports only",
    "transactionProcessingCode": "FUNDING",
    "taxAmount": "20.10",
    "forex.amount": "16250",
    "forex.currency": "JPY",
    "cart.items[0].name": "Lamp",
    "cart.items[0].quantity": "2",
    "cart.items[0].price": "60.00",
    "cart.items[3].name": "Bulb",
    "cart.items[3].price": "30.25",
    "cart.items[3].currency": "KWD",
    "sender.name": "Jane Jones",
    "sender.birthDate": "1980-02-29",
    "sender.accountNumber": "AT1234",
    "sender.sourceOfFunds": "02",
    "recipient.givenName": "John",
    "recipient.surname": "Smith",
    "recipient.country": "GBR",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "billing.street1": "Main Street",
    "billing.street2": "ignored beside a house number",
    "billing.houseNumber1": "1",
    "billing.country": "AT",
    "threeDSecure.eci": "05",
    "standingInstruction.mode": "INITIAL",
    "transactionBai": "AA",
}


@pytest.fixture(autouse=True)
def _approving_again(acquirer: RecordingAcquirer) -> Iterator[None]:
    yield
    acquirer.reply = APPROVED


def pay(external: Client, **changes: str) -> Any:
    return external.pay(None, testMode="EXTERNAL", **changes)


def test_success_has_the_code_of_the_connector_test_mode(external: Client) -> None:
    answer = pay(external)

    assert (answer.status, answer.code) == (200, "000.100.112")
    assert answer.json["result"]["description"] == "Request successfully processed in 'Merchant in Connector Test Mode'"


def test_the_acquirers_references_are_answered_as_result_details(external: Client) -> None:
    details = pay(external).json["resultDetails"]

    assert details == {
        "ExtendedDescription": "Approved",
        "clearingInstituteName": "Recording Bank",
        "ConnectorTxID1": "R-1",
        "ConnectorTxID2": "A1B2C3",
        "AcquirerResponse": "00",
    }


def test_the_acquirer_gets_the_card_once_under_the_payments_key(external: Client, acquirer: RecordingAcquirer) -> None:
    before = len(acquirer.received)

    answer = pay(external, card__cvv="731")

    assert len(acquirer.received) == before + 1
    path, headers, charge = acquirer.received[-1]
    assert path == "/v1/charges"
    assert headers["idempotency-key"] == charge["key"] == answer.json["id"]
    assert charge["card"] == {
        "number": "4200000000000000",
        "expiry": "2034-05",
        "holder": "Jane Jones",
        "cvv": "731",
    }


@pytest.mark.parametrize(("payment_type", "type_sent"), [("DB", "sale"), ("PA", "authorization"), ("CD", "credit")])
def test_each_kind_has_its_word(
    external: Client, acquirer: RecordingAcquirer, payment_type: str, type_sent: str
) -> None:
    pay(external, paymentType=payment_type)

    assert acquirer.last_charge["type"] == type_sent


@pytest.mark.parametrize(
    ("amount", "currency", "minor_units"), [("92.10", "EUR", 9210), ("500", "JPY", 500), ("1.25", "KWD", 1250)]
)
def test_amounts_travel_in_minor_units(
    external: Client, acquirer: RecordingAcquirer, amount: str, currency: str, minor_units: int
) -> None:
    pay(external, amount=amount, currency=currency)

    charge = acquirer.last_charge
    assert (charge["amount"], charge["currency"]) == (minor_units, currency)


def test_the_merchants_name_goes_to_the_statement_before_the_descriptor(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    pay(external, descriptor="Order 7", merchant__name="Jones and Daughters")
    assert acquirer.last_charge["statement"] == "Jones and Daughters"

    pay(external, descriptor="Order 7")
    assert acquirer.last_charge["statement"] == "Order 7"

    answer = pay(external)
    assert acquirer.last_charge["statement"] == answer.json["descriptor"]


def test_what_travels_with_the_money_reaches_the_acquirer_typed(external: Client, acquirer: RecordingAcquirer) -> None:
    pay(external, **DETAILED)

    charge = acquirer.last_charge
    assert charge["processing"] == "FUNDING"
    details = charge["details"]
    assert details["tax_amount"] == {"amount": 2010, "currency": "EUR"}
    assert details["forex"] == {"amount": 16250, "currency": "JPY"}
    assert details["cart"] == [
        {"name": "Lamp", "quantity": "2", "price": {"amount": 6000, "currency": "EUR"}},
        {"name": "Bulb", "price": {"amount": 30250, "currency": "KWD"}},
    ]
    assert details["sender"] == {
        "name": "Jane Jones",
        "birth_date": "1980-02-29",
        "account_number": "AT1234",
        "source_of_funds": "02",
    }
    assert details["recipient"] == {"given_name": "John", "surname": "Smith", "country": "GBR"}
    assert details["acceptor"] == {"name": "Jones and Daughters", "mcc": "5812"}
    assert details["customer"] == {"given_name": "Jane", "surname": "Jones"}
    assert details["billing"] == {"street1": "Main Street", "house_number1": "1", "country": "AT"}
    assert details["authentication"] == {"eci": "05"}
    assert details["standing_instruction"] == {"mode": "INITIAL"}
    assert details["business_application_id"] == "AA"


def test_what_is_for_the_merchant_alone_stays_here(external: Client, acquirer: RecordingAcquirer) -> None:
    pay(external, **DETAILED)

    answered = str(acquirer.received[-1])
    assert "invoice-4711" not in answered
    assert "for reports only" not in answered


@pytest.mark.parametrize(
    ("response", "code"), [("51", "800.100.203"), ("05", "800.100.152"), ("54", "800.100.157"), ("??", "800.100.100")]
)
def test_a_decline_reads_in_the_catalogues_words(
    external: Client, acquirer: RecordingAcquirer, response: str, code: str
) -> None:
    acquirer.reply = {"status": "declined", "response_code": response, "message": "No"}

    answer = pay(external)

    assert (answer.status, answer.code) == (400, code)
    assert answer.json["resultDetails"]["AcquirerResponse"] == response


def test_an_acquirer_that_cannot_be_reached_was_sent_nothing(gateway: GatewayProcess, client: Client) -> None:
    unreachable = add_channel(gateway, client, "Unplugged", "--test-url", f"http://127.0.0.1:{find_free_port()}")

    answer = pay(unreachable)

    assert (answer.status, answer.code) == (400, "900.100.600")
