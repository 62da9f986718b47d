"""The frames compute brands from the server's rows, blocks and caret, holder and styles; run by Node."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tollgate.catalog.brands import BRANDS, CARD_BRANDS, accepts_number, detect_brand, passes_luhn
from unit.widget.frame_program import NOW, Call, form

NUMBERS = 2500


def complete(digits: str) -> str:
    """Adds the check digit that makes the number valid."""
    return next(digits + last for last in "0123456789" if passes_luhn(digits + last))


def make_numbers() -> list[str]:
    """Around every range of every brand, of fitting and other lengths, good and bad; and some from nowhere."""
    dice = random.Random(6)
    prefixes = [prefix.split("-") for brand in CARD_BRANDS for prefix in brand.prefixes]
    numbers = []
    for _ in range(NUMBERS):
        ends = dice.choice(prefixes)
        near = int(dice.choice(ends)) + dice.choice((-1, 0, 0, 0, 1))
        start = str(max(near, 0)) if dice.random() < 0.9 else ""
        length = dice.choice((1, 4, 12, 13, 14, 15, 16, 16, 16, 17, 18, 19, 20))
        body = (start + "".join(dice.choices("0123456789", k=20)))[: max(length - 1, 0)]
        numbers.append(complete(body) if dice.random() < 0.7 else body + dice.choice("0123456789"))
    return numbers


def test_brands_and_numbers_are_recognized_as_on_the_server(call: Call) -> None:
    numbers = make_numbers()

    owners = call(*(("detectBrand", number) for number in numbers))
    takers = call(*(("listAccepting", number) for number in numbers))

    for number, detected, accepting in zip(numbers, owners, takers, strict=True):
        expected = detect_brand(number)
        assert detected == (expected.code if expected else None), number
        assert accepting == [brand.code for brand in CARD_BRANDS if accepts_number(brand, number)], number
    assert set(owners) >= {brand.code for brand in CARD_BRANDS if brand.prefixes}, "the numbers miss a brand"


def test_what_is_no_number_is_of_no_brand(call: Call) -> None:
    assert call(("detectBrand", ""), ("detectBrand", "42x"), ("detectBrand", "4 2")) == [None, None, None]


def test_digits_of_other_scripts_and_pasted_separators_are_understood(call: Call) -> None:
    assert call(
        ("readDigits", " 4200-0000 0000\u00a00000\n"),
        ("readDigits", "\u0664\u0662\u0660\u0660 \u06f0\u06f1\u06f2\u06f3"),
        ("readDigits", "\uff14\uff12\uff10\uff10\u200e\uff11"),
        ("readDigits", "\u096a\u0968 \u2163 \u00bd \u00b2 abc"),
    ) == ["4200000000000000", "42000123", "42001", "42"]


def test_numbers_are_set_in_the_blocks_of_their_brand(call: Call) -> None:
    every = form("VISA", "AMEX", "DINERS", "MAESTRO")
    texts = [
        "4200000000000000",
        "42000",
        "4200000000000000123",
        "340000000000009",
        "36000000000008",
        "3600000000000008",
    ]

    answers = call(*(("set", "number", text, len(text), every) for text in texts))

    assert [answer["text"] for answer in answers] == [
        "4200 0000 0000 0000",
        "4200 0",
        "4200 0000 0000 0000 123",
        "3400 000000 00009",
        "3600 000000 0008",
        "3600 0000 0000 0008",
    ]
    assert call(("set", "number", "4200 0000", 9, form("VISA", formats=False)))[0]["text"] == "42000000"


def test_the_caret_stays_behind_the_digit_it_stood_behind(call: Call) -> None:
    visa = form("VISA")
    assert call(
        ("set", "number", "42900 0000", 3, visa),
        ("set", "number", "4200 00000", 10, visa),
        ("set", "number", "42001 000", 5, visa),
        ("set", "number", "4200 0000", 0, visa),
    ) == [
        {"text": "4290 0000 0", "caret": 3},
        {"text": "4200 0000 0", "caret": 11},
        {"text": "4200 1000", "caret": 6},
        {"text": "4200 0000", "caret": 0},
    ]


def test_deleting_at_a_blank_takes_the_digit_beyond_it(call: Call) -> None:
    assert call(
        ("deleteAcross", "4200 1", 5, False),
        ("deleteAcross", "4200 1", 4, True),
        ("deleteAcross", "4200 1", 3, False),
        ("deleteAcross", "12 / ", 5, False),
        ("deleteAcross", "4200", 0, False),
    ) == [
        {"text": "4201", "caret": 3},
        {"text": "4200", "caret": 4},
        None,
        {"text": "1", "caret": 1},
        None,
    ]


def test_a_number_is_cut_where_no_card_of_the_form_is_longer(call: Call) -> None:
    nineteens, digits = form("VISA", "AMEX"), "4" * 40
    assert call(
        ("limitLength", digits, nineteens),
        ("limitLength", "37", nineteens),
        ("limitLength", "51", nineteens),
        ("limitLength", "4", form("MASTER", brand="MASTER")),
        ("limitLength", "4", form("STAPLES")),
    ) == [19, 15, 19, 19, 32]


@pytest.mark.parametrize(
    ("digits", "options", "expected"),
    [
        ("", form("VISA"), ([], None)),
        ("4", form("VISA", "MASTER"), (["VISA"], "VISA")),
        ("5", form("VISA", "MASTER", "MAESTRO"), (["MASTER", "MAESTRO"], None)),
        ("50", form("VISA", "MASTER", "MAESTRO"), (["MAESTRO"], "MAESTRO")),
        ("504175", form("MAESTRO", "ELO"), (["ELO", "MAESTRO"], "ELO")),
        ("42", form("CARTEBANCAIRE", "VISA"), (["VISA", "CARTEBANCAIRE"], "VISA")),
        ("42", form("VISA", "CARTEBANCAIRE", priority=["CARTEBANCAIRE"]), (["CARTEBANCAIRE", "VISA"], "CARTEBANCAIRE")),
        ("42", form("CARTEBANCAIRE"), (["CARTEBANCAIRE"], "CARTEBANCAIRE")),
        ("3", form("VISA", "AMEX"), (["AMEX"], None)),
        ("34", form("VISA", "AMEX"), (["AMEX"], "AMEX")),
        ("34", form("VISA"), ([], None)),
        ("34", form("STAPLES"), ([], None)),
    ],
)
def test_brands_are_recognized_while_typing(
    call: Call, digits: str, options: Any, expected: tuple[list[str], str | None]
) -> None:
    (answer,) = call(("detectAmong", digits, options))
    assert (answer["detected"], answer["active"]) == expected


def test_a_number_is_judged_while_it_grows(call: Call) -> None:
    cards, whole = form("VISA", "MASTER"), "5454545454545454"
    answers = call(*(("validateNumber", whole[:length], cards) for length in range(17)))

    assert [answer["isPotentiallyValid"] for answer in answers] == [True] * 17
    assert [answer["isValid"] for answer in answers] == [False] * 16 + [True]
    rejected = call(
        ("validateNumber", "9", cards),
        ("validateNumber", "5454545454545455", cards),
        ("validateNumber", "4200000000000001", cards),
        ("validateNumber", "4", form("VISA", "MASTER", detects=False, brand="MASTER")),
    )
    assert [answer["isPotentiallyValid"] for answer in rejected] == [False, False, True, False]
    assert {answer["error"] for answer in rejected} == {"cardNumberError"}


def test_a_good_number_of_a_brand_the_form_does_not_take_is_a_fault_of_its_own(call: Call) -> None:
    taken, other = "5454545454545454", complete("37000000000000")
    answers = call(
        ("validateNumber", other, form("VISA", "MASTER")),
        ("validateNumber", taken, form("VISA", "MASTER", detects=False, brand="VISA")),
        ("validateNumber", taken, form("MASTER")),
    )
    assert [answer["error"] for answer in answers] == ["cardBinError", "cardNumberError", None]


def test_a_security_code_is_as_long_as_its_brand_has_it(call: Call) -> None:
    rows = [
        ("12", "VISA"),
        ("123", "VISA"),
        ("123", "AMEX"),
        ("1234", "AMEX"),
        ("123", None),
        ("1234", None),
        ("", None),
    ]
    answers = call(*(("validateField", "cvv", text, form(brand=brand), NOW) for text, brand in rows))
    assert [answer["isValid"] for answer in answers] == [False, True, False, True, True, True, False]
    assert call(("set", "cvv", "12 345", 6, form(brand="VISA")))[0]["text"] == "123"
    assert call(("validateField", "cvv", "", form(allowsEmpty=True), NOW))[0]["isValid"]
    assert not call(("validateField", "cvv", "1", form(allowsEmpty=True), NOW))[0]["isValid"]
    assert BRANDS["AMEX"].cvv_length == 4


@pytest.mark.parametrize(
    ("text", "is_valid", "is_open"),
    [
        ("Jane Jones", True, True),
        ("  Jö  ", False, True),
        ("李小龙", True, True),
        ("Henry 8", True, True),
        ("123", False, True),
        ("4200 0000 0000 0000", False, False),
        ("Jane 4200000000000000", False, False),
        ("x" * 128, True, True),
        ("x" * 129, False, False),
    ],
)
def test_a_holder_is_a_name_and_no_card_number(call: Call, text: str, is_valid: bool, is_open: bool) -> None:
    (answer,) = call(("validateField", "holder", text, form(), NOW))
    assert (answer["isValid"], answer["isPotentiallyValid"]) == (is_valid, is_open)


def test_a_holder_is_sent_without_stray_blanks(call: Call) -> None:
    assert call(("values", "holder", "  Jane \t Jones ", NOW)) == [{"card.holder": "Jane Jones"}]


def test_styles_are_taken_from_a_list_and_load_nothing(call: Call) -> None:
    wanted = {"fontSize": "15px", "color": "rgb(1, 2, 3)", "font-family": '"Open Sans", Arial'}
    hostile = {
        "background": "url(https://evil.example/)",
        "background-color": "url(https://evil.example/)",
        "line-height": "expression(alert(1))",
        "caret-color": "red; position: fixed",
        "opacity": 1,
        "position": "fixed",
        "font-weight": "va\\72(--x)",
        "letter-spacing": "1" * 200,
        "text-indent": "url (x)",
    }
    assert call(("listStyles", {**wanted, **hostile})) == [
        [["font-size", "15px"], ["color", "rgb(1, 2, 3)"], ["font-family", '"Open Sans", Arial']]
    ]
    assert call(("listColors", {"text": "#123456", "error": "url(x)", "other": "red"})) == [[["--text", "#123456"]]]


def test_options_that_are_unknown_or_misshapen_change_nothing(call: Call) -> None:
    before = form("VISA")
    hostile = {
        "accepted": "VISA",
        "brand": "__proto__",
        "brands": {"VISA": {"prefixes": ["42000000"]}},
        "checkoutId": "../../v1/payments",
        "dir": "sideways",
        "lang": '"><script>',
        "label": 301,
        "masks": "yes",
        "resource": "../payment",
        "styles": [],
    }
    taken = {"accepted": ["MASTER", "NONE", "MASTER", 7], "brand": "AMEX", "dir": "rtl", "checkoutId": f"{'A' * 32}.n1"}
    assert call(("mergeOptions", before, hostile), ("mergeOptions", before, None)) == [
        {**before, "accepted": ["VISA"]},
        {**before, "accepted": ["VISA"]},
    ]
    assert call(("mergeOptions", before, taken)) == [{**before, **taken, "accepted": ["MASTER"]}]


def test_words_that_are_too_long_are_cut_and_not_lost(call: Call) -> None:
    long = {"hint": "y" * 301, "label": "y" * 298 + "\U0001f4b3" * 2, "placeholder": "y" * 300}
    received = call(("mergeOptions", form(), long))[0]
    assert [received[name] for name in long] == ["y" * 299 + "\u2026", "y" * 298 + "\u2026", "y" * 300]
