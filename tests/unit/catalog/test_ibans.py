"""Accounts and banks: what is well formed, which bank an account names, and what contradicts it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from schwifty import IBAN

from tollgate.catalog.ibans import build_iban, find_bic, fits_bank, is_bic, is_iban, is_in_sepa

GERMAN = "DE89370400440532013000"


@pytest.mark.parametrize(
    "text",
    [
        "AT611904300234573201",
        GERMAN,
        "ES9121000418450200051332",
        "NL91ABNA0417164300",
        "NO9386011117947",
        "FR1420041010050500013M02606",
        "gb29nwbk60161331926819",
    ],
)
def test_published_ibans_are_ibans(text: str) -> None:
    assert is_iban(text)


@pytest.mark.parametrize(
    "text",
    [
        "AT611904300234573202",
        "DE8937040044053201300",
        "NO93860111179470",
        "DE89 3704 0044 0532 0130 00",
        "XX82WEST12345698765432",
        "DE8937040044053201300A",
        "",
    ],
)
def test_a_wrong_digit_length_structure_or_country_is_no_iban(text: str) -> None:
    assert not is_iban(text)


@pytest.mark.parametrize("text", ["COBADEFF", "COBADEFFXXX", "caixesbb", "RLNWATWW"])
def test_bics_of_banks_are_bics(text: str) -> None:
    assert is_bic(text)


@pytest.mark.parametrize("text", ["COBADEF", "COBAXXFF", "COBADEFFXX", "COBA DEFF", "12345678", ""])
def test_a_wrong_length_or_country_is_no_bic(text: str) -> None:
    assert not is_bic(text)


def test_a_bank_on_its_countrys_list_is_found() -> None:
    assert find_bic(GERMAN) == "COBADEFFXXX"
    assert find_bic("AT611904300234573201") is None


def test_an_iban_is_built_where_the_country_writes_accounts_so() -> None:
    assert build_iban("DE", "37040044", "532013000") == GERMAN
    assert build_iban("DE", "37040044", "not a number") is None
    assert build_iban("XX", "37040044", "532013000") is None


@pytest.mark.parametrize(
    "iban",
    [
        "ES9121000418450200051332",
        "FR7630006000011234567890189",
        "IT60X0542811101000000123456",
        "PT50000201231234567890154",
        "GB29NWBK60161331926819",
        "NL91ABNA0417164300",
        "AT611904300234573201",
        "CH9300762011623852957",
    ],
)
def test_an_iban_is_built_from_all_its_parts(iban: str) -> None:
    parts = IBAN(iban).bban

    assert build_iban(iban[:2], parts.bank_code + parts.branch_code, parts.account_code) == iban


@pytest.mark.parametrize(
    ("country", "bank_code", "number"),
    [
        ("ES", "2100", "0200051332"),
        ("FR", "30006", "12345678901"),
        ("IT", "05428", "000000123456"),
        ("PT", "0002", "12345678901"),
        ("GB", "NWBK", "31926819"),
        ("GR", "011", "0000000012300695"),
        ("IS", "0159", "260076"),
    ],
)
def test_no_branch_or_owner_is_made_up(country: str, bank_code: str, number: str) -> None:
    assert build_iban(country, bank_code, number) is None


@pytest.mark.parametrize(
    ("country", "bank_code", "number"),
    [("SE", "500", "58398257466"), ("SE", "500", "0000058398257466"), ("BE", "539", "754703")],
)
def test_a_number_that_may_hold_its_check_digit_gets_no_second_one(country: str, bank_code: str, number: str) -> None:
    assert build_iban(country, bank_code, number) is None


@pytest.mark.parametrize(
    ("iban", "bic", "bank_code", "fits"),
    [
        (GERMAN, None, None, True),
        (GERMAN, "COBADEFF", None, True),
        (GERMAN, "cobadeff370", "37040044", True),
        (GERMAN, "GIBAATWW", None, False),
        (GERMAN, "DEUTDEFF500", None, False),
        (GERMAN, "ABCDDEFF", None, True),
        (GERMAN, None, "37040045", False),
        ("AT611904300234573201", "GIBAATWWXXX", None, True),
        ("GB29NWBK60161331926819", None, "601613", True),
        ("CH9300762011623852957", None, "762", True),
    ],
)
def test_only_what_is_known_contradicts_an_iban(iban: str, bic: str | None, bank_code: str | None, fits: bool) -> None:
    assert fits_bank(iban, bic, bank_code) is fits


def test_the_registries_are_not_read_before_an_account_is_asked_for() -> None:
    script = "import sys, tollgate.catalog; sys.exit('schwifty' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("country", ["AT", "BE", "DE", "EE", "ES", "FI", "FR", "IT", "PT"])
@pytest.mark.parametrize("number", ["ABCDEFGHIJ", "12345ABCDEF", "0" * 64])
def test_letters_and_long_numbers_build_nothing_or_an_iban(country: str, number: str) -> None:
    built = build_iban(country, "21000418", number)

    assert built is None or is_iban(built)


@pytest.mark.parametrize(
    ("country", "is_reached"),
    [("DE", True), ("CH", True), ("GB", True), ("RE", True), ("RS", True), ("BR", False), ("TR", False), ("", False)],
)
def test_not_every_country_with_ibans_is_reached_by_sepa(country: str, is_reached: bool) -> None:
    assert is_in_sepa(country) is is_reached
