"""Card numbers are found in any spelling, and other numbers are left alone. Which field may have which is not known."""

from __future__ import annotations

import time

import pytest

from tollgate.catalog import card_numbers

NUMBER = "4539148803436467"
SPELLINGS = {
    "plain": NUMBER,
    "blanks": "4539 1488 0343 6467",
    "dashes": "4539-1488-0343-6467",
    "underscores": "4539_1488_0343_6467",
    "dots": "4539.1488.0343.6467",
    "slashes": "4539/1488/0343/6467",
    "each digit apart": "-".join(NUMBER),
    "wide gaps": "4539 - 1488 - 0343 - 6467",
    "zero-width": "4539\u200b1488\u200b0343\u200b6467",
    "zero-width joiners in every gap": "\u200d".join(NUMBER),
    "no-break blanks": "4539\u00a01488\u202f03436467",
    "fullwidth": NUMBER.translate({48 + value: 0xFF10 + value for value in range(10)}),
    "Arabic": NUMBER.translate({48 + value: 0x0660 + value for value in range(10)}),
    "Devanagari": NUMBER.translate({48 + value: 0x0966 + value for value in range(10)}),
    "mathematical": NUMBER.translate({48 + value: 0x1D7CE + value for value in range(10)}),
    "superscript": NUMBER.translate(dict(zip(range(48, 58), "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True))),
    "line breaks": "4539\n1488\n0343\n6467",
    "written line breaks": "4539\\n1488\\n0343\\n6467",
    "among other numbers": "order 2026 4539 1488 0343 6467",
    "between letters": f"card{NUMBER}end",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_card_number_is_hidden_in_any_spelling(text: str) -> None:
    hidden = card_numbers.hide_card_numbers(text)

    assert "*" in hidden
    assert not card_numbers.contains_number(hidden, "0343")
    assert card_numbers.has_long_run(text)


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_known_number_is_found_in_any_spelling(text: str) -> None:
    assert card_numbers.contains_number(text, card_numbers.normalize_number(NUMBER))


@pytest.mark.parametrize("separator", ["x", "ab", ";;;;;;", "é", " and "])
def test_a_known_number_is_found_whatever_stands_between_its_digits(separator: str) -> None:
    assert card_numbers.contains_number(separator.join(NUMBER), card_numbers.normalize_number(NUMBER))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("card 4200000000000000 declined", "card **************** declined"),
        ("4200 0000 0000 0000", "*" * 19),
        ("4200-0000-0000-0000,", "*" * 19 + ","),
        ("x4200000000000000y", "x" + "*" * 16 + "y"),
        ("377777777777770", "*" * 15),
        ("7 4200000000000000 8 4539148803436467", "7 " + "*" * 16 + " 8 " + "*" * 16),
    ],
)
def test_a_card_number_leaves_as_stars_and_the_rest_stays(text: str, shown: str) -> None:
    assert card_numbers.hide_card_numbers(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "4200000000000001",
        "42000000000",
        "9900000000000006",
        "1763300000000000",
        "000000000000",
        "45391488034364670",
        "8a42000000000000008a000000000000",
        "8A42000000000000008A000000000000.node-1",
        "8aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_ab4200000000000000cdabcdabcdabcd",
        "f47ac10b-58cc-4372-4539-148803436467",
        "2026-11-15T13:54:33.957+00:00",
        "2026-11-16T22:21:33.123456+00:00",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        "Grüße aus Köln, Nr. 5",
    ],
)
def test_ids_times_and_numbers_of_no_brand_stay_readable(text: str) -> None:
    assert card_numbers.hide_card_numbers(text) == text


def test_text_without_a_card_number_is_not_normalized() -> None:
    text = "\ufb01ne \u00bd \uff14\uff15"

    assert card_numbers.hide_card_numbers(text) == text


def test_digits_of_any_script_become_ascii() -> None:
    assert card_numbers.fold_digits("\uff14\u0665\u096c\U0001d7df\u2078a") == "45678a"


@pytest.mark.parametrize(
    ("number", "needle"),
    [
        ("4539148803436467", "4539148803436467"),
        ("NWBK60161331926819", "60161331926819"),
        ("abc12345xyz", "ABC12345XYZ"),
        ("1234567", ""),
        ("ab1", ""),
    ],
)
def test_a_number_is_looked_for_by_its_digits_if_it_has_enough(number: str, needle: str) -> None:
    assert card_numbers.normalize_number(number) == needle


def test_a_million_characters_of_small_groups_are_looked_through() -> None:
    """The guard is against a time that grows with the square of the length; such a text would take hours then."""
    began = time.process_time()

    card_numbers.hide_card_numbers("123 456 789 " * 80_000)

    assert time.process_time() - began < 60
