"""A card summary shows only some digits, and a card prints without its secrets."""

from __future__ import annotations

from tollgate.payments.accounts import CardAccount, CardSummary, make_card_summary
from tollgate.values import Secret

CARD = CardAccount(number=Secret("4200000000000042"), expiry_month="05", expiry_year="2034", cvv=Secret("731"))


def test_a_card_summary_shows_the_first_six_and_the_last_four_digits() -> None:
    card_summary = make_card_summary("4200000000000042", CARD)

    assert (card_summary.bin, card_summary.last_digits) == ("420000", "0042")
    assert not hasattr(card_summary, "number")
    assert not hasattr(CardSummary, "cvv")


def test_a_card_in_clear_prints_without_its_secrets() -> None:
    assert "4200000000000042" not in repr(CARD)
    assert "731" not in repr(CARD)
