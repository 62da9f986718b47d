"""The request as curl: a shell reads it as one command, and it has no secret."""

from __future__ import annotations

import shlex

from databases.samples import make_payment
from tollgate.contract.payment_text import group_echo, list_proof, render_curl
from tollgate.payments.payment import Payment


def read_command(payment: Payment) -> list[str]:
    text = render_curl(payment, "http://localhost:8080")
    assert text is not None
    return shlex.split(text.replace("\\\n", " "))


def test_a_payment_is_rebuilt_with_a_masked_card() -> None:
    words = read_command(make_payment())
    assert words[:2] == ["curl", "http://localhost:8080/v1/payments"]
    assert "Authorization: Bearer $TOKEN" in words
    assert "card.number=420000******0000" in words
    assert "amount=92.00" in words


def test_text_of_a_merchant_cannot_end_the_command() -> None:
    evil = "'; rm -rf / #\n$(id) `id` \"x"
    words = read_command(make_payment(echo={"customParameters[SHOPPER_x]": evil}))
    assert f"customParameters[SHOPPER_x]={evil}" in words


def test_a_follow_up_names_its_payment_in_the_path() -> None:
    words = read_command(make_payment(payment_type="RF", referenced_id="8a" + "1" * 30, card=None, echo={}))
    assert words[1].endswith("/v1/payments/8a" + "1" * 30)
    assert not any(word.startswith(("card.", "paymentBrand")) for word in words)


def test_what_no_merchant_asked_for_has_no_request() -> None:
    assert render_curl(make_payment(payment_type="CB", referenced_id="8a" + "1" * 30), "") is None


def test_parameters_are_grouped_and_none_is_shown_twice() -> None:
    echo = {"customer.email": "a", "billing.city": "b", "cart.items[0].name": "c", "customParameters[k]": "d"}
    groups = group_echo({**echo, "amount": "1.00", "card.holder": "x", "shopperResultUrl": "e"})
    assert [group.title for group in groups] == [
        "Customer",
        "Billing address",
        "Cart",
        "Custom parameters",
        "Other parameters",
    ]
    assert {name for group in groups for name in group.facts} == {*echo, "shopperResultUrl"}


def test_a_proof_is_shown_without_its_secret() -> None:
    details = {"threeDSecure.eci": "05", "threeDSecure.verificationId": "a proof", "ExtendedDescription": "Fine"}
    assert list_proof(details) == {"eci": "05", "verificationId": "***"}
