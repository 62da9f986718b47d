"""Values reach an acquirer at the places that their rows name, and no others do."""

from __future__ import annotations

import re

import msgspec
import pytest
from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Use, mount, plain, sent
from tollgate.catalog.shape import text
from tollgate.connectors import acquiring, card, redirect
from tollgate.connectors.exchange import encode_message
from tollgate.connectors.forwarding import collect, list_follow_up_values, list_order_values
from tollgate.payments.order import Authentication, Details
from tollgate.payments.splits import Share
from tollgate.values import Money
from unit.connectors.samples import CAPTURE, ORDER

JSON, REDIRECT, ISO8583, STRIPE = (
    ConnectorName.JSON,
    ConnectorName.REDIRECT,
    ConnectorName.ISO8583,
    ConnectorName.STRIPE,
)
PLAIN = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentBrand": "VISA",
    "paymentType": "DB",
    "card.holder": "Jane Jones",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
}
KEPT = {
    "merchantInvoiceId": "kept-0001",
    "merchantMemo": "kept-0002",
    "customer.browserFingerprint.value": "kept-0003",
    "customer.identificationDocId": "kept-0004",
    "shipping.customer.identificationDocId": "kept-0005",
    "risk.parameters[shop]": "kept-0006",
    "customParameters[shop]": "kept-0007",
    "customer.app.deviceId": "kept-0008",
    "customer.browser.userAgent": "kept-0009",
}
DOCUMENT = {"customer.identificationDocType": "TAXSTATEMENT", "customer.identificationDocId": "11144477735"}
PROOF = {"threeDSecure.eci": "05", "threeDSecure.xid": "old", "threeDSecure.exemptionFlag": "02"}


def describe(echo: dict[str, str], **changes: object) -> object:
    """Returns the details of the charge of a card, as an acquirer reads them."""
    message = card.make_charge(replace(ORDER, echo=echo, **changes), "8a01")
    return msgspec.json.decode(encode_message(message)).get("details")


def describe_capture(own: dict[str, str], first: dict[str, str], **changes: object) -> object:
    first_payment = replace(CAPTURE, echo=first, referenced_id=None)
    return acquiring.describe_follow_up(JSON, replace(CAPTURE, echo=own, **changes), first_payment)


# ---- rows ----


def test_no_two_values_of_a_json_message_share_a_place_and_none_is_inside_another() -> None:
    for connector in (JSON, REDIRECT):
        places = [row.to[connector] for row in PARAMETERS.values() if connector in row.to]
        assert len(places) == len(set(places))
        assert not [
            (inner, outer) for inner in places for outer in places if inner.startswith((f"{outer}.", f"{outer}["))
        ]


def test_places_are_written_as_their_protocol_has_them() -> None:
    shapes = {
        JSON: re.compile(r"[a-z][a-z0-9_]*(\[(n|key)\])?(\.[a-z][a-z0-9_]*(\[(n|key)\])?)*"),
        REDIRECT: re.compile(r"[a-z][a-z0-9_]*(\[(n|key)\])?(\.[a-z][a-z0-9_]*(\[(n|key)\])?)*"),
        ISO8583: re.compile(r"[1-9][0-9]{0,2}(\.[0-9]{1,2}(\[n\]){0,2})?"),
        STRIPE: re.compile(r"[a-z_]+(\[[a-zA-Z0-9_]+\])*"),
        ConnectorName.SEPA: re.compile("(?!)"),
    }
    for row in PARAMETERS.values():
        for connector, place in row.to.items():
            assert shapes[connector].fullmatch(place), (row.name, place)
            assert place.count("[n]") <= row.name.count("[n]"), row.name


def test_what_is_for_reports_or_identifies_a_device_goes_to_no_acquirer() -> None:
    for name in KEPT:
        row = PARAMETERS[re.sub(r"\[.*\]", "[key]", name)]
        assert row.to.keys() <= {REDIRECT}, name
        assert not row.to or Use.IF_NEEDED in row.use, name


def test_nothing_that_can_be_charged_is_forwarded_beside_its_account() -> None:
    assert [row.name for row in PARAMETERS.values() if row.to and row.use & (Use.ACCOUNT | Use.WALLET)] == []


def test_a_place_for_a_row_that_a_group_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="billing has no streat"):
        mount("billing", (plain("street", text(1, 9)),), to={"streat": sent()})


# ---- one place ----


def test_a_plain_payment_forwards_nothing() -> None:
    assert [collect(connector, PLAIN) for connector in ConnectorName] == [{}] * len(ConnectorName)
    assert describe(PLAIN) is None


def test_values_are_collected_by_place_with_their_indices() -> None:
    values = {
        "merchantTransactionId": "order-0001",
        "merchant.city": "Graz",
        "merchant.name": "Jones",
        "airline.passengers[1].legs[0].arrivalAirport": "VIE",
        "unknown": "x",
    }

    assert collect(ISO8583, values) == {"48.01": "order-0001", "43.1": "Jones", "43.2": "Graz", "48.66[1][0]": "VIE"}
    assert collect(STRIPE, values) == {
        "metadata[merchantTransactionId]": "order-0001",
        "statement_descriptor_suffix": "Jones",
    }


def test_values_that_share_a_place_are_joined_in_the_order_of_the_rows() -> None:
    values = {"billing.houseNumber1": "7", "customer.surname": "Jones", "billing.street1": "Ring", **PLAIN}

    assert collect(STRIPE, {**values, "customer.givenName": "Jane"}) == {
        "billing_details[name]": "Jane Jones",
        "billing_details[address][line1]": "Ring 7",
    }


# ---- charges ----


def test_groups_arrive_under_the_names_of_the_protocol_and_lists_in_order() -> None:
    echo = {
        "merchantTransactionId": "order-0001",
        "transactionCategory": "MO",
        "airline.passengers[3].name": "Jane",
        "airline.passengers[1].name": "Joe",
        "airline.passengers[1].legs[9].arrivalAirport": "VIE",
        "marketPlace.sellers[0].amount": "1.50",
        "cart.payments[0].amount": "2.00",
        "cart.payments[0].currency": "USD",
        "merchant.data[a.b]": "x",
        "merchant.data[123]": "y",
        "merchant.billing.city": "Graz",
        "shipping.cost": "3.00",
        "shipping.customer.surname": "Jones",
        "transactionPurposeCode": "01",
    }

    assert describe(echo) == {
        "merchant_transaction_id": "order-0001",
        "transaction_category": "MO",
        "airline": {
            "passengers": [{"name": "Joe", "legs": [{"arrival_airport": "VIE"}]}, {"name": "Jane"}],
        },
        "market_place": {"sellers": [{"amount": {"amount": 150, "currency": "EUR"}}]},
        "cart_payments": [{"amount": {"amount": 200, "currency": "USD"}}],
        "acceptor": {"data": {"a.b": "x", "123": "y"}, "billing": {"city": "Graz"}},
        "shipping_cost": {"amount": 300, "currency": "EUR"},
        "shipping": {"customer": {"surname": "Jones"}},
        "purpose_code": "01",
    }


def test_what_is_kept_is_in_no_message() -> None:
    order = replace(ORDER, echo={**KEPT, "merchantTransactionId": "order-0001"}, brand="PAYPAL", account=None)

    for message in (card.make_charge(order, "8a01"), redirect.make_session(order, "8a01", "https://gate/back")):
        sent_text = encode_message(message)
        assert b"order-0001" in sent_text
        assert b"kept-" not in sent_text


def test_a_document_reaches_the_provider_of_a_brand_that_needs_one() -> None:
    order = replace(ORDER, echo=DOCUMENT, account=None)

    def find_details(brand: str) -> object:
        return redirect.make_session(replace(order, brand=brand), "8a01", "").details

    assert find_details("BOLETO") == {
        "customer": {"identification_doc_type": "TAXSTATEMENT", "identification_doc_id": "11144477735"}
    }
    assert find_details("PAYPAL") is None


def test_a_hidden_account_number_is_forwarded_and_never_echoed() -> None:
    assert describe({"sender.name": "Jane"}, hidden={"sender.accountNumber": "4200000000000000"}) == {
        "sender": {"name": "Jane", "account_number": "4200000000000000"}
    }


def test_a_proof_made_here_replaces_the_one_that_was_sent() -> None:
    made = Details(authentication=Authentication(eci="06", verification_id="AAAB", version="2.2.0"))

    assert describe(PROOF, details=made) == {
        "authentication": {"eci": "06", "verification_id": "AAAB", "version": "2.2.0"}
    }
    assert describe(PROOF) == {"authentication": {"eci": "05", "xid": "old", "exemption_flag": "02"}}
    assert collect(ISO8583, list_order_values(replace(ORDER, echo=PROOF, details=made)))["48.21"] == "AAAB"


def test_the_older_word_of_a_series_reaches_every_acquirer_as_the_newer_ones() -> None:
    order = replace(ORDER, echo={"recurringType": "REPEATED"})

    assert describe({"recurringType": "REPEATED"}) == {
        "standing_instruction": {"mode": "REPEATED", "source": "MIT", "type": "RECURRING"}
    }
    assert collect(ISO8583, list_order_values(order)) == {"48.10": "REPEATED", "48.11": "MIT", "48.12": "RECURRING"}


# ---- follow-ups ----


def test_a_follow_up_has_its_own_values_and_those_that_acquirers_need_of_the_first_payment() -> None:
    first = {
        **KEPT,
        "merchantTransactionId": "order-0001",
        "transactionCategory": "MO",
        "merchant.submerchantId": "S-7",
        "recurringType": "INITIAL",
        "taxAmount": "9.00",
        "customer.surname": "Jones",
    }
    own = {"merchantTransactionId": "capture-0001", "taxAmount": "1.00", "merchantMemo": "kept-0010"}

    assert describe_capture(own, first) == {
        "merchant_transaction_id": "capture-0001",
        "tax_amount": {"amount": 100, "currency": "EUR"},
        "transaction_category": "MO",
        "acceptor": {"submerchant_id": "S-7"},
        "standing_instruction": {"mode": "INITIAL", "source": "CIT", "type": "RECURRING"},
    }


def test_a_follow_up_overrules_the_first_payment_and_lists_are_not_mixed() -> None:
    first = {"airline.agentCode": "A", "airline.passengers[0].name": "Jane", "airline.passengers[1].name": "Joe"}

    assert describe_capture({}, first) == {
        "airline": {"agent_code": "A", "passengers": [{"name": "Jane"}, {"name": "Joe"}]}
    }
    assert describe_capture({"airline.passengers[0].name": "Joe"}, first) == {
        "airline": {"agent_code": "A", "passengers": [{"name": "Joe"}]}
    }


def test_a_follow_up_names_the_shares_that_were_made_for_it() -> None:
    first = replace(CAPTURE, echo={"marketPlace.sellers[0].id": "S-1", "marketPlace.sellers[0].amount": "92.00"})
    split = (Share("S-1", 3333), Share("S-2", 667))

    values = list_follow_up_values(replace(CAPTURE, split=split, echo={}), first)

    assert values == {
        "marketPlace.sellers[0].id": "S-1",
        "marketPlace.sellers[0].amount": "33.33",
        "marketPlace.sellers[1].id": "S-2",
        "marketPlace.sellers[1].amount": "6.67",
    }


def test_amounts_of_a_follow_up_are_in_its_currency() -> None:
    assert describe_capture({"taxAmount": "5.00"}, {}, money=Money(50000, "JPY")) == {
        "tax_amount": {"amount": 5, "currency": "JPY"}
    }


def test_a_document_of_a_follow_up_goes_only_to_brands_that_need_one() -> None:
    first = replace(CAPTURE, echo={}, referenced_id=None)

    assert list_follow_up_values(replace(CAPTURE, echo=DOCUMENT), first) == {}
    assert list_follow_up_values(replace(CAPTURE, echo=DOCUMENT, brand="BOLETO"), first) == DOCUMENT
