"""Writes the currency and country tables of the catalog from the ISO libraries.
Nothing at run time depends on those.
"""

from __future__ import annotations

from pathlib import Path

import iso3166
import iso4217

CATALOG = Path(__file__).parent.parent / "src" / "tollgate" / "catalog"

CURRENCIES_HEAD = '''"""ISO 4217 currencies, written by tools/make_iso_tables.py: do not edit.
Codes that count no money (metals, tests) are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Currency:
    code: str
    numeric: str
    exponent: int
    """The number of decimals of the currency; the interface always writes two."""


_ROWS = (
'''

CURRENCIES_TAIL = """)

CURRENCIES: Mapping[str, Currency] = MappingProxyType({row[0]: Currency(*row) for row in _ROWS})
"""

COUNTRIES_HEAD = '''"""ISO 3166-1 countries, written by tools/make_iso_tables.py: do not edit.
Names of countries are not kept here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Country:
    alpha2: str
    alpha3: str
    numeric: str


_ROWS = (
'''

COUNTRIES_TAIL = """)

COUNTRIES: Mapping[str, Country] = MappingProxyType({row[0]: Country(*row) for row in _ROWS})

ALPHA2_CODES = frozenset(COUNTRIES)
ALPHA3_CODES = frozenset(country.alpha3 for country in COUNTRIES.values())
NUMERIC_CODES = frozenset(country.numeric for country in COUNTRIES.values())
"""


def currency_rows() -> list[tuple[str, str, int]]:
    return sorted(
        (currency.code, f"{currency.number:03d}", currency.exponent)
        for currency in iso4217.Currency
        if currency.exponent is not None
    )


def country_rows() -> list[tuple[str, str, str]]:
    return sorted((country.alpha2, country.alpha3, country.numeric) for country in iso3166.countries)


def render_currencies() -> str:
    rows = "".join(f'    ("{code}", "{numeric}", {exponent}),\n' for code, numeric, exponent in currency_rows())
    return CURRENCIES_HEAD + rows + CURRENCIES_TAIL


def render_countries() -> str:
    rows = "".join(f'    ("{alpha2}", "{alpha3}", "{numeric}"),\n' for alpha2, alpha3, numeric in country_rows())
    return COUNTRIES_HEAD + rows + COUNTRIES_TAIL


def main() -> None:
    (CATALOG / "currencies.py").write_text(render_currencies(), encoding="utf-8")
    (CATALOG / "countries.py").write_text(render_countries(), encoding="utf-8")


if __name__ == "__main__":
    main()
