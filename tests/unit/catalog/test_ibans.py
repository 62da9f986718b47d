"""Accounts and banks: what is well formed, which bank an account names, and what contradicts it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tollgate.catalog import build_iban, find_bic, fits_bank, is_bic, is_iban

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
