"""Reversals: the open rest of an authorisation, or a whole debit or capture until the end of its day."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from api.chains import (
    APPROVED,
    FORCE,
    advance,
    authorise,
    begin,
    capture,
    count_seconds_to_midnight,
    debit,
    name,
    raise_by,
    rebill,
    refund,
    result_of,
    reverse,
    stay_within_a_day,
)
from gateway import Client

pytestmark = pytest.mark.both_databases

IMPOSSIBLE = (400, "700.400.300")
TOO_LATE = (400, "700.300.700")
WRONG_REFERENCE = (400, "700.400.530")


@pytest.fixture(autouse=True)
def _within_a_day(client: Client) -> None:
    stay_within_a_day(client)


# ---- of an authorisation ----


def test_an_authorization_is_reversed_whole(client: Client) -> None:
    payment_id = authorise(client)

    answer = reverse(client, payment_id)

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["referencedId"]) == ("RV", payment_id)
    assert (answer.json["amount"], answer.json["currency"]) == ("100.00", "EUR")


def test_nothing_can_be_captured_after_the_reversal(client: Client) -> None:
    payment_id = authorise(client)
    reverse(client, payment_id)

    assert result_of(capture(client, payment_id, "1.00")) == (400, "700.400.100")


def test_an_authorization_cannot_be_raised_after_its_reversal(client: Client) -> None:
    payment_id = authorise(client)
    reverse(client, payment_id)

    assert result_of(raise_by(client, payment_id, "1.00")) == (400, "700.400.100")


def test_of_a_partly_captured_authorization_the_open_rest_is_reversed(client: Client) -> None:
    payment_id = authorise(client)
    captured_id = name(capture(client, payment_id, "30.00"))

    answer = reverse(client, payment_id)

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "70.00")
    assert result_of(refund(client, captured_id, "30.00")) == APPROVED


def test_what_an_increment_added_is_reversed_with_it(client: Client) -> None:
    payment_id = authorise(client)
    raise_by(client, payment_id, "15.00")

    answer = reverse(client, payment_id)

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "115.00")


def test_the_amount_of_a_reversal_is_the_open_rest_or_absent(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "30.00")

    assert result_of(reverse(client, payment_id, "69.99")) == IMPOSSIBLE
    assert result_of(reverse(client, payment_id, "70.01")) == IMPOSSIBLE
    assert result_of(reverse(client, payment_id, "100.00")) == IMPOSSIBLE

    assert result_of(reverse(client, payment_id, "70.00")) == APPROVED


def test_an_amount_without_a_currency_is_in_that_of_the_payment(client: Client) -> None:
    payment_id = authorise(client, currency="USD")

    answer = reverse(client, payment_id, "100.00", currency=None)

    assert (result_of(answer), answer.json["currency"]) == (APPROVED, "USD")


def test_a_reversal_in_another_currency_is_refused(client: Client) -> None:
    assert result_of(reverse(client, authorise(client), "100.00", currency="USD")) == (400, "700.100.500")


def test_an_authorization_is_reversed_once(client: Client) -> None:
    payment_id = authorise(client)
    reverse(client, payment_id)

    assert result_of(reverse(client, payment_id)) == IMPOSSIBLE


def test_a_fully_captured_authorization_has_nothing_to_reverse(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "100.00")

    assert result_of(reverse(client, payment_id)) == IMPOSSIBLE


def test_a_declined_reversal_leaves_the_authorization_as_it_was(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(reverse(client, payment_id, **{FORCE: "800.100.151"})) == (400, "800.100.151")

    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_parameters_with_empty_values_are_ignored(client: Client) -> None:
    payment_id = authorise(client)
    empty = {"descriptor": "", "merchantInvoiceId": "", "amount": "", "currency": "", "customParameters[x]": ""}
    body = urlencode({"entityId": client.entity_id, "paymentType": "RV", **empty})

    answer = client.send("POST", f"/v1/payments/{payment_id}", body, client.authorized())

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "100.00")
    assert answer.json["descriptor"]
    assert "merchantInvoiceId" not in answer.json


# ---- of a debit or a capture ----


@pytest.mark.parametrize("payment_type", ["DB", "PA.CP"])
def test_a_debit_is_reversed_on_its_day(client: Client, payment_type: str) -> None:
    answer = reverse(client, begin(client, payment_type))

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "100.00")


def test_a_capture_is_reversed_on_its_day(client: Client) -> None:
    captured_id = name(capture(client, authorise(client), "30.00"))

    answer = reverse(client, captured_id)

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "30.00")


def test_a_rebill_is_reversed_on_its_day(client: Client) -> None:
    rebilled_id = name(rebill(client, debit(client), "20.00"))

    answer = reverse(client, rebilled_id)

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "20.00")


def test_a_debit_is_reversed_whole_or_not_at_all(client: Client) -> None:
    payment_id = debit(client)

    assert result_of(reverse(client, payment_id, "99.99")) == IMPOSSIBLE
    assert result_of(reverse(client, payment_id, "100.01")) == IMPOSSIBLE

    assert result_of(reverse(client, payment_id, "100.00")) == APPROVED


def test_a_debit_can_be_reversed_until_the_end_of_its_day(client: Client) -> None:
    first_id, second_id = debit(client), debit(client)
    advance(client, count_seconds_to_midnight(client) - 60)
    assert result_of(reverse(client, first_id)) == APPROVED

    advance(client, 61)

    assert result_of(reverse(client, second_id)) == TOO_LATE
    assert result_of(refund(client, second_id, "100.00")) == APPROVED


def test_the_day_of_a_capture_is_its_own_and_not_that_of_its_authorization(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, count_seconds_to_midnight(client) + 1)

    captured_id = name(capture(client, payment_id, "30.00"))

    assert result_of(reverse(client, captured_id)) == APPROVED


def test_an_authorization_can_be_reversed_after_its_day(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, count_seconds_to_midnight(client) + 1)

    assert result_of(reverse(client, payment_id)) == APPROVED


def test_the_reversal_of_a_capture_does_not_reopen_the_authorization(client: Client) -> None:
    payment_id = authorise(client)
    captured_id = name(capture(client, payment_id, "60.00"))
    reverse(client, captured_id)

    assert result_of(capture(client, payment_id, "40.01")) == (400, "700.400.100")
    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


def test_a_declined_reversal_leaves_the_debit_as_it_was(client: Client) -> None:
    payment_id = debit(client)
    reverse(client, payment_id, **{FORCE: "800.100.151"})

    assert result_of(refund(client, payment_id, "100.00")) == APPROVED


# ---- nothing is given back twice ----


@pytest.mark.parametrize("amount", ["0.01", "100.00"])
def test_a_debit_that_was_reversed_cannot_be_refunded(client: Client, amount: str) -> None:
    payment_id = debit(client)
    reverse(client, payment_id)

    assert result_of(refund(client, payment_id, amount)) == (400, "700.400.200")


def test_a_debit_that_was_reversed_cannot_be_rebilled(client: Client) -> None:
    payment_id = debit(client)
    reverse(client, payment_id)

    assert result_of(rebill(client, payment_id, "10.00")) == (400, "700.300.300")


@pytest.mark.parametrize("amount", ["0.01", "100.00"])
def test_a_debit_of_which_anything_was_refunded_cannot_be_reversed(client: Client, amount: str) -> None:
    payment_id = debit(client)
    refund(client, payment_id, amount)

    assert result_of(reverse(client, payment_id)) == IMPOSSIBLE


def test_a_debit_whose_refund_was_declined_can_still_be_reversed(client: Client) -> None:
    payment_id = debit(client)
    refund(client, payment_id, "10.00", **{FORCE: "800.100.151"})

    assert result_of(reverse(client, payment_id)) == APPROVED


def test_a_debit_is_reversed_once(client: Client) -> None:
    payment_id = debit(client)
    reverse(client, payment_id)

    assert result_of(reverse(client, payment_id)) == IMPOSSIBLE


# ---- of anything else ----


def test_a_refund_cannot_be_reversed(client: Client) -> None:
    assert result_of(reverse(client, name(refund(client, debit(client), "10.00")))) == WRONG_REFERENCE


def test_a_credit_cannot_be_reversed(client: Client) -> None:
    assert result_of(reverse(client, begin(client, "CD"))) == WRONG_REFERENCE


def test_an_increment_is_not_reversed_by_itself(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(reverse(client, name(raise_by(client, payment_id, "10.00")))) == WRONG_REFERENCE
