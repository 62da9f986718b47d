"""Refunds: parts of what was taken, up to its sum, by naming the payment that took it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

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
    raise_by,
    rebill,
    refund,
    renew,
    result_of,
    reverse,
    stay_within_a_day,
)
from gateway import Client

pytestmark = pytest.mark.both_databases

TOO_MUCH = (400, "700.400.200")
NO_MONEY = (400, "700.400.520")


# ---- sums ----


def test_a_part_may_be_refunded(client: Client) -> None:
    payment_id = debit(client)

    answer = refund(client, payment_id, "30.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["referencedId"]) == ("RF", payment_id)
    assert (answer.json["amount"], answer.json["currency"]) == ("30.00", "EUR")


def test_several_refunds_may_give_back_the_whole_and_not_a_hundredth_more(client: Client) -> None:
    payment_id = debit(client)

    assert [result_of(refund(client, payment_id, part)) for part in ("30.00", "69.99", "0.01")] == [APPROVED] * 3

    assert result_of(refund(client, payment_id, "0.01")) == TOO_MUCH


def test_more_than_was_debited_cannot_be_refunded(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(refund(client, payment_id, "100.01")) == TOO_MUCH

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_parallel_refunds_give_back_no_more_than_was_taken(client: Client) -> None:
    payment_id = debit(client)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: refund(client, payment_id, "30.00"), range(12)))

    assert sorted(set(map(result_of, answers))) == [APPROVED, TOO_MUCH]
    assert list(map(result_of, answers)).count(APPROVED) == 3
    assert result_of(refund(client, payment_id, "10.00")) == APPROVED


def test_a_refund_may_come_long_after_the_debit(client: Client) -> None:
    payment_id = debit(client)
    advance(client, 60 * DAY_S)

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_a_declined_refund_gives_its_reservation_back(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(refund(client, payment_id, "100.00", **{FORCE: "800.100.151"})) == (400, "800.100.151")

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


def test_the_final_refund_closes_the_payment_to_refunds(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(refund(client, payment_id, "10.00", sequence="FINAL")) == APPROVED

    assert result_of(refund(client, payment_id, "10.00")) == TOO_MUCH


def test_a_final_refund_that_was_declined_closes_nothing(client: Client) -> None:
    payment_id = debit(client)
    refund(client, payment_id, "10.00", sequence="FINAL", **{FORCE: "800.100.151"})

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


# ---- amounts and currencies ----


def test_a_refund_in_another_currency_is_refused(client: Client) -> None:
    assert result_of(refund(client, debit(client), "10.00", currency="USD")) == (400, "700.100.500")


def test_nothing_cannot_be_refunded(client: Client) -> None:
    assert result_of(refund(client, debit(client), "0.00")) == (400, "100.550.300")


def test_half_a_yen_cannot_be_refunded(client: Client) -> None:
    payment_id = debit(client, "100", currency="JPY")

    assert result_of(refund(client, payment_id, "10.50", currency="JPY")) == (400, "100.550.303")
    assert result_of(refund(client, payment_id, "100", currency="JPY")) == APPROVED


@pytest.mark.parametrize("absent", ["amount", "currency"])
def test_a_refund_without_amount_or_currency_is_a_fault_that_names_it(client: Client, absent: str) -> None:
    given = {"amount": "10.00", "currency": "EUR", absent: None}

    answer = follow(client, debit(client), "RF", **given)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [absent]


# ---- of captures ----


def test_a_capture_is_refunded_by_its_own_id(client: Client) -> None:
    captured_id = name(capture(client, authorise(client), "60.00"))

    answer = refund(client, captured_id, "60.00")

    assert (result_of(answer), answer.json["referencedId"]) == (APPROVED, captured_id)


def test_each_capture_is_refunded_up_to_its_own_sum(client: Client) -> None:
    payment_id = authorise(client)
    small_id, large_id = name(capture(client, payment_id, "20.00")), name(capture(client, payment_id, "80.00"))

    assert result_of(refund(client, small_id, "20.01")) == TOO_MUCH
    assert result_of(refund(client, small_id, "20.00")) == APPROVED
    assert result_of(refund(client, large_id, "80.00")) == APPROVED


def test_a_captured_authorization_is_not_refunded_by_its_own_id(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "100.00")

    assert result_of(refund(client, payment_id, "10.00")) == NO_MONEY


def test_an_authorization_that_took_nothing_has_nothing_to_refund(client: Client) -> None:
    assert result_of(refund(client, authorise(client), "10.00")) == NO_MONEY


def test_the_refund_of_a_capture_does_not_reopen_the_authorization(client: Client) -> None:
    payment_id = authorise(client)
    captured_id = name(capture(client, payment_id, "100.00"))
    refund(client, captured_id, "100.00")

    assert result_of(capture(client, payment_id, "1.00")) == (400, "700.400.100")


def test_a_capture_that_was_reversed_cannot_be_refunded(client: Client) -> None:
    stay_within_a_day(client)
    captured_id = name(capture(client, authorise(client), "60.00"))
    assert result_of(reverse(client, captured_id)) == APPROVED

    assert result_of(refund(client, captured_id, "1.00")) == TOO_MUCH


def test_the_reversed_rest_of_an_authorization_takes_nothing_from_its_captures(client: Client) -> None:
    payment_id = authorise(client)
    captured_id = name(capture(client, payment_id, "60.00"))
    reverse(client, payment_id)

    assert result_of(refund(client, captured_id, "60.01")) == TOO_MUCH
    assert result_of(refund(client, captured_id, "60.00")) == APPROVED


def test_what_was_captured_of_an_increment_can_be_refunded(client: Client) -> None:
    payment_id = authorise(client)
    raise_by(client, payment_id, "20.00")
    captured_id = name(capture(client, payment_id, "120.00"))

    assert result_of(refund(client, captured_id, "120.00")) == APPROVED


def test_what_was_captured_of_a_renewed_authorization_can_be_refunded(client: Client) -> None:
    renewed_id = name(renew(client, authorise(client), "50.00"))
    captured_id = name(capture(client, renewed_id, "50.00"))

    assert result_of(refund(client, captured_id, "50.00")) == APPROVED


# ---- of other payments ----


def test_an_authorization_captured_in_one_request_has_one_id_and_is_refunded_by_it(client: Client) -> None:
    answer = client.pay(paymentType="PA.CP", amount="100.00")
    assert (result_of(answer), answer.json["paymentType"]) == (APPROVED, "PA.CP")

    assert result_of(refund(client, answer.json["id"], "100.01")) == TOO_MUCH
    assert result_of(refund(client, answer.json["id"], "100.00")) == APPROVED


def test_a_rebill_is_refunded_by_its_own_id_and_up_to_its_own_sum(client: Client) -> None:
    rebilled_id = name(rebill(client, debit(client), "40.00"))

    assert result_of(refund(client, rebilled_id, "40.01")) == TOO_MUCH
    assert result_of(refund(client, rebilled_id, "40.00")) == APPROVED


def test_a_rebill_does_not_make_its_debit_refundable_twice(client: Client) -> None:
    payment_id = debit(client)
    rebill(client, payment_id, "100.00")
    refund(client, payment_id, "100.00")

    assert result_of(refund(client, payment_id, "1.00")) == TOO_MUCH


def test_a_credit_cannot_be_refunded(client: Client) -> None:
    assert result_of(refund(client, begin(client, "CD"), "10.00")) == NO_MONEY


def test_a_refund_cannot_be_refunded(client: Client) -> None:
    assert result_of(refund(client, name(refund(client, debit(client), "10.00")), "10.00")) == NO_MONEY
