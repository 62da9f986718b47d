"""Postal codes by their countries, and states by their names."""

from __future__ import annotations

import re

import pytest

from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.postal_codes import POSTAL_CODES, find_state_code

EXAMPLES = {
    "AU": "2000",
    "BR": "01310-100",
    "CA": "K1A 0B1",
    "CZ": "110 00",
    "GB": "SW1A 1AA",
    "GR": "105 57",
    "IE": "D02 X285",
    "JP": "100-0001",
    "NL": "1012 AB",
    "PL": "00-001",
    "PT": "1000-001",
    "SE": "111 22",
    "SK": "811 01",
    "US": "20500-0003",
}


def test_every_row_has_an_example_and_a_country() -> None:
    assert set(POSTAL_CODES) == set(EXAMPLES)
    assert set(POSTAL_CODES) <= set(COUNTRIES)


@pytest.mark.parametrize(("country", "written"), EXAMPLES.items())
def test_a_code_is_written_in_its_parts(country: str, written: str) -> None:
    pattern, joint, shortest = POSTAL_CODES[country]
    plain = re.sub("[^A-Z0-9]", "", written)

    found = re.fullmatch(pattern, plain)

    assert found is not None
    assert joint.join(filter(None, found.groups())) == written
    assert len(plain) >= shortest
    assert re.fullmatch(pattern, plain[: shortest - 1]) is None


@pytest.mark.parametrize(
    "written", ["M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "W1A 0AX", "EC1A 1BB", "GIR 0AA", "BF1 1AA"]
)
def test_every_form_of_a_british_code_is_known(written: str) -> None:
    found = re.fullmatch(POSTAL_CODES["GB"][0], written.replace(" ", ""))

    assert found is not None
    assert " ".join(found.groups()) == written


@pytest.mark.parametrize(
    ("country", "typed", "code"),
    [
        ("US", "california", "CA"),
        ("US", "ca", "CA"),
        ("US", "New  York", "NY"),
        ("US", "D.C.", "DC"),
        ("CA", "québec", "QC"),
        ("CA", "Newfoundland and Labrador", "NL"),
        ("AU", "new south wales", "NSW"),
        ("AU", "nsw", "NSW"),
        ("AT", "Styria", None),
        ("US", "Styria", None),
    ],
)
def test_a_state_is_found_by_its_name_or_its_code(country: str, typed: str, code: str | None) -> None:
    assert find_state_code(country, typed) == code
