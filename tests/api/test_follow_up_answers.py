"""The answer to a follow-up is the same at once, when it is read again, and in reports."""

from __future__ import annotations

import pytest

from api.chains import (
    APPROVED,
    FORCE,
    authorise,
    capture,
    debit,
    follow,
    happen,
    list_payments,
    name,
    raise_by,
    rebill,
    refund,
    result_of,
    reverse,
    stay_within_a_day,
)
from gateway import Answer, Client

ALWAYS = {"id", "referencedId", "paymentType", "amount", "currency", "descriptor", "result", "timestamp", "ndc"}

OUTCOMES = pytest.mark.parametrize(
    ("amount", "forced", "expected"),
    [
        ("10.00", None, APPROVED),
        ("10.00", "800.100.151", (400, "800.100.151")),
        ("10.00", "000.200.000", (200, "000.200.000")),
        ("100.01", None, (400, "700.400.100")),
    ],
    ids=["approved", "declined", "pending", "refused"],
)


def make_one_of_each(client: Client) -> list[Answer]:
    stay_within_a_day(client)
    payment_id, debit_id = authorise(client), debit(client)
    raised = raise_by(client, payment_id, "10.00")
    captured = capture(client, payment_id, "60.00")
    return [
        raised,
        captured,
        refund(client, captured.json["id"], "10.00"),
        reverse(client, payment_id),
        rebill(client, debit_id, "10.00"),
        reverse(client, debit_id),
        happen(client, captured.json["id"], "CB"),
    ]


# ---- at once ----


@OUTCOMES
def test_reference_amount_currency_and_descriptor_are_always_answered(
    client: Client, amount: str, forced: str | None, expected: tuple[int, str]
) -> None:
    payment_id = authorise(client)

    answer = capture(client, payment_id, amount, **{FORCE: forced})

    assert result_of(answer) == expected
    assert set(answer.json) >= ALWAYS
    assert (answer.json["referencedId"], answer.json["paymentType"]) == (payment_id, "CP")
    assert (answer.json["amount"], answer.json["currency"]) == (amount, "EUR")
    assert answer.json["descriptor"]


def test_every_kind_of_follow_up_answers_them(client: Client) -> None:
    answers = make_one_of_each(client)

    assert [answer.json["paymentType"] for answer in answers] == ["PA", "CP", "RF", "RV", "RB", "RV", "CB"]
    assert [answer.status for answer in answers] == [200] * len(answers)
    assert all(set(answer.json) >= ALWAYS for answer in answers)


def test_a_reversal_that_names_no_amount_answers_the_one_it_reversed(client: Client) -> None:
    payment_id = authorise(client)
    capture(client, payment_id, "30.00")

    answer = reverse(client, payment_id)

    assert (answer.json["amount"], answer.json["currency"]) == ("70.00", "EUR")


def test_the_descriptor_that_was_sent_is_answered(client: Client) -> None:
    assert capture(client, authorise(client), "10.00", descriptor="Part 1").json["descriptor"] == "Part 1"


def test_each_follow_up_has_an_id_of_its_own_of_the_same_form(client: Client) -> None:
    payment_id = authorise(client)

    ids = [payment_id, *(name(capture(client, payment_id, "1.00")) for _ in range(3))]

    assert len(set(ids)) == len(ids)
    assert all(len(each) == 32 and each.startswith("8a") and each == each.lower() for each in ids)


def test_a_follow_up_repeats_what_was_sent_with_it_and_not_what_was_sent_before(client: Client) -> None:
    payment_id = authorise(
        client,
        merchantTransactionId="first-order-1",
        merchantMemo="first memo",
        **{"customParameters[branch]": "1", "customer.givenName": "Jane", "customer.surname": "Jones"},
    )

    body = capture(
        client,
        payment_id,
        "10.00",
        merchantTransactionId="first-order-1-part-1",
        merchantInvoiceId="invoice-0001",
        **{"customParameters[parcel]": "7"},
    ).json

    assert (body["merchantTransactionId"], body["merchantInvoiceId"]) == ("first-order-1-part-1", "invoice-0001")
    assert body["customParameters"] == {"parcel": "7"}
    assert "merchantMemo" not in body
    assert "customer" not in body


def test_a_follow_up_answers_the_brand_of_its_payment(client: Client) -> None:
    assert capture(client, authorise(client), "10.00").json["paymentBrand"] == "VISA"


def test_no_card_number_is_echoed(client: Client) -> None:
    answers = make_one_of_each(client)

    assert not [answer for answer in answers if b"4200000000000000" in answer.body]


# ---- the lifecycle ----


def test_the_lifecycle_of_a_payment_is_answered_and_inherited_along_the_chain(client: Client) -> None:
    first = client.pay(paymentType="PA", amount="100.00", lifecycleId="life-1")
    captured = capture(client, first.json["id"], "60.00")
    refunded = refund(client, captured.json["id"], "60.00")
    raised = raise_by(client, first.json["id"], "10.00")
    reversed_rest = reverse(client, first.json["id"])
    disputed = happen(client, captured.json["id"], "CB")

    for answer in (first, captured, refunded, raised, reversed_rest, disputed):
        assert (answer.status, answer.json["lifecycleId"]) == (200, "life-1")


def test_a_declined_and_a_refused_follow_up_belong_to_the_lifecycle_too(client: Client) -> None:
    payment_id = authorise(client, lifecycleId="life-2")

    for answer in (
        capture(client, payment_id, "10.00", **{FORCE: "800.100.151"}),
        capture(client, payment_id, "100.01"),
    ):
        assert (answer.status, answer.json["lifecycleId"]) == (400, "life-2")


def test_a_payment_without_a_lifecycle_has_follow_ups_without_one(client: Client) -> None:
    assert "lifecycleId" not in capture(client, authorise(client), "10.00").json


@pytest.mark.parametrize("is_lenient", [False, True])
def test_a_lifecycle_that_contradicts_the_chain_is_refused_by_name(
    client: Client, lenient: Client, is_lenient: bool
) -> None:
    caller = lenient if is_lenient else client
    payment_id = authorise(caller, lifecycleId="life-4")
    captured = capture(caller, payment_id, "10.00", lifecycleId="life-4")

    for answer in (
        capture(caller, payment_id, "10.00", lifecycleId="life-5"),
        refund(caller, captured.json["id"], "10.00", lifecycleId="life-5"),
        reverse(caller, payment_id, lifecycleId="life-5"),
    ):
        assert (answer.status, answer.code) == (400, "200.300.404")
        assert answer.faults == {"lifecycleId": "must be that of the payment it follows"}
    assert captured.status == 200


@pytest.mark.both_databases
@pytest.mark.parametrize("path", ["/v1/query", "/v3/query"])
def test_reports_find_the_whole_lifecycle(client: Client, path: str) -> None:
    life = f"life-{path[1:3]}-{client.base_url[-5:]}"
    payment_id = authorise(client, lifecycleId=life)
    captured = capture(client, payment_id, "10.00")
    refund(client, captured.json["id"], "4.00")

    found = client.get(path, {"lifecycleId": life}).json["payments"]

    assert [row["paymentType"] for row in found] == ["PA", "CP", "RF"]
    assert {row["lifecycleId"] for row in found} == {life}
    assert client.get(path, {"lifecycleId": life, "merchantTransactionId": "another-order"}).code == "700.400.580"


def test_a_lifecycle_may_begin_with_a_follow_up(client: Client) -> None:
    captured = capture(client, authorise(client), "10.00", lifecycleId="life-3")

    assert captured.json["lifecycleId"] == "life-3"
    assert refund(client, captured.json["id"], "10.00").json["lifecycleId"] == "life-3"


# ---- read again ----


@pytest.mark.both_databases
@OUTCOMES
def test_a_follow_up_is_read_again_as_it_was_answered(
    client: Client, amount: str, forced: str | None, expected: tuple[int, str]
) -> None:
    answer = capture(client, authorise(client), amount, **{FORCE: forced})

    for path in ("/v1/payments", "/v1/query"):
        again = client.get(f"{path}/{answer.json['id']}")
        assert (result_of(again), again.json) == (expected, answer.json)


@pytest.mark.both_databases
def test_every_kind_of_follow_up_can_be_read_again(client: Client) -> None:
    for answer in make_one_of_each(client):
        for path in ("/v1/payments", "/v1/query"):
            assert client.get(f"{path}/{answer.json['id']}").json == answer.json


@pytest.mark.both_databases
def test_a_payment_reads_the_same_whatever_followed_it(client: Client) -> None:
    first = client.pay(paymentType="PA", amount="100.00")
    capture(client, first.json["id"], "60.00")
    reverse(client, first.json["id"])

    assert client.get(f"/v1/payments/{first.json['id']}").json == first.json


def test_another_merchant_cannot_read_a_follow_up(client: Client, stranger: Client) -> None:
    captured_id = name(capture(client, authorise(client), "10.00"))

    assert result_of(stranger.get(f"/v1/payments/{captured_id}")) == (404, "700.400.580")
    assert result_of(stranger.get(f"/v1/query/{captured_id}")) == (400, "700.400.580")


@pytest.mark.both_databases
def test_a_report_by_reference_lists_follow_ups_beside_payments_oldest_first(client: Client) -> None:
    reference = "order-with-parts"
    payment_id = authorise(client, merchantTransactionId=reference)
    parts = [
        capture(client, payment_id, "60.00", merchantTransactionId=reference),
        capture(client, payment_id, "60.00", merchantTransactionId=reference),
        follow(client, payment_id, "RV", merchantTransactionId=reference),
    ]

    rows = list_payments(client, reference)

    assert [row["id"] for row in rows] == [payment_id, *(answer.json["id"] for answer in parts)]
    assert [row["result"]["code"] for row in rows] == ["000.100.110", "000.100.110", "700.400.100", "000.100.110"]
