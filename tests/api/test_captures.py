"""Captures: parts of an authorisation, up to its sum, up to their number, until it expires or is closed."""

from __future__ import annotations

from pathlib import Path

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
    follow,
    name,
    raise_by,
    refund,
    result_of,
    reverse,
)
from gateway import Client, GatewayProcess

pytestmark = pytest.mark.both_databases

TOO_MUCH = (400, "700.400.100")
EXPIRED = (400, "700.300.400")


# ---- sums ----


def test_a_part_may_be_captured(client: Client) -> None:
    answer = capture(client, authorise(client), "30.00")

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["amount"], answer.json["currency"]) == ("CP", "30.00", "EUR")


def test_several_captures_may_take_the_whole_and_not_a_hundredth_more(client: Client) -> None:
    payment_id = authorise(client)

    assert [result_of(capture(client, payment_id, part)) for part in ("30.00", "69.99", "0.01")] == [APPROVED] * 3

    assert result_of(capture(client, payment_id, "0.01")) == TOO_MUCH


def test_more_than_was_authorized_cannot_be_captured(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(capture(client, payment_id, "100.01")) == TOO_MUCH

    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_a_capture_that_is_too_large_takes_nothing(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "60.00")

    assert result_of(capture(client, payment_id, "40.01")) == TOO_MUCH

    assert result_of(capture(client, payment_id, "40.00")) == APPROVED


# ---- their number ----


def test_the_authorization_may_say_how_many_captures_there_are(client: Client) -> None:
    payment_id = authorise(client, numberOfCaptures="2")
    assert [result_of(capture(client, payment_id, "10.00")) for _ in range(2)] == [APPROVED] * 2

    assert result_of(capture(client, payment_id, "10.00")) == TOO_MUCH


def test_a_capture_that_was_declined_is_not_counted(client: Client) -> None:
    payment_id = authorise(client, numberOfCaptures="1")
    capture(client, payment_id, "10.00", **{FORCE: "800.100.151"})

    assert result_of(capture(client, payment_id, "10.00")) == APPROVED


@pytest.mark.parametrize("number", ["0", "99", "two"])
def test_a_number_of_captures_that_cannot_be_is_named(client: Client, number: str) -> None:
    answer = client.pay(paymentType="PA", numberOfCaptures=number)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["numberOfCaptures"]


# ---- the last one ----


def test_the_final_capture_closes_the_authorization(client: Client) -> None:
    payment_id = authorise(client)

    assert result_of(capture(client, payment_id, "40.00", sequence="FINAL")) == APPROVED

    assert result_of(capture(client, payment_id, "1.00")) == TOO_MUCH


def test_the_final_capture_releases_the_rest_so_nothing_is_left_to_reverse(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "40.00", sequence="FINAL")

    assert result_of(reverse(client, payment_id)) == (400, "700.400.300")


def test_a_final_capture_that_was_declined_closes_nothing(client: Client) -> None:
    payment_id = authorise(client)

    declined = capture(client, payment_id, "40.00", sequence="FINAL", **{FORCE: "800.100.151"})

    assert result_of(declined) == (400, "800.100.151")
    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_what_the_final_capture_took_can_be_refunded(client: Client) -> None:
    captured_id = name(capture(client, authorise(client), "40.00", sequence="FINAL"))

    assert result_of(refund(client, captured_id, "40.01")) == (400, "700.400.200")
    assert result_of(refund(client, captured_id, "40.00")) == APPROVED


# ---- time ----


def test_an_authorization_can_be_captured_for_seven_days(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, 7 * DAY_S - 60)
    assert result_of(capture(client, payment_id, "10.00")) == APPROVED

    advance(client, 60)

    assert result_of(capture(client, payment_id, "10.00")) == EXPIRED


def test_an_expired_authorization_can_be_neither_raised_nor_reversed(client: Client) -> None:
    payment_id = authorise(client)
    advance(client, 7 * DAY_S)

    assert result_of(raise_by(client, payment_id, "10.00")) == EXPIRED
    assert result_of(reverse(client, payment_id)) == (400, "700.300.700")


def test_how_long_an_authorization_lives_is_a_setting(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, environment={"TOLLGATE_AUTHORIZATION_DAYS": "1.5"}) as gateway:
        client = gateway.client()
        payment_id = authorise(client)
        advance(client, int(1.5 * DAY_S) - 60)
        assert result_of(capture(client, payment_id, "10.00")) == APPROVED

        advance(client, 60)

        assert result_of(capture(client, payment_id, "10.00")) == EXPIRED


# ---- amounts and currencies ----


@pytest.mark.parametrize(("sent", "shown"), [("7", "7.00"), ("7.25", "7.25")])
def test_the_amount_captured_is_shown_with_two_decimals(client: Client, sent: str, shown: str) -> None:
    answer = capture(client, authorise(client), sent)

    assert (answer.status, answer.json["amount"]) == (200, shown)


def test_a_capture_in_another_currency_is_refused(client: Client) -> None:
    assert result_of(capture(client, authorise(client), "10.00", currency="USD")) == (400, "700.100.500")


def test_nothing_cannot_be_captured(client: Client) -> None:
    assert result_of(capture(client, authorise(client), "0.00")) == (400, "100.550.300")


def test_half_a_yen_cannot_be_captured(client: Client) -> None:
    payment_id = authorise(client, "100", currency="JPY")

    assert result_of(capture(client, payment_id, "10.50", currency="JPY")) == (400, "100.550.303")
    assert result_of(capture(client, payment_id, "10", currency="JPY")) == APPROVED


@pytest.mark.parametrize("absent", ["amount", "currency"])
def test_a_capture_without_amount_or_currency_is_a_fault_that_names_it(client: Client, absent: str) -> None:
    given = {"amount": "10.00", "currency": "EUR", absent: None}

    answer = follow(client, authorise(client), "CP", **given)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [absent]


# ---- what may be captured ----


@pytest.mark.parametrize("payment_type", ["DB", "CD", "PA.CP"])
def test_only_an_authorization_can_be_captured(client: Client, payment_type: str) -> None:
    assert result_of(capture(client, begin(client, payment_type), "10.00")) == (400, "700.400.510")


def test_a_capture_cannot_be_captured(client: Client) -> None:
    captured_id = name(capture(client, authorise(client), "10.00"))

    assert result_of(capture(client, captured_id, "10.00")) == (400, "700.400.510")


def test_a_declined_authorization_cannot_be_captured(client: Client) -> None:
    declined = client.pay(None, paymentType="PA", **{FORCE: "800.100.151"})

    assert result_of(capture(client, declined.json["id"], "10.00")) == (400, "700.400.510")


def test_a_pending_authorization_cannot_be_captured_yet(client: Client) -> None:
    pending = client.pay(None, paymentType="PA", **{FORCE: "000.200.000"})

    assert result_of(capture(client, pending.json["id"], "10.00")) == (400, "700.400.570")


# ---- declines ----


def test_a_forced_code_is_the_answer_of_a_capture(client: Client) -> None:
    answer = capture(client, authorise(client), "100.00", **{FORCE: "800.100.155"})

    assert result_of(answer) == (400, "800.100.155")


def test_a_declined_capture_gives_its_reservation_back(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "100.00", **{FORCE: "800.100.151"})

    assert result_of(capture(client, payment_id, "100.00")) == APPROVED


def test_a_forced_code_that_does_not_exist_is_a_fault_and_takes_nothing(client: Client) -> None:
    payment_id = authorise(client)

    answer = capture(client, payment_id, "100.00", **{FORCE: "999.123.456"})

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [FORCE]
    assert result_of(capture(client, payment_id, "100.00")) == APPROVED
