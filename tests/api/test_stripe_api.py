"""Payments through localstripe, which is not ours: charges, captures, refunds, declines and lost messages."""

from __future__ import annotations

from typing import Any

import pytest

from api.chains import (
    APPROVED_EXTERNAL,
    PENDING,
    authorise,
    capture,
    debit,
    refund,
    result_of,
    reverse,
    wait_until_final,
)
from api.merchants import run_command, wait_until
from api.stripe_channels import CHALLENGED_CARD, DECLINED_CARD, EXTERNAL, add_stripe_channel
from gateway import Client, GatewayProcess
from stripe_process import API_KEY, LocalStripe, Manner, Proxy

SILENT = (400, "900.100.300")
CONFIRM, CAPTURE, REFUNDS, CANCEL = "/confirm", "/capture", "/v1/refunds", "/cancel"
INTENTS, METHODS = "/v1/payment_intents", "/v1/payment_methods"
LOST = [Manner.DROP, Manner.ACT_AND_DROP, Manner.GARBAGE, Manner.ERROR]


@pytest.fixture(scope="module")
def merchant(gateway: GatewayProcess, client: Client, proxy: Proxy) -> Client:
    return add_stripe_channel(gateway, client, "Stripe", proxy.address)


def pay(merchant: Client, payment_type: str = "DB", **changes: str) -> Any:
    return merchant.pay(None, **{**EXTERNAL, "paymentType": payment_type, "amount": "100.00", **changes})


# ---- charges ----


def test_a_debit_takes_the_money_at_once(merchant: Client, processor: LocalStripe) -> None:
    answer = pay(merchant)

    intent = processor.get_intent(answer.json["id"])
    assert result_of(answer) == APPROVED_EXTERNAL
    assert (intent["status"], intent["amount"], intent["currency"]) == ("succeeded", 10000, "eur")
    assert answer.json["resultDetails"]["ConnectorTxID1"] == intent["id"]
    assert answer.json["resultDetails"]["ConnectorTxID2"] == intent["latest_charge"]["id"]


def test_the_processor_gets_credential_version_and_a_key_for_each_message(merchant: Client, proxy: Proxy) -> None:
    before = len(proxy.seen)

    payment_id = pay(merchant).json["id"]

    sent = [headers for _, headers, _ in proxy.seen[before:]]
    assert {each["Authorization"] for each in sent} == {f"Bearer {API_KEY}"}
    assert {each["Stripe-Version"] for each in sent} == {"2024-06-20"}
    assert [each["Idempotency-Key"] for each in sent] == [
        f"{payment_id}-{step}" for step in ("method", "intent", "confirmation")
    ]


def test_a_decline_of_the_processor_is_answered(merchant: Client, processor: LocalStripe) -> None:
    answer = pay(merchant, **DECLINED_CARD)

    assert result_of(answer) == (400, "800.100.100")
    assert answer.json["resultDetails"]["ExtendedDescription"] == "Your card was declined."
    assert processor.get_intent(answer.json["id"])["status"] == "requires_payment_method"


def test_an_authentication_that_the_processor_wants_is_a_soft_decline(merchant: Client, processor: LocalStripe) -> None:
    answer = pay(merchant, **CHALLENGED_CARD)

    assert result_of(answer) == (400, "300.100.100")
    assert processor.get_intent(answer.json["id"])["status"] == "canceled"


def test_a_payout_is_declined_without_asking(merchant: Client, processor: LocalStripe) -> None:
    answer = pay(merchant, "CD")

    assert result_of(answer) == (400, "600.200.310")
    assert processor.list_intents(answer.json["id"]) == []


def test_a_parameter_that_the_processor_does_not_know_is_no_silence(merchant: Client, processor: LocalStripe) -> None:
    standing = {"standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT"}

    answer = pay(merchant, **standing, **{"standingInstruction.type": "UNSCHEDULED"})

    assert result_of(answer) == (400, "900.100.204")
    assert processor.list_intents(answer.json["id"]) == []


# ---- follow-ups ----


def test_an_authorization_is_captured_in_full_and_refunded_in_parts(merchant: Client, processor: LocalStripe) -> None:
    held = authorise(merchant, **EXTERNAL)
    assert processor.get_intent(held)["status"] == "requires_capture"

    captured = capture(merchant, held, "100.00")
    assert result_of(captured) == APPROVED_EXTERNAL
    assert processor.get_intent(held)["status"] == "succeeded"

    assert result_of(refund(merchant, captured.json["id"], "30.00")) == APPROVED_EXTERNAL
    assert result_of(refund(merchant, captured.json["id"], "70.00")) == APPROVED_EXTERNAL
    assert sorted(processor.list_refunds(held)) == [3000, 7000]


def test_a_partial_capture_releases_the_rest_so_a_second_one_is_declined(
    merchant: Client, processor: LocalStripe
) -> None:
    held = authorise(merchant, **EXTERNAL)

    assert result_of(capture(merchant, held, "60.00")) == APPROVED_EXTERNAL
    assert processor.get_intent(held)["latest_charge"]["amount_refunded"] == 4000
    second = capture(merchant, held, "40.00")

    assert (second.status, second.code) == (400, "900.100.204")
    assert result_of(reverse(merchant, held)) == APPROVED_EXTERNAL


def test_the_reversal_of_an_authorization_cancels_it(merchant: Client, processor: LocalStripe) -> None:
    held = authorise(merchant, **EXTERNAL)

    assert result_of(reverse(merchant, held)) == APPROVED_EXTERNAL

    assert processor.get_intent(held)["status"] == "canceled"


def test_the_reversal_of_a_debit_refunds_it(merchant: Client, processor: LocalStripe) -> None:
    taken = debit(merchant, **EXTERNAL)

    assert result_of(reverse(merchant, taken)) == APPROVED_EXTERNAL

    assert processor.list_refunds(taken) == [10000]


# ---- lost messages ----


def test_a_confirmation_that_arrives_twice_is_approved_once(
    merchant: Client, processor: LocalStripe, proxy: Proxy
) -> None:
    proxy.treat(CONFIRM, Manner.TWICE)

    answer = pay(merchant)

    assert result_of(answer) == APPROVED_EXTERNAL
    assert processor.get_intent(answer.json["id"])["status"] == "succeeded"


@pytest.mark.parametrize("manner", LOST)
def test_a_debit_with_a_lost_confirmation_is_answered_as_failed_and_undone(
    merchant: Client, processor: LocalStripe, proxy: Proxy, manner: Manner
) -> None:
    proxy.treat(CONFIRM, manner)

    answer = pay(merchant)

    assert result_of(answer) == SILENT
    payment_id = answer.json["id"]
    if manner is Manner.DROP:
        wait_until(lambda: processor.get_intent(payment_id)["status"] == "canceled")
    else:
        wait_until(lambda: processor.list_refunds(payment_id) == [10000])


@pytest.mark.parametrize("manner", LOST)
def test_an_authorization_with_a_lost_confirmation_is_cancelled(
    merchant: Client, processor: LocalStripe, proxy: Proxy, manner: Manner
) -> None:
    proxy.treat(CONFIRM, manner)

    answer = pay(merchant, "PA")

    assert result_of(answer) == SILENT
    wait_until(lambda: processor.get_intent(answer.json["id"])["status"] == "canceled")


@pytest.mark.parametrize("ending", [METHODS, INTENTS])
@pytest.mark.parametrize("manner", LOST)
def test_silence_before_the_confirmation_takes_nothing(
    merchant: Client, processor: LocalStripe, proxy: Proxy, ending: str, manner: Manner
) -> None:
    proxy.treat(ending, manner)

    answer = pay(merchant)

    assert answer.code in ("900.100.300", "900.100.204")
    assert [each["status"] for each in processor.list_intents(answer.json["id"]) if each["latest_charge"]] == []


@pytest.mark.parametrize("manner", LOST)
def test_a_silent_refund_is_executed_once(
    merchant: Client, processor: LocalStripe, proxy: Proxy, manner: Manner
) -> None:
    taken = debit(merchant, **EXTERNAL)
    proxy.treat(REFUNDS, manner)

    answer = refund(merchant, taken, "30.00")

    assert result_of(answer) == PENDING
    assert result_of(wait_until_final(merchant, answer)) == APPROVED_EXTERNAL
    assert processor.list_refunds(taken) == [3000]


@pytest.mark.parametrize("manner", LOST)
def test_a_silent_capture_is_executed_once(
    merchant: Client, processor: LocalStripe, proxy: Proxy, manner: Manner
) -> None:
    held = authorise(merchant, **EXTERNAL)
    proxy.treat(CAPTURE, manner)

    answer = capture(merchant, held, "60.00")

    assert result_of(answer) == PENDING
    assert result_of(wait_until_final(merchant, answer)) == APPROVED_EXTERNAL
    assert processor.get_intent(held)["latest_charge"]["amount_refunded"] == 4000


@pytest.mark.parametrize("manner", LOST)
def test_a_silent_cancellation_is_finished(
    merchant: Client, processor: LocalStripe, proxy: Proxy, manner: Manner
) -> None:
    held = authorise(merchant, **EXTERNAL)
    proxy.treat(CANCEL, manner)

    answer = reverse(merchant, held)

    assert result_of(answer) == PENDING
    assert result_of(wait_until_final(merchant, answer)) == APPROVED_EXTERNAL
    assert processor.get_intent(held)["status"] == "canceled"


# ---- set-up ----


def test_a_wrong_credential_is_a_decline_that_tells_the_operator(
    gateway: GatewayProcess, client: Client, processor: LocalStripe
) -> None:
    address = f"http://127.0.0.1:{processor.port}"
    stranger = add_stripe_channel(gateway, client, "Stranger", address)
    run_command(gateway, "channel", "acquirer-secret", stranger.entity_id, "api-key", "--remove")
    wait_until(lambda: pay(stranger).code == "800.100.190")

    assert "acquirer refused our credential" in gateway.read_log()
