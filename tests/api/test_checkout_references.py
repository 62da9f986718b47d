"""A checkout cannot refer to an earlier payment, nor to one registration instead of a list of them."""

from __future__ import annotations

import pytest

from api.chains import FAULTY, result_of
from api.checking_out import PREPARED
from api.paying_forms import open_checkout, post
from api.registration_requests import register
from api.server import SharedServer
from gateway import Client


@pytest.fixture(scope="module")
def server(embedded_server: SharedServer) -> SharedServer:
    """The databases do not matter here."""
    return embedded_server


@pytest.mark.parametrize("payment_type", ["RF", "CP", "RV", "RB", "RC", "CB", "CR", "RG", "3D"])
def test_a_checkout_begins_a_payment_and_follows_none(client: Client, payment_type: str) -> None:
    reference = client.pay(paymentType="PA").json["id"]
    checkout_id = open_checkout(client)
    following = {"paymentType": payment_type, "referenceUuid": reference}

    made = client.post("/v1/checkouts", {**PREPARED, **following})
    changed = client.post(f"/v1/checkouts/{checkout_id}", following)
    overridden = client.post("/v1/checkouts", {**PREPARED, "overridePaymentType[VISA]": payment_type})

    assert result_of(made) == result_of(changed) == result_of(overridden) == FAULTY
    assert set(made.faults) == set(changed.faults) == {"paymentType", "referenceUuid"}
    assert set(overridden.faults) == {"overridePaymentType[VISA]"}
    assert result_of(post(client, checkout_id)) == (200, "000.100.110")


@pytest.mark.parametrize("reference", ["known", "8a" + "0" * 30])
@pytest.mark.parametrize("practice", ["INCREMENTAL_AUTH", "REAUTHORIZATION"])
def test_an_authorization_is_neither_raised_nor_renewed_by_a_checkout(
    client: Client, reference: str, practice: str
) -> None:
    named = client.pay(paymentType="PA").json["id"] if reference == "known" else reference
    raising = {"paymentType": "PA", "referenceUuid": named, "standingInstruction.industryPractice": practice}

    answer = client.post("/v1/checkouts", {**PREPARED, **raising})

    assert result_of(answer) == FAULTY
    assert set(answer.faults) == {"referenceUuid"}


def test_a_registration_is_offered_and_not_named(client: Client) -> None:
    stored = register(client)

    assert set(client.post("/v1/checkouts", {**PREPARED, "registrationId": stored}).faults) == {"registrationId"}
    assert result_of(client.post("/v1/checkouts", {**PREPARED, "registrations[0].id": stored})) == (200, "000.200.100")
