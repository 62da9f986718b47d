"""Parameters for the acquirer arrive there, and those for the merchant alone do not."""

from __future__ import annotations

from typing import Any

from api.recording import RecordingAcquirer
from gateway import Client

FORWARDED = {
    "merchantTransactionId": "order-0001",
    "transactionCategory": "MO",
    "lifecycleId": "life-0001",
    "promotionCode": "SUMMER",
    "locale": "de_AT",
    "airline.bookingRefNum": "QX7",
    "airline.totalTaxAmount": "1.50",
    "airline.passengers[0].name": "Jane Jones",
    "airline.passengers[0].legs[0].departureAirport": "VIE",
    "marketPlace.sellers[0].id": "S-1",
    "marketPlace.sellers[0].amount": "92.00",
    "corporate.purchase": "Y",
    "corporate.vatId": "ATU12345678",
    "cart.payments[0].name": "Gift",
    "cart.payments[0].amount": "5.00",
    "merchant.city": "Graz",
    "merchant.billing.city": "Wien",
    "merchant.shipping.city": "Linz",
    "merchant.data[shop.kind]": "kiosk",
    "merchant.serviceLocationCity": "Salzburg",
    "merchant.submerchantId": "SUB-1",
    "shipping.customer.givenName": "Joe",
    "shipping.customer.surname": "Smith",
}
KEPT = {
    "merchantInvoiceId": "kept-invoice",
    "merchantMemo": "kept-memo",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customer.identificationDocType": "PASSPORT",
    "customer.identificationDocId": "kept-document",
    "customer.browserFingerprint.id": "kept-fingerprint",
    "customer.browserFingerprint.value": "kept-value",
    "risk.channelId": "kept-risk",
    "risk.parameters[basket]": "kept-basket",
    "integrationType": "kept-type",
    "customParameters[shop]": "kept-custom",
}


def pay(external: Client, **fields: str) -> Any:
    answer = external.pay(None, testMode="EXTERNAL", amount="92.00", currency="EUR", **fields)
    assert answer.code == "000.100.112", answer.json
    return answer.json


def test_every_group_reaches_the_acquirer_under_its_own_name(external: Client, acquirer: RecordingAcquirer) -> None:
    pay(external, **FORWARDED)

    assert acquirer.last_charge["details"] == {
        "merchant_transaction_id": "order-0001",
        "transaction_category": "MO",
        "lifecycle_id": "life-0001",
        "promotion_code": "SUMMER",
        "locale": "de_AT",
        "airline": {
            "booking_ref_num": "QX7",
            "total_tax_amount": {"amount": 150, "currency": "EUR"},
            "passengers": [{"name": "Jane Jones", "legs": [{"departure_airport": "VIE"}]}],
        },
        "market_place": {"sellers": [{"id": "S-1", "amount": {"amount": 9200, "currency": "EUR"}}]},
        "corporate": {"purchase": "Y", "vat_id": "ATU12345678"},
        "cart_payments": [{"name": "Gift", "amount": {"amount": 500, "currency": "EUR"}}],
        "acceptor": {
            "city": "Graz",
            "billing": {"city": "Wien"},
            "shipping": {"city": "Linz"},
            "data": {"shop.kind": "kiosk"},
            "service_location_city": "Salzburg",
            "submerchant_id": "SUB-1",
        },
        "shipping": {"customer": {"given_name": "Joe", "surname": "Smith"}},
    }


def test_what_is_kept_reaches_no_acquirer_and_is_answered_and_reported(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    answer = pay(external, **KEPT)
    report = external.get(f"/v3/query/{answer['id']}")

    assert "kept-" not in str(acquirer.received[-1])
    for text in (name for name in KEPT.values() if name.startswith("kept-")):
        assert text in str(answer), text
        assert text in str(report.json), text
    assert answer["risk"] == {"channelId": "kept-risk", "parameters": {"basket": "kept-basket"}, "score": "0"}


def test_a_follow_up_carries_its_own_values_and_what_acquirers_need_of_the_first_payment(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    authorized = pay(external, paymentType="PA", card__cvv="731", **FORWARDED, **KEPT)

    captured = external.post(
        f"/v1/payments/{authorized['id']}",
        {
            "paymentType": "CP",
            "amount": "40.00",
            "currency": "EUR",
            "testMode": "EXTERNAL",
            "merchantTransactionId": "capture-0001",
            "taxAmount": "4.00",
            "marketPlace.sellers[0].id": "S-1",
            "marketPlace.sellers[0].amount": "40.00",
            "merchantMemo": "kept-capture",
        },
    )

    assert captured.code == "000.100.112", captured.json
    path, _, message = acquirer.received[-1]
    assert (path, message["type"]) == ("/v1/follow-ups", "capture")
    assert message["details"] == {
        "merchant_transaction_id": "capture-0001",
        "tax_amount": {"amount": 400, "currency": "EUR"},
        "market_place": {"sellers": [{"id": "S-1", "amount": {"amount": 4000, "currency": "EUR"}}]},
        "lifecycle_id": "life-0001",
        "transaction_category": "MO",
        "airline": {
            "booking_ref_num": "QX7",
            "total_tax_amount": {"amount": 150, "currency": "EUR"},
            "passengers": [{"name": "Jane Jones", "legs": [{"departure_airport": "VIE"}]}],
        },
        "acceptor": {"city": "Graz", "submerchant_id": "SUB-1"},
    }
    assert not {"card", "account"} & message.keys()
    for secret in ("731", "4200000000000000", "kept-"):
        assert secret not in str(message)


def test_a_fraction_that_a_currency_lacks_declines_a_follow_up_without_asking_the_acquirer(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    """A follow-up without a currency is in that of the payment, so only there can the fraction be judged."""
    authorized = external.pay(None, testMode="EXTERNAL", paymentType="PA", amount="500", currency="JPY")
    before = len(acquirer.received)

    voided = external.post(
        f"/v1/payments/{authorized.json['id']}", {"paymentType": "RV", "testMode": "EXTERNAL", "taxAmount": "1.50"}
    )

    assert voided.code == "100.550.303"
    assert len(acquirer.received) == before
