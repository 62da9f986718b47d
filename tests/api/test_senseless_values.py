"""Values that pass their format and make no sense: a strict channel declines them, a lenient one takes them."""

from __future__ import annotations

import pytest

from api.chains import APPROVED, authorise, capture, debit, refund, result_of
from api.checking_out import PREPARED
from api.registration_requests import change, pay_with, register, store
from api.scheduling import FAR, schedule
from api.server import SharedServer
from gateway import CARD, Client

FULL_NAME = {"customer.givenName": "Jane", "customer.surname": "Jones"}
SENSELESS = [
    ({**FULL_NAME, "customer.email": "notanemail"}, "100.900.101"),
    ({"customer.ip": "zzz"}, "100.900.401"),
    ({"taxAmount": "92.01"}, "100.550.701"),
]
EMAIL, EMAIL_CODE = SENSELESS[0]


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


@pytest.mark.parametrize(("sent", "code"), SENSELESS)
def test_a_payment_is_declined_on_a_strict_channel_and_taken_on_a_lenient_one(
    client: Client, lenient: Client, sent: dict[str, str], code: str
) -> None:
    declined = client.pay(None, **sent)

    assert result_of(declined) == (400, code)
    assert client.get(f"/v1/payments/{declined.json['id']}").code == code
    assert result_of(lenient.pay(None, **sent)) == APPROVED


def test_a_registration_is_declined_and_its_change_refused(client: Client, lenient: Client) -> None:
    assert result_of(store(client, {**CARD, **EMAIL})) == (400, EMAIL_CODE)
    assert result_of(store(lenient, {**CARD, **EMAIL})) == APPROVED

    registration_id = register(client)
    assert result_of(change(client, registration_id, EMAIL)) == (400, EMAIL_CODE)
    assert result_of(pay_with(client, registration_id, {**PREPARED, **EMAIL})) == (400, EMAIL_CODE)


def test_a_schedule_that_could_never_be_paid_is_refused(client: Client) -> None:
    registration_id = register(client)

    assert result_of(schedule(client, registration_id, {**FAR, **EMAIL})) == (400, EMAIL_CODE)
    assert result_of(schedule(client, registration_id, FAR)) == APPROVED


def test_a_checkout_that_could_never_be_paid_is_refused_when_it_is_prepared(client: Client, lenient: Client) -> None:
    assert result_of(client.post("/v1/checkouts", {**PREPARED, **EMAIL})) == (400, EMAIL_CODE)
    assert lenient.post("/v1/checkouts", {**PREPARED, **EMAIL}).code == "000.200.100"

    prepared = client.post("/v1/checkouts", PREPARED)
    assert result_of(client.post(f"/v1/checkouts/{prepared.json['id']}", EMAIL)) == (400, EMAIL_CODE)


def test_a_follow_up_names_the_brand_of_its_payment_or_none(client: Client, lenient: Client) -> None:
    declined = refund(client, debit(client), "10.00", paymentBrand="MASTER")

    assert result_of(declined) == (400, "700.100.400")
    assert client.get(f"/v1/payments/{declined.json['id']}").code == "700.100.400"
    assert result_of(refund(client, debit(client), "10.00", paymentBrand="VISA")) == APPROVED
    assert result_of(refund(lenient, debit(lenient), "10.00", paymentBrand="MASTER")) == APPROVED


def test_path_and_reference_name_the_same_payment(client: Client, lenient: Client) -> None:
    first, second = authorise(client), authorise(client)

    assert result_of(capture(client, first, "10.00", referenceUuid=second)) == (400, "700.100.710")
    assert result_of(capture(client, first, "10.00", referenceUuid=first)) == APPROVED
    assert result_of(capture(lenient, authorise(lenient), "10.00", referenceUuid=second)) == APPROVED
