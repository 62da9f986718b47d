"""The summary that is shown of an account must be that account's."""

from __future__ import annotations

import msgspec
import pytest

from tollgate.payments.accounts import CardSummary, VirtualAccount, make_card_summary
from tollgate.vault.signing import matches_summary
from unit.app_fixture import CARD

CARD_SUMMARY = make_card_summary("4200000000000000", CARD)


def test_a_card_has_its_own_summary() -> None:
    assert matches_summary(CARD, CARD_SUMMARY, is_renewed=False)
    assert matches_summary(VirtualAccount(account_id="jane"), None, is_renewed=False)


@pytest.mark.parametrize("change", ["bin", "last_digits", "expiry_month", "expiry_year", "holder"])
def test_another_summary_is_not_its_own(change: str) -> None:
    other: CardSummary = msgspec.structs.replace(CARD_SUMMARY, **{change: "99"})

    assert not matches_summary(CARD, other, is_renewed=False)
    # The network reported a new number by its last digits; the first ones are as they were.
    assert matches_summary(CARD, other, is_renewed=True) is (change != "bin")


@pytest.mark.parametrize("is_renewed", [True, False])
def test_a_summary_without_a_card_is_wrong_and_so_is_a_card_without_a_summary(is_renewed: bool) -> None:
    assert not matches_summary(CARD, None, is_renewed=is_renewed)
    assert not matches_summary(VirtualAccount(account_id="jane"), CARD_SUMMARY, is_renewed=is_renewed)
