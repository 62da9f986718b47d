"""A brand's row says what its payments require; lenient channels accept more. These brands are paid on other pages."""

from __future__ import annotations

import pytest

from api.chains import APPROVED, FAULTY, capture, name, refund, result_of, reverse
from api.server import SharedServer
from api.shoppers import PAYER, decide, open_order, order
from gateway import Client


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


def test_a_bank_slip_without_an_identity_document_is_refused_by_name(client: Client, lenient: Client) -> None:
    named = {"customer.givenName": "Ana", "customer.surname": "Lima"}
    missing = order(client, "BOLETO", "PA", **named)

    assert result_of(missing) == FAULTY
    assert set(missing.faults) == {"customer.identificationDocType", "customer.identificationDocId"}
    assert result_of(order(client, "BOLETO", "PA", **PAYER)) == APPROVED
    assert result_of(order(lenient, "BOLETO", "PA")) == APPROVED


@pytest.mark.parametrize("brand", ["SOFORTUEBERWEISUNG", "IDEAL", "GIROPAY", "EPS"])
def test_a_lenient_channel_authorizes_and_captures_by_bank_transfer(
    client: Client, lenient: Client, brand: str
) -> None:
    assert result_of(order(client, brand, "PA")) == (400, "600.200.310")
    captured, reversed_ = open_order(lenient, brand, "PA"), open_order(lenient, brand, "PA")
    decide(lenient, captured, "approve")
    decide(lenient, reversed_, "approve")

    capture_id = name(capture(lenient, captured.json["id"], "60.00"))

    assert result_of(refund(lenient, capture_id, "60.00")) == APPROVED
    assert result_of(reverse(lenient, reversed_.json["id"])) == APPROVED


@pytest.mark.parametrize(
    ("spelling", "brand", "payment_type"),
    [
        ("KLARNA_INVOICE", "KLARNA_PAYMENTS_PAYLATER", "PA"),
        ("KLARNA_INSTALLMENTS", "KLARNA_PAYMENTS_SLICEIT", "DB"),
        ("SOFORT", "SOFORTUEBERWEISUNG", "DB"),
        ("BRADESCO", "BOLETO", "PA"),
    ],
)
def test_a_lenient_channel_takes_older_names_of_brands(
    client: Client, lenient: Client, spelling: str, brand: str, payment_type: str
) -> None:
    assert list(order(client, spelling, payment_type).faults) == ["paymentBrand"]

    answer = order(lenient, spelling, payment_type)

    assert (answer.status, answer.json["paymentBrand"]) == (200, brand)
