"""A card summary shows only some digits, and other amounts travel beside the money."""

from __future__ import annotations

from tollgate.payments.accounts import CardAccount, CardSummary, make_card_summary
from tollgate.payments.order import NO_DETAILS, Address, CartItem, Customer, Details, list_amounts
from tollgate.values import Money, Secret

CARD = CardAccount(number=Secret("4200000000000042"), expiry_month="05", expiry_year="2034", cvv=Secret("731"))


def test_a_card_summary_shows_the_first_six_and_the_last_four_digits() -> None:
    card_summary = make_card_summary("4200000000000042", CARD)

    assert (card_summary.bin, card_summary.last_digits) == ("420000", "0042")
    assert not hasattr(card_summary, "number")
    assert not hasattr(CardSummary, "cvv")


def test_a_card_in_clear_prints_without_its_secrets() -> None:
    assert "4200000000000042" not in repr(CARD)
    assert "731" not in repr(CARD)


def test_amounts_are_found_however_deep() -> None:
    euros = [Money(amount, "EUR") for amount in range(5)]
    details = Details(
        tax_amount=euros[0],
        forex=euros[1],
        customer=Customer(given_name="Jane"),
        billing=Address(city="Graz"),
        cart=(CartItem(name="Lamp", price=euros[2]), CartItem(price=euros[3], total_tax_amount=euros[4])),
    )

    assert sorted(money.hundredths for money in list_amounts(details)) == [0, 1, 2, 3, 4]


def test_a_plain_payment_has_none() -> None:
    assert list(list_amounts(NO_DETAILS)) == []
