"""Rebills: the same shopper is charged again, at most as much as before and as often as the channel allows."""

from __future__ import annotations

import pytest

from api.chains import (
    APPROVED,
    DAY_S,
    FAULTY,
    FORCE,
    advance,
    authorise,
    begin,
    capture,
    debit,
    follow,
    name,
    rebill,
    refund,
    result_of,
)
from api.merchants import add_channel
from gateway import Client, GatewayProcess

pytestmark = pytest.mark.both_databases

TOO_MUCH = (400, "700.100.300")
TOO_OFTEN = (400, "700.500.001")
WRONG_REFERENCE = (400, "700.100.700")


def test_a_debit_may_be_rebilled(client: Client) -> None:
    payment_id = debit(client)

    answer = rebill(client, payment_id, "30.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["referencedId"]) == ("RB", payment_id)
    assert (answer.json["amount"], answer.json["currency"]) == ("30.00", "EUR")


@pytest.mark.parametrize("payment_type", ["DB", "PA.CP"])
def test_a_rebill_may_be_as_large_as_the_payment_and_no_larger(client: Client, payment_type: str) -> None:
    payment_id = begin(client, payment_type)

    assert result_of(rebill(client, payment_id, "100.01")) == TOO_MUCH
    assert result_of(rebill(client, payment_id, "100.00")) == APPROVED


def test_a_capture_may_be_rebilled_up_to_its_own_sum(client: Client) -> None:
    captured_id = name(capture(client, authorise(client), "60.00"))

    assert result_of(rebill(client, captured_id, "60.01")) == TOO_MUCH
    assert result_of(rebill(client, captured_id, "60.00")) == APPROVED


def test_each_rebill_may_take_the_whole_again(client: Client) -> None:
    payment_id = debit(client)

    assert [result_of(rebill(client, payment_id, "100.00")) for _ in range(3)] == [APPROVED] * 3


def test_a_rebill_may_come_long_after_the_payment(client: Client) -> None:
    payment_id = debit(client)
    advance(client, 60 * DAY_S)

    assert result_of(rebill(client, payment_id, "100.00")) == APPROVED


def test_a_refunded_payment_may_be_rebilled(client: Client) -> None:
    payment_id = debit(client)
    refund(client, payment_id, "100.00")

    assert result_of(rebill(client, payment_id, "100.00")) == APPROVED


def test_the_final_rebill_closes_the_payment_to_rebills(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(rebill(client, payment_id, "10.00", sequence="FINAL")) == APPROVED

    assert result_of(rebill(client, payment_id, "10.00")) == (400, "700.300.300")
    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_a_channel_says_how_often_a_payment_is_rebilled(gateway: GatewayProcess, client: Client) -> None:
    sparing = add_channel(gateway, client, "Sparing", "--rebills-max", "2")
    payment_id = debit(sparing)

    declined = rebill(sparing, payment_id, "10.00", **{FORCE: "800.100.151"})
    assert result_of(declined) == (400, "800.100.151")
    assert [result_of(rebill(sparing, payment_id, "10.00")) for _ in range(2)] == [APPROVED] * 2

    assert result_of(rebill(sparing, payment_id, "10.00")) == TOO_OFTEN
    assert result_of(rebill(sparing, debit(sparing), "10.00")) == APPROVED


def test_an_authorization_cannot_be_rebilled(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "100.00")

    assert result_of(rebill(client, payment_id, "10.00")) == WRONG_REFERENCE


def test_a_rebill_cannot_be_rebilled(client: Client) -> None:
    assert result_of(rebill(client, name(rebill(client, debit(client), "10.00")), "10.00")) == WRONG_REFERENCE


def test_money_that_was_paid_out_cannot_be_rebilled(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(rebill(client, begin(client, "CD"), "10.00")) == WRONG_REFERENCE
    assert result_of(rebill(client, name(refund(client, payment_id, "10.00")), "10.00")) == WRONG_REFERENCE


def test_a_rebill_in_another_currency_is_refused(client: Client) -> None:
    assert result_of(rebill(client, debit(client), "10.00", currency="USD")) == (400, "700.100.500")


def test_nothing_cannot_be_rebilled(client: Client) -> None:
    assert result_of(rebill(client, debit(client), "0.00")) == (400, "100.550.300")


def test_half_a_yen_cannot_be_rebilled(client: Client) -> None:
    payment_id = debit(client, "100", currency="JPY")

    assert result_of(rebill(client, payment_id, "10.50", currency="JPY")) == (400, "100.550.303")


@pytest.mark.parametrize("absent", ["amount", "currency"])
def test_a_rebill_without_amount_or_currency_is_a_fault_that_names_it(client: Client, absent: str) -> None:
    given = {"amount": "10.00", "currency": "EUR", absent: None}

    answer = follow(client, debit(client), "RB", **given)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [absent]
