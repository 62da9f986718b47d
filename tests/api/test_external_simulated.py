"""testMode=EXTERNAL where no test system is configured: the simulator stands in for it, for every method."""

from __future__ import annotations

import pytest

from api.chains import PENDING, authorise, capture, refund, result_of
from api.challenges import CHALLENGED, FRICTIONLESS, pass_challenge
from api.challenges import order as order_by_card
from api.checking_out import ask
from api.direct_debits import debit
from api.paying_forms import open_checkout, post
from api.registration_requests import pay_with, register
from api.scheduling import FAR, schedule
from api.server import SharedServer
from api.shoppers import decide, open_order
from gateway import Client

EXTERNAL = {"testMode": "EXTERNAL"}
APPROVED = (200, "000.100.112")
TEXT = "Request successfully processed in 'Merchant in Connector Test Mode'"


@pytest.fixture(scope="module")
def server(embedded_server: SharedServer) -> SharedServer:
    """The databases do not matter here."""
    return embedded_server


def test_a_card_is_approved_in_the_words_of_the_connector_test_mode(client: Client) -> None:
    answer = client.pay(None, **EXTERNAL)

    assert result_of(answer) == APPROVED
    assert answer.json["result"]["description"] == TEXT


def test_simulator_overrides_and_test_cards_work_as_they_do_without_a_mode(client: Client) -> None:
    forced = client.pay(None, **EXTERNAL, **{"customParameters[forceResultCode]": "800.100.152"})

    assert result_of(forced) == (400, "800.100.152")
    assert result_of(client.pay(card__number="4000000000000002", testMode="EXTERNAL")) == (400, "800.100.152")


def test_what_follows_is_simulated_too(client: Client) -> None:
    payment_id = authorise(client, **EXTERNAL)

    captured = capture(client, payment_id, "60.00")

    assert result_of(captured) == APPROVED
    assert result_of(refund(client, captured.json["id"], "10.00", **EXTERNAL)) == APPROVED
    assert result_of(refund(client, captured.json["id"], "10.00", testMode="INTERNAL")) == (400, "700.100.600")


def test_a_lenient_channel_follows_a_payment_in_the_payments_own_mode(lenient: Client) -> None:
    internal, external = authorise(lenient), authorise(lenient, **EXTERNAL)

    assert result_of(capture(lenient, internal, "10.00", **EXTERNAL)) == (200, "000.100.110")
    assert result_of(capture(lenient, external, "10.00", testMode="INTERNAL")) == APPROVED


def test_a_challenge_is_simulated(client: Client) -> None:
    challenged = order_by_card(client, CHALLENGED, **EXTERNAL)
    frictionless = order_by_card(client, FRICTIONLESS, **EXTERNAL)

    assert result_of(challenged) == PENDING
    pass_challenge(client, challenged)
    assert result_of(client.get(f"/v1/payments/{challenged.json['id']}")) == APPROVED
    assert result_of(frictionless) == APPROVED


def test_a_provider_is_simulated(client: Client) -> None:
    waiting = open_order(client, "PAYPAL", **EXTERNAL)

    decide(client, waiting, "approve")

    assert result_of(client.get(f"/v1/payments/{waiting.json['id']}")) == APPROVED


def test_a_direct_debit_is_collected(client: Client) -> None:
    assert result_of(debit(client, **EXTERNAL)) == APPROVED


def test_registrations_and_schedules_are_charged(client: Client) -> None:
    registration_id = register(client, **EXTERNAL)

    assert result_of(pay_with(client, registration_id, EXTERNAL)) == APPROVED
    assert result_of(schedule(client, registration_id, {**FAR, **EXTERNAL})) == APPROVED


def test_a_checkout_is_paid(client: Client) -> None:
    checkout_id = open_checkout(client, **EXTERNAL)

    assert result_of(post(client, checkout_id)) == APPROVED
    assert result_of(ask(client, checkout_id)) == APPROVED
