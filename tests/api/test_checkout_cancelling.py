"""A merchant cancels a checkout: it cannot be paid any more, and a later approval is reversed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from api.chains import result_of
from api.checking_out import STORING, ask, prepare
from api.merchants import wait_until
from api.paying_forms import (
    BUSY,
    GONE,
    begin_at_provider,
    begin_challenge,
    come_back,
    list_made,
    open_checkout,
    pass_challenge,
    post,
    press,
    show,
)
from api.server import SharedServer
from gateway import Answer, Client

CANCELLED = (200, "000.200.102")
PAID = (200, "000.100.110")


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


@pytest.fixture(scope="module")
def stranger(embedded_server: SharedServer) -> Client:
    return embedded_server.stranger


def cancel(client: Client, checkout_id: str) -> Answer:
    query = urlencode({"entityId": client.entity_id})
    return client.send("DELETE", f"/v1/checkouts/{checkout_id}?{query}", None, client.authorized())


def test_a_cancelled_checkout_is_over_for_everybody(client: Client) -> None:
    checkout_id = open_checkout(client)

    answer = cancel(client, checkout_id)

    assert result_of(answer) == CANCELLED
    assert (answer.json["id"], answer.json["ndc"]) == (checkout_id, checkout_id)
    assert result_of(post(client, checkout_id)) == GONE
    assert result_of(show(client, checkout_id)) == GONE
    assert result_of(client.post(f"/v1/checkouts/{checkout_id}", {"amount": "1.00"})) == GONE
    status = ask(client, checkout_id)
    assert result_of(status) == GONE
    assert "No payment session found for the requested id" in status.json["result"]["description"]


def test_cancelling_again_answers_the_same(client: Client) -> None:
    checkout_id = prepare(client, STORING)

    assert result_of(cancel(client, checkout_id)) == result_of(cancel(client, checkout_id)) == CANCELLED


def test_a_checkout_that_is_paid_is_not_cancelled(client: Client) -> None:
    checkout_id = open_checkout(client)
    assert result_of(post(client, checkout_id)) == PAID

    answer = cancel(client, checkout_id)

    assert result_of(answer) == GONE
    assert "is complete and cannot be cancelled" in answer.json["result"]["description"]
    assert "repeat" not in answer.json["result"]["description"]
    assert result_of(ask(client, checkout_id)) == PAID
    assert result_of(cancel(client, checkout_id)) == GONE


def test_a_checkout_that_is_being_paid_asks_to_be_cancelled_a_moment_later(embedded_server: SharedServer) -> None:
    client = embedded_server.external
    checkout_id = open_checkout(client, testMode="EXTERNAL")
    with ThreadPoolExecutor(1) as shopper, embedded_server.acquirer.hold():
        paid = shopper.submit(post, client, checkout_id)
        wait_until(lambda: show(client, checkout_id).json["state"] == "busy")

        assert result_of(cancel(client, checkout_id)) == BUSY
    assert paid.result().code == "000.100.112"


def test_only_its_own_merchant_cancels_a_checkout(client: Client, stranger: Client) -> None:
    checkout_id = open_checkout(client)

    assert result_of(cancel(stranger, checkout_id)) == GONE
    assert result_of(cancel(replace(client, entity_id=client.lenient_entity_id), checkout_id)) == GONE
    assert client.send("DELETE", f"/v1/checkouts/{checkout_id}?entityId={client.entity_id}").status == 401
    assert result_of(cancel(client, "no-such-checkout")) == GONE
    assert result_of(post(client, checkout_id)) == PAID


def test_what_a_provider_approves_after_the_cancellation_is_given_back(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="cancelled-at-provider")
    page = begin_at_provider(client, checkout_id)
    assert result_of(cancel(client, checkout_id)) == CANCELLED

    come_back(client, press(client, page, "approve"))

    wait_until(lambda: len(list_made(client, "cancelled-at-provider")) == 2)
    first, reversal = list_made(client, "cancelled-at-provider")
    assert (first["result"]["code"], reversal["paymentType"]) == ("900.300.600", "RV")
    assert result_of(ask(client, checkout_id)) == GONE


def test_a_challenge_that_ends_after_the_cancellation_takes_no_money(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="cancelled-in-challenge")
    page = begin_challenge(client, checkout_id)
    assert result_of(cancel(client, checkout_id)) == CANCELLED

    pass_challenge(client, page)

    (only,) = list_made(client, "cancelled-in-challenge")
    assert only["result"]["code"] == "900.300.600"


# ---- the trace of what a form is refused ----


def test_refusals_of_a_form_carry_the_checkout_as_their_trace(client: Client) -> None:
    checkout_id = open_checkout(client)
    faulty = post(client, checkout_id, {"paymentBrand": "VISA", "card.number": "1"})
    unreadable = post(client, checkout_id, headers={"Content-Type": "text/plain"})
    other_kind = post(client, checkout_id, kind="registration")
    cancel(client, checkout_id)

    refusals = (faulty, unreadable, other_kind, post(client, checkout_id), show(client, checkout_id))
    assert [(answer.status, answer.json["ndc"]) for answer in refusals] == [(400, checkout_id)] * len(refusals)


def test_what_is_no_checkout_id_is_not_answered_as_a_trace(client: Client) -> None:
    answer = post(client, "4200000000000000")

    assert result_of(answer) == GONE
    assert "4200000000000000" not in answer.json["ndc"]


def test_no_log_shows_the_checkout_of_a_refused_form(client: Client, embedded_server: SharedServer) -> None:
    checkout_id = open_checkout(client)
    assert post(client, checkout_id, {"paymentBrand": "VISA", "card.number": "1"}).json["ndc"] == checkout_id

    assert checkout_id not in embedded_server.gateway.read_log()
