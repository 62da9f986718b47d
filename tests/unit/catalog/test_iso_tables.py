"""The generated tables say what the ISO libraries say. The libraries themselves are trusted."""

from __future__ import annotations

import runpy
from pathlib import Path

import iso3166
import iso4217
import pytest

from tollgate.catalog import countries as countries_module
from tollgate.catalog import currencies as currencies_module

GENERATOR = Path(__file__).parents[3] / "tools" / "make_iso_tables.py"


def test_the_currencies_are_those_of_the_library() -> None:
    library = {
        (currency.code, f"{currency.number:03d}", currency.exponent)
        for currency in iso4217.Currency
        if currency.exponent is not None
    }

    assert {(row.code, row.numeric, row.exponent) for row in currencies_module.CURRENCIES.values()} == library


def test_the_countries_are_those_of_the_library() -> None:
    library = {(country.alpha2, country.alpha3, country.numeric) for country in iso3166.countries}

    assert {(row.alpha2, row.alpha3, row.numeric) for row in countries_module.COUNTRIES.values()} == library


def test_the_files_are_what_the_generator_writes() -> None:
    generator = runpy.run_path(str(GENERATOR))

    assert Path(currencies_module.__file__).read_text("utf-8") == generator["render_currencies"]()
    assert Path(countries_module.__file__).read_text("utf-8") == generator["render_countries"]()


@pytest.mark.parametrize(("code", "exponent"), [("JPY", 0), ("EUR", 2), ("KWD", 3)])
def test_the_decimals_of_a_currency_are_known(code: str, exponent: int) -> None:
    assert currencies_module.CURRENCIES[code].exponent == exponent
