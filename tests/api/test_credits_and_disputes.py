"""Money without a reference (CD), and what banks bring by themselves: receipts, chargebacks and their reversals."""

from __future__ import annotations

import pytest

from api.chains import (
    APPROVED,
    FAULTY,
    FORCE,
    UNKNOWN_ID,
    authorise,
    begin,
    capture,
    debit,
    follow,
    happen,
    name,
    rebill,
    refund,
    result_of,
    reverse,
    stay_within_a_day,
)
from gateway import Answer, Client

pytestmark = pytest.mark.both_databases

CHARGED_BACK = (200, "000.100.200")
DISPUTED = (400, "700.300.600")
OUT_OF_TURN = (400, "700.400.400")


def charge_back(client: Client, payment_id: str, amount: str | None = None) -> str:
    answer = happen(client, payment_id, "CB", amount)
    assert result_of(answer) == CHARGED_BACK
    chargeback_id: str = answer.json["id"]
    return chargeback_id


# ---- credits ----


def test_a_credit_pays_out_without_a_reference(client: Client) -> None:
    answer = client.pay(paymentType="CD", amount="25.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["amount"]) == ("CD", "25.00")
    assert "referencedId" not in answer.json


@pytest.mark.parametrize(
    ("payment_type", "code"),
    [("CP", "700.400.510"), ("RF", "700.400.520"), ("RV", "700.400.530"), ("RB", "700.100.700")],
)
def test_nothing_follows_a_credit(client: Client, payment_type: str, code: str) -> None:
    assert result_of(follow(client, begin(client, "CD"), payment_type, "100.00")) == (400, code)


def test_a_credit_cannot_be_charged_back(client: Client) -> None:
    assert result_of(happen(client, begin(client, "CD"), "CB")) == (400, "700.400.550")


# ---- who says so ----


@pytest.mark.parametrize(
    ("payment_type", "code"), [("RC", "700.400.562"), ("CB", "700.400.402"), ("CR", "700.400.402")]
)
def test_a_merchant_cannot_ask_for_what_only_banks_bring(client: Client, payment_type: str, code: str) -> None:
    payment_id = debit(client)

    assert result_of(follow(client, payment_id, payment_type, "10.00")) == (400, code)

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


@pytest.mark.parametrize("payment_type", ["CP", "RF", "DB"])
def test_banks_bring_nothing_else(client: Client, payment_type: str) -> None:
    answer = happen(client, debit(client), payment_type, "10.00", currency="EUR")

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["paymentType"]


def test_nothing_happens_to_a_payment_that_is_not_there(client: Client, lenient: Client, stranger: Client) -> None:
    payment_id = debit(client)

    assert result_of(happen(client, UNKNOWN_ID, "CB")) == (400, "700.400.580")
    assert result_of(happen(stranger, payment_id, "CB")) == (400, "700.400.580")
    assert result_of(happen(lenient, payment_id, "CB")) == (400, "700.400.700")


# ---- chargebacks ----


def test_a_chargeback_takes_the_whole_payment_unless_it_says_how_much(client: Client) -> None:
    payment_id = debit(client)

    answer = happen(client, payment_id, "CB")

    assert result_of(answer) == CHARGED_BACK
    assert (answer.json["paymentType"], answer.json["referencedId"]) == ("CB", payment_id)
    assert (answer.json["amount"], answer.json["currency"]) == ("100.00", "EUR")


def test_a_chargeback_may_take_a_part(client: Client) -> None:
    answer = happen(client, debit(client), "CB", "30.00")

    assert (result_of(answer), answer.json["amount"]) == (CHARGED_BACK, "30.00")


def test_a_chargeback_is_not_larger_than_its_payment(client: Client) -> None:
    assert result_of(happen(client, debit(client), "CB", "100.01")) == OUT_OF_TURN


def test_the_banks_reason_is_answered_and_stays(client: Client) -> None:
    answer = happen(client, debit(client), "CB", resultCode="000.100.203")

    assert result_of(answer) == (200, "000.100.203")
    assert client.get(f"/v1/payments/{answer.json['id']}").json == answer.json


@pytest.mark.parametrize("code", ["000.000.000", "800.100.151", "none"])
def test_a_reason_that_is_none_is_a_fault_that_names_it(client: Client, code: str) -> None:
    answer = happen(client, debit(client), "CB", resultCode=code)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["resultCode"]


def charge_back_anything(client: Client, payment_type: str) -> Answer:
    payment_id = {
        "DB": lambda: debit(client),
        "PA.CP": lambda: begin(client, "PA.CP"),
        "CP": lambda: name(capture(client, authorise(client), "60.00")),
        "RB": lambda: name(rebill(client, debit(client), "60.00")),
    }[payment_type]()
    return happen(client, payment_id, "CB", "60.00")


@pytest.mark.parametrize("payment_type", ["DB", "PA.CP", "CP", "RB"])
def test_whatever_took_money_can_be_charged_back(client: Client, payment_type: str) -> None:
    assert result_of(charge_back_anything(client, payment_type)) == CHARGED_BACK


def test_an_authorization_cannot_be_charged_back(client: Client) -> None:
    assert result_of(happen(client, authorise(client), "CB")) == (400, "700.400.550")


def test_a_declined_debit_cannot_be_charged_back(client: Client) -> None:
    declined = client.pay(None, **{FORCE: "800.100.151"})

    assert result_of(happen(client, declined.json["id"], "CB")) == (400, "700.400.550")


@pytest.mark.parametrize("refunded", ["30.00", "100.00"])
def test_a_chargeback_is_recorded_even_below_zero(client: Client, refunded: str) -> None:
    payment_id = debit(client)
    refund(client, payment_id, refunded)

    answer = happen(client, payment_id, "CB")

    assert (result_of(answer), answer.json["amount"]) == (CHARGED_BACK, "100.00")


@pytest.mark.parametrize("disputed", ["0.01", "100.00"])
def test_after_a_chargeback_nothing_is_refunded_reversed_or_rebilled(client: Client, disputed: str) -> None:
    stay_within_a_day(client)
    payment_id = debit(client)
    charge_back(client, payment_id, disputed)

    assert result_of(refund(client, payment_id, "1.00")) == DISPUTED
    assert result_of(reverse(client, payment_id)) == DISPUTED
    assert result_of(rebill(client, payment_id, "1.00")) == DISPUTED


def test_the_chargeback_of_one_capture_leaves_the_others_alone(client: Client) -> None:
    payment_id = authorise(client)
    first_id, second_id = (name(capture(client, payment_id, "40.00")) for _ in range(2))
    charge_back(client, first_id)

    assert result_of(refund(client, second_id, "40.00")) == APPROVED
    assert result_of(capture(client, payment_id, "20.00")) == APPROVED


def test_what_is_disputed_is_not_disputed_again(client: Client) -> None:
    payment_id = debit(client)
    charge_back(client, payment_id, "30.00")

    assert result_of(happen(client, payment_id, "CB", "30.00")) == OUT_OF_TURN


def test_a_refund_that_the_bank_sent_back_may_be_made_again(client: Client) -> None:
    payment_id = debit(client)
    refund_id = name(refund(client, payment_id, "100.00"))
    assert result_of(refund(client, payment_id, "100.00")) == (400, "700.400.200")

    charge_back(client, refund_id)

    assert result_of(refund(client, payment_id, "100.01")) == (400, "700.400.200")
    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


# ---- their reversals ----


def test_the_reversal_of_a_chargeback_makes_refunds_possible_again(client: Client) -> None:
    payment_id = debit(client)
    chargeback_id = charge_back(client, payment_id)
    assert result_of(refund(client, payment_id, "10.00")) == DISPUTED

    answer = happen(client, chargeback_id, "CR")

    assert (result_of(answer), answer.json["paymentType"]) == (APPROVED, "CR")
    assert (answer.json["referencedId"], answer.json["amount"]) == (chargeback_id, "100.00")
    assert result_of(refund(client, payment_id, "100.01")) == (400, "700.400.200")
    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_a_chargeback_is_reversed_once_and_whole(client: Client) -> None:
    chargeback_id = charge_back(client, debit(client))

    assert result_of(happen(client, chargeback_id, "CR", "99.99")) == (400, "700.400.410")
    assert result_of(happen(client, chargeback_id, "CR", "100.00")) == APPROVED
    assert result_of(happen(client, chargeback_id, "CR")) == (400, "700.400.410")


def test_only_a_chargeback_is_reversed_that_way(client: Client) -> None:
    assert result_of(happen(client, debit(client), "CR")) == (400, "700.400.420")


def test_the_bank_may_charge_back_a_second_time_through_the_reversal(client: Client) -> None:
    payment_id = debit(client)
    reversal_id = name(happen(client, charge_back(client, payment_id), "CR"))

    second_id = charge_back(client, reversal_id)

    assert result_of(refund(client, payment_id, "10.00")) == DISPUTED
    assert result_of(happen(client, second_id, "CR")) == APPROVED
    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


# ---- receipts ----


def test_a_receipt_is_money_that_can_be_refunded(client: Client) -> None:
    payment_id = authorise(client)

    answer = happen(client, payment_id, "RC", "60.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["referencedId"]) == ("RC", payment_id)
    assert result_of(refund(client, answer.json["id"], "60.01")) == (400, "700.400.200")
    assert result_of(refund(client, answer.json["id"], "60.00")) == APPROVED


def test_receipts_and_captures_share_what_was_authorized(client: Client) -> None:
    payment_id = authorise(client)
    happen(client, payment_id, "RC", "60.00")

    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")
    assert result_of(happen(client, payment_id, "RC", "40.01")) == (400, "700.400.100")
    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


def test_a_debit_has_its_money_and_gets_no_receipt(client: Client) -> None:
    assert result_of(happen(client, debit(client), "RC", "10.00")) == (400, "700.400.560")
