"""Payments and refusals as JSON: order of keys, nesting, and one envelope for everything."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from tollgate.catalog.parameters.names import resolve
from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Envelope, answer_payment, answer_refusal, render_payment
from tollgate.payments.accounts import CardSummary
from tollgate.payments.payment import Payment, State
from tollgate.values import ChannelId, Fault, InvalidParameters, MerchantId, Money, PaymentId, Refusal, TooMany

ENVELOPE = Envelope("0" * 40 + "@2026-11-15 00:00:00 +0000")
NOW = 1_800_000_000_000_000
PAYMENT = Payment(
    id=PaymentId("8a01"),
    merchant_id=MerchantId("8a02"),
    channel_id=ChannelId("8a03"),
    payment_type="DB",
    state=State.APPROVED,
    money=Money(7900, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="Order 7",
    short_id="1",
    ndc="8a03_ff",
    created_at=NOW,
    deadline_at=NOW,
    merchant_transaction_id="order-0001",
    card=CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034"),
    echo={
        "customParameters[abc]": "1",
        "billing.city": "Graz",
        "merchantTransactionId": "order-0001",
        "card.holder": "not from here",
        "amount": "79",
    },
    result_code="000.100.110",
    details={"ExtendedDescription": "Fine"},
)


def test_keys_come_in_the_recorded_order_whatever_order_the_request_had() -> None:
    body = json.loads(answer_payment(PAYMENT, ENVELOPE).body)

    assert list(body) == [
        *("id", "paymentType", "paymentBrand", "amount", "currency", "descriptor", "merchantTransactionId", "result"),
        *("resultDetails", "card", "billing", "customParameters", "risk", "buildNumber", "timestamp", "ndc"),
    ]
    assert body["amount"] == "79.00"
    assert body["timestamp"] == "2027-01-15 08:00:00+0000"


def test_a_started_payment_reads_as_pending() -> None:
    body = render_payment(replace(PAYMENT, state=State.STARTED, result_code=""))

    assert body["result"]["code"] == "000.200.000"


@pytest.mark.parametrize(
    ("names", "tree"),
    [
        ({"a": "1"}, {"a": "1"}),
        (
            {"customer.browser.language": "de", "customer.ip": "1"},
            {"customer": {"browser": {"language": "de"}, "ip": "1"}},
        ),
        ({"cart.items[9].name": "b", "cart.items[2].name": "a"}, {"cart": {"items": [{"name": "a"}, {"name": "b"}]}}),
        ({"customParameters[123]": "x"}, {"customParameters": {"123": "x"}}),
        ({"customParameters[a.b]": "x"}, {"customParameters": {"a.b": "x"}}),
        ({"cart.items[0].recipient.city": "Graz"}, {"cart": {"items": [{"recipient": {"city": "Graz"}}]}}),
    ],
)
def test_dotted_names_nest(names: dict[str, str], tree: dict[str, object]) -> None:
    assert nest_fields(names.items()) == tree


def test_a_refusal_is_enveloped_with_its_detail_and_faults() -> None:
    plain = answer_refusal(Refusal(get_result("600.200.700"), "no test system"), ENVELOPE, "ff", NOW)
    named = answer_refusal(
        InvalidParameters(get_result("200.300.404"), [Fault("amount", "may not be empty")]), ENVELOPE, "ff", NOW
    )

    assert plain.status == 400
    assert json.loads(plain.body)["result"]["description"].endswith(" - no test system")
    assert json.loads(named.body)["result"]["parameterErrors"] == [
        {"name": "amount", "value": None, "message": "may not be empty"}
    ]
    assert set(json.loads(plain.body)) == {"result", "buildNumber", "timestamp", "ndc"}


@pytest.mark.parametrize(("subject_id", "answered"), [("8a01", "8a01"), (None, "ff")])
def test_a_throttled_answer_always_has_an_id(subject_id: str | None, answered: str) -> None:
    answer = answer_refusal(TooMany(get_result("800.120.100"), 5, subject_id), ENVELOPE, "ff", NOW)

    assert (answer.status, json.loads(answer.body)["id"]) == (429, answered)


# ---- what the world said, and where the shopper goes next ----


def test_details_with_a_dot_are_fields_of_the_answer_and_count_for_more_than_what_was_sent() -> None:
    details = {"ExtendedDescription": "Fine", "threeDSecure.eci": "05", "bankAccount.bic": "COBADEFFXXX"}
    echo = {"threeDSecure.eci": "07", "threeDSecure.version": "2.2.0", "bankAccount.holder": "Jane"}

    body = render_payment(replace(PAYMENT, details=details, echo=echo))

    assert body["resultDetails"] == {"ExtendedDescription": "Fine"}
    assert body["threeDSecure"] == {"eci": "05", "version": "2.2.0"}
    assert body["bankAccount"] == {"holder": "Jane", "bic": "COBADEFFXXX"}


def test_without_plain_details_there_are_no_result_details() -> None:
    body = render_payment(replace(PAYMENT, details={"threeDSecure.eci": "05"}))

    assert "resultDetails" not in body
    assert body["threeDSecure"] == {"eci": "05"}


def test_a_redirect_always_has_its_list_of_parameters() -> None:
    bare = render_payment(PAYMENT, {"redirect.url": "https://gate.example/x"})
    details = {
        "redirect.url": "https://bank.example/x",
        "redirect.parameters[0].name": "a",
        "redirect.parameters[0].value": "b",
    }
    full = render_payment(replace(PAYMENT, details=details))

    assert bare["redirect"] == {"url": "https://gate.example/x", "parameters": []}
    assert full["redirect"]["parameters"] == [{"name": "a", "value": "b"}]
    assert "redirect" not in render_payment(PAYMENT)


def test_a_handover_is_answered_and_leaves_the_payment_as_it_was() -> None:
    before = answer_payment(PAYMENT, ENVELOPE)

    received = json.loads(answer_payment(PAYMENT, ENVELOPE, {"redirect.url": "https://gate.example/secret"}).body)

    assert received["redirect"]["url"] == "https://gate.example/secret"
    assert answer_payment(PAYMENT, ENVELOPE) == before
    assert b"secret" not in before.body


def test_a_merchant_cannot_put_a_redirect_into_its_own_answer() -> None:
    """The gateway alone sends shoppers away: `redirect` is no parameter, so no answer echoes it."""
    assert resolve("redirect.url") is None
