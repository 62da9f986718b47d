"""Marketplace payments: shares that add up or are refused, and that follow every capture, refund and dispute."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from api import scheduling
from api.chains import (
    APPROVED,
    FORCE,
    authorise,
    capture,
    debit,
    happen,
    name,
    raise_by,
    rebill,
    refund,
    result_of,
    reverse,
    stay_within_a_day,
)
from api.marketplaces import THIRDS, name_faults, sell, shares_of, spell
from api.registration_requests import pay_with, register
from gateway import Client

pytestmark = pytest.mark.both_databases

HALVES = {"ann": "60.00", "bob": "40.00"}
LAST = "marketPlace.sellers[2].amount"


# ---- what is refused ----


@pytest.mark.parametrize("amount", ["33.32", "33.34", "0.00"])
def test_shares_that_do_not_add_up_are_refused_by_name(client: Client, amount: str) -> None:
    answer = client.pay(None, amount="100.00", **{**spell(THIRDS), LAST: amount})

    assert name_faults(answer) == [LAST]


def test_a_share_without_an_amount_is_refused_by_name(client: Client) -> None:
    answer = client.pay(None, amount="100.00", **{**spell(THIRDS), LAST: None})

    assert name_faults(answer) == [LAST]


def test_a_seller_is_named_once(client: Client) -> None:
    answer = client.pay(None, amount="100.00", **{**spell(THIRDS), "marketPlace.sellers[2].id": "ann"})

    assert name_faults(answer) == ["marketPlace.sellers[2].id"]


def test_a_cart_names_only_sellers_that_have_a_share(client: Client) -> None:
    cart = {"cart.items[0].name": "Vase", "cart.items[0].sellerId": "dan"}

    answer = client.pay(None, amount="100.00", **spell(THIRDS), **cart)

    assert name_faults(answer) == ["cart.items[0].sellerId"]
    known = {**cart, "cart.items[0].sellerId": "cid"}
    assert result_of(client.pay(None, amount="100.00", **spell(THIRDS), **known)) == APPROVED


def test_lenient_channels_are_no_more_lenient_about_sums(lenient: Client) -> None:
    answer = lenient.pay(None, amount="100.00", **{**spell(THIRDS), LAST: "33.32"})

    assert answer.status == 400
    assert answer.json["result"]["parameterErrors"][0]["name"] == LAST


def test_a_yen_is_not_halved(client: Client) -> None:
    answer = client.pay(None, amount="100.00", currency="JPY", **spell({"ann": "50.50", "bob": "49.50"}))

    assert (answer.status, answer.code) == (400, "100.550.303")


def test_a_checkout_is_refused_with_shares_of_another_amount_and_when_its_amount_changes(client: Client) -> None:
    prepared = {"amount": "100.00", "currency": "EUR", "paymentType": "DB", **spell(THIRDS)}
    wrong = client.post("/v1/checkouts", {**prepared, "amount": "100.01"})
    checkout_id = client.post("/v1/checkouts", prepared).json["id"]

    changed = client.post(f"/v1/checkouts/{checkout_id}", {"amount": "99.00"})

    assert name_faults(wrong) == name_faults(changed) == [LAST]
    fitting = {"amount": "99.99", LAST: "33.32"}
    assert client.post(f"/v1/checkouts/{checkout_id}", fitting).status == 200


def test_a_payment_link_is_refused_with_shares_of_another_amount(client: Client) -> None:
    fields = {"amount": "100.01", "currency": "EUR", "paymentType": "DB", **spell(THIRDS)}

    assert name_faults(client.post("/paybylink/v1", fields)) == [LAST]


def test_a_payment_with_a_registration_is_split_as_any_other(client: Client) -> None:
    registration_id = register(client)

    assert shares_of(pay_with(client, registration_id, {"amount": "100.00", **spell(HALVES)})) == HALVES
    assert name_faults(pay_with(client, registration_id, {"amount": "99.99", **spell(HALVES)})) == [
        "marketPlace.sellers[1].amount"
    ]


def test_a_schedule_keeps_shares_that_fit_its_amount(client: Client) -> None:
    registration_id = register(client)
    fields = {**scheduling.FAR, "amount": "100.00", **spell(HALVES)}
    schedule_id = scheduling.plan(client, registration_id, fields)

    wrong = scheduling.schedule(client, registration_id, {**fields, "amount": "99.99"})
    moved = scheduling.reschedule(client, schedule_id, {"amount": "90.00"})

    assert name_faults(wrong) == ["marketPlace.sellers[1].amount"]
    assert (moved.status, moved.code) == (400, "100.550.701")
    fitting = scheduling.reschedule(client, schedule_id, {"amount": "90.00", **spell({"ann": "50.00", "bob": "40.00"})})
    assert fitting.status == 200, fitting.body


# ---- captures ----


def test_three_captures_of_a_third_give_each_seller_exactly_its_share(client: Client) -> None:
    held = sell(client, "PA", THIRDS)

    parts = [shares_of(capture(client, held, amount)) for amount in ("33.33", "33.33", "33.34")]

    sums = {seller: sum(Decimal(part.get(seller, "0")) for part in parts) for seller in THIRDS}
    assert sums == {seller: Decimal(amount) for seller, amount in THIRDS.items()}


def test_a_merchant_captures_for_one_seller_and_later_for_the_rest(client: Client) -> None:
    held = sell(client, "PA", HALVES)

    one = capture(client, held, "40.00", **spell({"bob": "40.00"}))
    rest = capture(client, held, "60.00")

    assert shares_of(one) == {"bob": "40.00"}
    assert shares_of(rest) == {"ann": "60.00"}


def test_a_capture_for_a_seller_beyond_its_share_is_refused(client: Client) -> None:
    held = sell(client, "PA", HALVES)

    assert result_of(capture(client, held, "40.01", **spell({"bob": "40.01"}))) == (400, "700.400.100")
    assert shares_of(capture(client, held, "100.00")) == HALVES


def test_a_raised_authorization_is_split_as_it_was(client: Client) -> None:
    held = sell(client, "PA", HALVES)

    assert shares_of(raise_by(client, held, "10.00")) == {"ann": "6.00", "bob": "4.00"}
    assert shares_of(capture(client, held, "110.00")) == {"ann": "66.00", "bob": "44.00"}


def test_a_capture_that_was_declined_takes_no_share(client: Client) -> None:
    held = sell(client, "PA", HALVES)
    declined = capture(client, held, "60.00", **{FORCE: "800.100.152", **spell({"ann": "60.00"})})
    assert result_of(declined) == (400, "800.100.152")

    assert shares_of(capture(client, held, "60.00", **spell({"ann": "60.00"}))) == {"ann": "60.00"}


# ---- refunds, reversals, rebills ----


def test_partial_refunds_follow_the_shares_and_the_last_leaves_nothing(client: Client) -> None:
    taken = sell(client, "DB", THIRDS)

    parts = [shares_of(refund(client, taken, amount)) for amount in ("0.01", "50.00", "49.99")]

    assert parts[0] == {"ann": "0.01"}
    sums = {seller: sum(Decimal(part.get(seller, "0")) for part in parts) for seller in THIRDS}
    assert sums == {seller: Decimal(amount) for seller, amount in THIRDS.items()}


def test_a_refund_may_name_who_gives_it(client: Client) -> None:
    taken = sell(client, "DB", HALVES)

    assert shares_of(refund(client, taken, "40.00", **spell({"bob": "40.00"}))) == {"bob": "40.00"}
    assert result_of(refund(client, taken, "0.01", **spell({"bob": "0.01"}))) == (400, "700.400.200")
    assert shares_of(refund(client, taken, "60.00")) == {"ann": "60.00"}


def test_a_refund_names_sellers_of_its_payment(client: Client) -> None:
    split, whole = sell(client, "DB", HALVES), debit(client)

    for payment_id in (split, whole):
        assert name_faults(refund(client, payment_id, "10.00", **spell({"dan": "10.00"}))) == [
            "marketPlace.sellers[0].id"
        ]


def test_the_shares_of_a_refund_add_up_to_it(client: Client) -> None:
    taken = sell(client, "DB", HALVES)

    answer = refund(client, taken, "10.00", **spell({"ann": "5.00", "bob": "5.01"}))

    assert name_faults(answer) == ["marketPlace.sellers[1].amount"]


def test_a_reversal_takes_every_share_back_and_its_own_split_must_be_that(client: Client) -> None:
    stay_within_a_day(client)
    taken = sell(client, "DB", HALVES)

    assert result_of(reverse(client, taken, **spell({"ann": "60.00", "bob": "39.99"}))) == (400, "100.550.701")
    assert shares_of(reverse(client, taken)) == HALVES


def test_a_rebill_is_split_as_its_payment(client: Client) -> None:
    taken = sell(client, "DB", HALVES)

    assert shares_of(rebill(client, taken, "50.00")) == {"ann": "30.00", "bob": "20.00"}


def test_a_voided_authorization_was_nobodys(client: Client) -> None:
    assert shares_of(reverse(client, sell(client, "PA", HALVES))) == {}


def test_a_plain_payment_has_no_sellers(client: Client) -> None:
    held = authorise(client)

    assert shares_of(capture(client, held, "10.00")) == {}


# ---- disputes ----


def test_a_chargeback_takes_what_each_seller_still_has_and_its_reversal_gives_it_back(client: Client) -> None:
    taken = sell(client, "DB", HALVES)
    assert shares_of(refund(client, taken, "40.00", **spell({"bob": "40.00"}))) == {"bob": "40.00"}

    charged_back = happen(client, taken, "CB", "60.00")
    reversed_again = happen(client, charged_back.json["id"], "CR")

    shares = [
        client.get(f"/v1/payments/{answer.json['id']}").json["marketPlace"]["sellers"]
        for answer in (charged_back, reversed_again)
    ]
    assert shares == [[{"id": "ann", "amount": "60.00"}]] * 2
    assert shares_of(refund(client, taken, "60.00")) == {"ann": "60.00"}


# ---- reading back ----


def test_reports_show_the_shares_of_a_whole_chain(client: Client) -> None:
    held = sell(client, "PA", HALVES)
    name(capture(client, held, "50.00"))

    answer = client.get(f"/v3/query/{held}", {"includeLinkedTransactions": "true"})

    assert [payment["marketPlace"]["sellers"] for payment in answer.json["records"]] == [
        [{"id": "ann", "amount": "60.00"}, {"id": "bob", "amount": "40.00"}],
        [{"id": "ann", "amount": "30.00"}, {"id": "bob", "amount": "20.00"}],
    ]


def test_refunds_at_once_never_take_one_share_twice(client: Client) -> None:
    taken = sell(client, "DB", THIRDS)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: refund(client, taken, "9.99"), range(10)))
    last = refund(client, taken, "0.10")

    sums = dict.fromkeys(THIRDS, Decimal())
    for answer in (*answers, last):
        for seller, amount in shares_of(answer).items():
            sums[seller] += Decimal(amount)
    assert sums == {seller: Decimal(amount) for seller, amount in THIRDS.items()}


def test_a_repeated_request_has_one_split(client: Client) -> None:
    headers = {"Idempotency-Key": "marketplace-once"}

    first, again = (client.pay(headers, amount="100.00", **spell(HALVES)) for _ in range(2))

    assert first.body == again.body
    assert shares_of(first) == HALVES
