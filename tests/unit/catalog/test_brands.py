"""Brands are found by code or number and checked by range, length and check digit.
Which channel offers them is not for the catalogue to say.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tollgate.catalog.brand_rows import AccountType
from tollgate.catalog.brands import BRANDS, CARD_BRANDS, ROWS, accepts_number, detect_brand, find_brand, passes_luhn
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.test_cards import TEST_CARDS, TestCard

METHODS = {"CC", "DC", "DD", "VA", "OT", "PP"}


def test_no_two_brands_share_a_code_or_an_alias() -> None:
    aliases = [alias for row in ROWS for alias in row.aliases]

    assert len(BRANDS) == len(ROWS)
    assert len(set(aliases)) == len(aliases)
    assert set(aliases) & set(BRANDS) == set()


def test_every_code_and_alias_could_be_sent_as_a_brand() -> None:
    shape = PARAMETERS["paymentBrand"].shape

    assert [code for row in ROWS for code in (row.code, *row.aliases) if not shape.accepts(code)] == []


def test_every_row_is_whole() -> None:
    for row in ROWS:
        assert row.label, row.code
        assert row.method in METHODS, row.code
        assert row.cvv_length in (3, 4), row.code
        assert set(row.shares) <= set(BRANDS), row.code
        assert all(re.fullmatch("[0-9]{1,8}(-[0-9]{1,8})?", prefix) for prefix in row.prefixes), row.code
        assert not row.prefixes or row.account is AccountType.CARD, row.code
        assert not row.wallet or f"{row.wallet}.paymentToken" in PARAMETERS, row.code


def test_no_two_brands_have_the_same_prefix() -> None:
    prefixes = [prefix for row in ROWS for prefix in row.prefixes]

    assert len(set(prefixes)) == len(prefixes)


def test_no_brand_has_a_range_inside_one_of_the_great_networks() -> None:
    networks = ("VISA", "MASTER", "AMEX", "DINERS", "JCB")
    inside = [
        prefix
        for row in CARD_BRANDS
        if row.code not in networks
        for prefix in row.prefixes
        if any(
            accepts_number(replace(BRANDS[code], lengths=(), luhn=False), prefix.partition("-")[0].ljust(8, "0"))
            for code in networks
        )
    ]

    assert inside == []


def test_the_list_is_as_long_as_merchants_expect() -> None:
    wallets = [row for row in ROWS if row.account is AccountType.WALLET]

    assert len(CARD_BRANDS) + len(wallets) >= 45
    assert len(ROWS) >= 60


def test_every_prefix_of_a_brand_detects_it_or_a_longer_one() -> None:
    for row in CARD_BRANDS:
        for prefix in row.prefixes:
            low = prefix.partition("-")[0]
            found = detect_brand(low.ljust(16, "0"))
            assert found is not None, prefix
            longer = [other for other in found.prefixes if len(other.partition("-")[0]) > len(low)]
            assert found is row or longer, prefix


@pytest.mark.parametrize(
    ("number", "code"),
    [
        *((card.number, card.brand) for card in TEST_CARDS.values()),
        ("5386024192625914", "MASTER"),
        ("2221000000000009", "MASTER"),
        ("2720990000000007", "MASTER"),
        ("6011000990139424", "DISCOVER"),
        ("5019717010103742", "DANKORT"),
        ("4571000000000001", "VISA"),
        ("6062826786276634", "HIPERCARD"),
        ("6362970000457013", "ELO"),
        ("6500000000000002", "DISCOVER"),
        ("42", "VISA"),
    ],
)
def test_a_number_decides_its_brand(number: str, code: str) -> None:
    found = detect_brand(number)

    assert found is not None
    assert found.code == code


@pytest.mark.parametrize("number", ["", "0000000000000000", "2220990000000000", "2721000000000000", "9999999999", "x4"])
def test_a_number_outside_every_range_has_no_brand(number: str) -> None:
    assert detect_brand(number) is None


@pytest.mark.parametrize("card", TEST_CARDS.values(), ids=lambda card: card.number)
def test_a_test_card_is_acceptable_to_its_brand(card: TestCard) -> None:
    assert accepts_number(BRANDS[card.brand], card.number)


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("VISA", "4444444444444444"),
        ("VISA", "4200000000000001"),
        ("VISA", "5454545454545454"),
        ("VISA", "420000000000000"),
        ("AMEX", "4200000000000000"),
        ("MASTER", "377777777777770"),
        ("MADA", "377777777777770"),
        ("DANKORT", "5454545454545454"),
    ],
)
def test_a_number_that_cannot_be_of_a_brand_is_not_accepted(code: str, number: str) -> None:
    assert not accepts_number(BRANDS[code], number)


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("MADA", "4200000000000000"),
        ("MADA", "5454545454545454"),
        ("DANKORT", "4571000000000001"),
        ("DANKORT", "5019717010103742"),
        ("BCMC", "67034200554565015"),
        ("NATIVA", "5200530000000003"),
        ("MAESTRO", "6062826786276634"),
        ("STAPLES", "123456789"),
    ],
)
def test_a_co_brand_carries_numbers_of_its_networks(code: str, number: str) -> None:
    assert accepts_number(BRANDS[code], number)


@pytest.mark.parametrize("number", ["4200000000000000", "79927398713", "377777777777770", "0"])
def test_the_check_digit_passes(number: str) -> None:
    assert passes_luhn(number)


@pytest.mark.parametrize("number", ["4444444444444444", "4200000000000001", "79927398710", "377777777777771"])
def test_the_check_digit_fails(number: str) -> None:
    assert not passes_luhn(number)


def test_the_check_digit_agrees_with_its_textbook_definition() -> None:
    def textbook(number: str) -> bool:
        total = 0
        for place, character in enumerate(reversed(number)):
            value = int(character) * (2 if place % 2 else 1)
            total += value - 9 if value > 9 else value
        return total % 10 == 0

    assert [number for number in range(10_000) if passes_luhn(str(number)) != textbook(str(number))] == []


@pytest.mark.parametrize(
    ("spelling", "code"),
    [("AMERICAN_EXPRESS", "AMEX"), ("Diners Club", "DINERS"), ("mastercard", "MASTER"), ("visa", "VISA")],
)
def test_other_spellings_are_found_on_lenient_channels_only(spelling: str, code: str) -> None:
    assert find_brand(spelling, lenient=True) is BRANDS[code]
    assert find_brand(spelling) is None


def test_an_unknown_code_is_not_found() -> None:
    assert find_brand("NO_SUCH_BRAND", lenient=True) is None
    assert find_brand("VISA") is BRANDS["VISA"]
