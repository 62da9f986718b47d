"""Payments have traits by which they are found, and some of them fit a query."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollgate.contract.searching import PaymentQuery, Reading, ResultState, Trait, Word, list_terms
from tollgate.payments.accounts import CardSummary
from tollgate.payments.payment import Payment, State
from tollgate.payments.risk import Hit, RiskFinding, RiskOutcome
from tollgate.values import ChannelId, MerchantId, Money, PaymentId

PAYMENT = Payment(
    id=PaymentId("8a" + "4" * 30),
    merchant_id=MerchantId("8a" + "1" * 30),
    channel_id=ChannelId("8a" + "2" * 30),
    payment_type="DB",
    state=State.DECLINED,
    money=Money(9200, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="shop",
    short_id="1234.5678.9012",
    ndc="8a" + "3" * 30,
    created_at=1000,
    deadline_at=2000,
    merchant_transaction_id="order-1",
    card=CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034"),
    echo={"customer.email": "Jane@Example.com"},
    result_code="800.100.151",
)
ALL = PaymentQuery(channel_ids=(PAYMENT.channel_id,))


def test_a_payment_has_a_term_for_everything_that_has_no_index_of_its_own() -> None:
    assert list_terms(PAYMENT) == [
        "s:1234.5678.9012",
        "a:9200",
        "e:jane@example.com",
        "l:0000",
        "c:800.100.151",
        "c:800.100",
    ]


def test_a_payment_has_a_term_for_each_rule_that_it_hit() -> None:
    hits = (Hit("8a" + "7" * 30, 2, RiskOutcome.REVIEW), Hit("8a" + "8" * 30, 1, RiskOutcome.REFUSE, is_shadow=True))
    payment = msgspec.structs.replace(PAYMENT, risk=RiskFinding(hits=hits))
    assert [text for text in list_terms(payment) if text.startswith("r:")] == ["r:8a" + "7" * 30, "r:8a" + "8" * 30]


@pytest.mark.parametrize(("shown", "term"), [("DE89****3000", "l:3000"), ("DE8*1", None)])
def test_an_account_at_a_bank_is_found_by_the_digits_that_are_shown(shown: str, term: str | None) -> None:
    payment = msgspec.structs.replace(PAYMENT, card=None, echo={"bankAccount.iban": shown})
    assert [text for text in list_terms(payment) if text.startswith("l:")] == ([term] if term else [])


@pytest.mark.parametrize(
    ("narrowed", "fits"),
    [
        ({}, True),
        ({"channel_ids": ()}, False),
        ({"begins_at": 1000, "ends_at": 1001}, True),
        ({"ends_at": 1000}, False),
        ({"begins_at": 1001}, False),
        ({"payment_type": "DB"}, True),
        ({"payment_type": "PA"}, False),
        ({"brand": "MASTER"}, False),
        ({"currency": "EUR"}, True),
        ({"currency": "USD"}, False),
        ({"amount_min": 9200, "amount_max": 9200}, True),
        ({"amount_min": 9201}, False),
        ({"amount_max": 9199}, False),
        ({"result": ResultState.DECLINED}, True),
        ({"result": "rejected_by_bank"}, True),
        ({"result": ResultState.APPROVED}, False),
        ({"words": (Word("a", (Reading(Trait.AMOUNT, "1"), Reading(Trait.EMAIL, "jane@example.com"))),)}, True),
        ({"words": (Word("a", (Reading(Trait.RESULT_CODE, "800.100"),)), Word("b", ()))}, False),
    ],
)
def test_a_payment_fits_a_query_in_every_member(narrowed: dict[str, Any], fits: bool) -> None:
    assert msgspec.structs.replace(ALL, **narrowed).fits(PAYMENT) is fits


def test_the_word_that_fewest_payments_have_is_looked_up() -> None:
    amount = Word("92", (Reading(Trait.AMOUNT, "9200"), Reading(Trait.REFERENCE, "92")))
    email = Word("j@x", (Reading(Trait.EMAIL, "j@x"), Reading(Trait.REFERENCE, "j@x")))
    assert msgspec.structs.replace(ALL, words=(amount, email)).choose_driver() is email
    assert ALL.choose_driver() is None
