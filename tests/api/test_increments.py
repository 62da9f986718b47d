"""An authorisation on an authorisation: raised by an increment, or renewed as a hold of its own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from api.chains import (
    APPROVED,
    DAY_S,
    FAULT,
    FAULTY,
    FORCE,
    INCREMENT,
    PRACTICE,
    RENEWAL,
    UNKNOWN_ID,
    advance,
    authorise,
    begin,
    capture,
    follow,
    list_payments,
    name,
    raise_by,
    renew,
    result_of,
    reverse,
)
from api.merchants import wait_until
from gateway import CARD, Answer, Client

pytestmark = pytest.mark.both_databases

TOO_MUCH = (400, "700.400.100")
WRONG_REFERENCE = (400, "700.100.700")
PRACTICES = pytest.mark.parametrize("practice", [INCREMENT, RENEWAL], ids=["increment", "renewal"])


def refer(client: Client, reference: str, amount: str, **changes: str | None) -> Answer:
    """The payment is named by a parameter instead of the path."""
    fields = {"paymentType": "PA", "amount": amount, "currency": "EUR", "referenceUuid": reference, **changes}
    return client.post("/v1/payments", fields)


# ---- raised ----


def test_an_increment_raises_what_may_be_captured(client: Client) -> None:
    payment_id = authorise(client)

    answer = raise_by(client, payment_id, "15.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["amount"]) == ("PA", "15.00")
    assert answer.json["referencedId"] == payment_id
    assert answer.json["standingInstruction"] == {"industryPractice": "INCREMENTAL_AUTH"}
    assert result_of(capture(client, payment_id, "115.01")) == TOO_MUCH
    assert result_of(capture(client, payment_id, "115.00")) == APPROVED


def test_increments_add_up(client: Client) -> None:
    payment_id = authorise(client)
    assert [result_of(raise_by(client, payment_id, "10.00")) for _ in range(3)] == [APPROVED] * 3

    assert result_of(capture(client, payment_id, "130.01")) == TOO_MUCH
    assert result_of(capture(client, payment_id, "130.00")) == APPROVED


def test_an_authorization_may_be_raised_between_two_captures(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "100.00")
    raise_by(client, payment_id, "20.00")

    assert result_of(capture(client, payment_id, "20.00")) == APPROVED


def test_an_increment_may_be_larger_than_its_authorization(client: Client) -> None:
    assert result_of(raise_by(client, authorise(client), "250.00")) == APPROVED


def test_a_declined_increment_raises_nothing(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(raise_by(client, payment_id, "15.00", **{FORCE: "800.100.155"})) == (400, "800.100.155")

    assert result_of(capture(client, payment_id, "100.01")) == TOO_MUCH


def test_a_silent_increment_fails_raises_nothing_and_is_given_back(client: Client) -> None:
    payment_id = authorise(client)

    answer = raise_by(client, payment_id, "15.00", merchantTransactionId="silent-increment", **{FAULT: "lost"})

    assert result_of(answer) == (400, "900.100.300")
    wait_until(lambda: len(list_payments(client, "silent-increment")) == 2)
    reversal = list_payments(client, "silent-increment")[1]
    assert (reversal["paymentType"], reversal["referencedId"]) == ("RV", answer.json["id"])
    assert (reversal["amount"], reversal["result"]["code"]) == ("15.00", "000.100.110")
    assert result_of(capture(client, payment_id, "100.01")) == TOO_MUCH
    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_an_increment_does_not_prolong_its_authorization(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, 6 * DAY_S)
    raise_by(client, payment_id, "10.00")
    advance(client, DAY_S)

    assert result_of(capture(client, payment_id, "10.00")) == (400, "700.300.400")


def test_an_increment_is_captured_through_its_authorization_only(client: Client) -> None:
    increment_id = name(raise_by(client, authorise(client), "15.00"))

    assert result_of(capture(client, increment_id, "15.00")) == (400, "700.400.510")


def test_a_closed_authorization_cannot_be_raised(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "10.00", sequence="FINAL")

    assert result_of(raise_by(client, payment_id, "10.00")) == TOO_MUCH


def test_the_final_increment_closes_the_authorization_to_increments_only(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(raise_by(client, payment_id, "10.00", sequence="FINAL")) == APPROVED

    assert result_of(raise_by(client, payment_id, "10.00")) == TOO_MUCH
    assert result_of(capture(client, payment_id, "110.00")) == APPROVED


# ---- renewed ----


def test_a_renewal_is_a_hold_of_its_own(client: Client) -> None:
    payment_id = authorise(client)

    answer = renew(client, payment_id, "60.00")

    assert (result_of(answer), answer.json["referencedId"]) == (APPROVED, payment_id)
    renewed_id = answer.json["id"]
    assert result_of(capture(client, renewed_id, "60.01")) == TOO_MUCH
    assert result_of(capture(client, renewed_id, "60.00")) == APPROVED
    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_an_expired_authorization_may_be_renewed_and_captured_again(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, 7 * DAY_S)

    renewed_id = name(renew(client, payment_id, "100.00"))

    assert result_of(capture(client, renewed_id, "100.00")) == APPROVED
    assert result_of(capture(client, payment_id, "100.00")) == (400, "700.300.400")


def test_a_reversed_authorization_may_be_renewed(client: Client) -> None:
    payment_id = authorise(client)
    reverse(client, payment_id)

    assert result_of(renew(client, payment_id, "100.00")) == APPROVED


def test_a_renewal_may_be_raised_and_reversed_as_any_authorization(client: Client) -> None:
    renewed_id = name(renew(client, authorise(client), "60.00"))
    raise_by(client, renewed_id, "10.00")

    answer = reverse(client, renewed_id)

    assert (result_of(answer), answer.json["amount"]) == (APPROVED, "70.00")


# ---- named by a parameter ----


@PRACTICES
def test_an_authorization_may_be_named_by_a_parameter(client: Client, practice: Mapping[str, str]) -> None:
    payment_id = authorise(client)

    answer = refer(client, payment_id, "15.00", **practice)

    assert (result_of(answer), answer.json["referencedId"]) == (APPROVED, payment_id)
    assert client.get(f"/v1/payments/{answer.json['id']}").json == answer.json


def test_an_increment_by_parameter_raises_as_one_by_path(client: Client) -> None:
    payment_id = authorise(client)
    refer(client, payment_id, "15.00", **INCREMENT)

    assert result_of(capture(client, payment_id, "115.01")) == TOO_MUCH
    assert result_of(capture(client, payment_id, "115.00")) == APPROVED


def test_the_card_may_be_sent_again_with_the_parameter(client: Client) -> None:
    assert result_of(refer(client, authorise(client), "15.00", **INCREMENT, **CARD)) == APPROVED


@PRACTICES
@pytest.mark.parametrize("unknown", [UNKNOWN_ID, "nobody"])
def test_a_parameter_that_names_no_payment_is_a_fault(
    client: Client, unknown: str, practice: Mapping[str, str]
) -> None:
    answer = refer(client, unknown, "15.00", **practice)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["referenceUuid"]


def test_a_parameter_that_names_another_merchants_payment_is_the_same_fault(client: Client, stranger: Client) -> None:
    theirs, none = (refer(stranger, each, "15.00", **INCREMENT) for each in (authorise(client), UNKNOWN_ID))

    assert result_of(theirs) == result_of(none) == FAULTY
    assert theirs.faults == none.faults


def test_a_parameter_that_names_a_payment_of_another_channel_is_refused(client: Client, lenient: Client) -> None:
    assert result_of(refer(lenient, authorise(client), "15.00", **INCREMENT)) == (400, "700.400.700")


@pytest.mark.parametrize("payment_type", ["DB", "CD", "PA.CP"])
def test_a_parameter_does_not_hang_a_new_payment_on_an_old_one(client: Client, payment_type: str) -> None:
    answer = refer(client, authorise(client), "15.00", paymentType=payment_type, **CARD)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["paymentType"]


# ---- what is asked for ----


def test_an_authorization_on_an_authorization_says_which_practice_it_follows(client: Client) -> None:
    payment_id = authorise(client)

    for answer in (follow(client, payment_id, "PA", "15.00"), refer(client, payment_id, "15.00")):
        assert result_of(answer) == FAULTY
        assert list(answer.faults) == [PRACTICE]


@PRACTICES
@pytest.mark.parametrize("payment_type", ["DB", "CD", "PA.CP"])
def test_only_an_authorization_is_raised_or_renewed(
    client: Client, payment_type: str, practice: Mapping[str, str]
) -> None:
    assert result_of(follow(client, begin(client, payment_type), "PA", "15.00", **practice)) == WRONG_REFERENCE


@PRACTICES
def test_a_capture_is_neither_raised_nor_renewed(client: Client, practice: Mapping[str, str]) -> None:
    captured_id = name(capture(client, authorise(client), "10.00"))

    assert result_of(follow(client, captured_id, "PA", "15.00", **practice)) == WRONG_REFERENCE


@PRACTICES
@pytest.mark.parametrize(("forced", "code"), [("800.100.151", "700.300.200"), ("000.200.000", "700.400.570")])
def test_an_authorization_that_did_not_succeed_is_neither_raised_nor_renewed(
    client: Client, forced: str, code: str, practice: Mapping[str, str]
) -> None:
    unfit = client.pay(None, paymentType="PA", **{FORCE: forced})

    assert result_of(follow(client, unfit.json["id"], "PA", "15.00", **practice)) == (400, code)


@PRACTICES
@pytest.mark.parametrize(
    ("amount", "currency", "code"),
    [("15.00", "USD", "700.100.500"), ("0.00", "JPY", "100.550.300"), ("10.50", "JPY", "100.550.303")],
)
def test_its_amount_is_in_the_currency_of_the_authorization_and_not_nothing(
    client: Client, amount: str, currency: str, code: str, practice: Mapping[str, str]
) -> None:
    payment_id = authorise(client, "100", currency="JPY")

    assert result_of(follow(client, payment_id, "PA", amount, currency=currency, **practice)) == (400, code)
