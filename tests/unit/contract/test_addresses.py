"""Addresses from the payment form: what a shopper types becomes what the parameters take."""

from __future__ import annotations

import pytest

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.contract.details import spell_address


@pytest.mark.parametrize(
    ("country", "typed", "strict", "lenient"),
    [
        ("GB", {"billing.postcode": "SW1A 1AA"}, {"billing.postcode": "SW1A1AA"}, {}),
        ("CA", {"billing.postcode": "k1a 0b1"}, {"billing.postcode": "K1A0B1"}, {}),
        ("US", {"billing.postcode": "20500-0003"}, {"billing.postcode": "205000003"}, {}),
        ("JP", {"billing.postcode": "\uff11\uff10\uff10-0001"}, {"billing.postcode": "1000001"}, {}),
        ("US", {"billing.state": "new york"}, {"billing.state": "NY"}, {"billing.state": "NY"}),
        (
            "DE",
            {"billing.state": "Nordrhein-Westfalen"},
            {"billing.state": "NordrheinWestfalen"},
            {"billing.state": "Nordrhein-Westfalen"},
        ),
        (
            "FR",
            {"billing.state": "\u00cele-de-France"},
            {"billing.state": "IledeFrance"},
            {"billing.state": "\u00cele-de-France"},
        ),
        ("", {"customer.email": "a@b.example"}, {}, {}),
    ],
)
def test_an_address_is_spelled_as_the_channel_takes_it(
    country: str, typed: dict[str, str], strict: dict[str, str], lenient: dict[str, str]
) -> None:
    assert spell_address(typed, country, is_lenient=False) == strict
    assert spell_address(typed, country, is_lenient=True) == lenient
    assert all(PARAMETERS[name].shape.accepts(text) for name, text in strict.items())


def test_text_without_a_latin_letter_stays_for_its_fault_to_be_answered() -> None:
    assert spell_address({"billing.state": "\u6771\u4eac"}, "JP", is_lenient=False) == {"billing.state": "\u6771\u4eac"}
