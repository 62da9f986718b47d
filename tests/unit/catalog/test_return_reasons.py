"""Reasons of banks and accounts for tests: every row means something to the rest of the catalogue."""

from __future__ import annotations

import pytest

from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.ibans import fits_bank, is_bic, is_iban
from tollgate.catalog.results import RESULTS
from tollgate.catalog.return_reasons import RETURN_REASONS, ReturnReason, get_notice
from tollgate.catalog.test_cards import TEST_ACCOUNTS, TestAccount


@pytest.mark.parametrize("row", RETURN_REASONS.values(), ids=RETURN_REASONS)
def test_every_reason_has_a_code_of_chargebacks(row: ReturnReason) -> None:
    assert len(row.code) == 4
    assert RESULTS[row.notice].group == "chargeback"


def test_a_reason_that_is_not_listed_is_a_chargeback_all_the_same() -> None:
    assert get_notice("AM04") == "000.100.203"
    assert get_notice("ZZ99") == "000.100.200"


@pytest.mark.parametrize("row", TEST_ACCOUNTS, ids=lambda row: row.country)
def test_accounts_for_tests_are_well_formed_and_fit_their_bank(row: TestAccount) -> None:
    assert row.country in COUNTRIES
    assert row.iban.startswith(row.country)
    assert is_iban(row.iban)
    assert is_bic(row.bic)
    assert fits_bank(row.iban, row.bic)


def test_there_is_an_account_for_each_country_of_the_interface() -> None:
    assert {row.country for row in TEST_ACCOUNTS} == {"AT", "DE", "ES"}
