"""Single values are accepted, or refused with a text. Rows of real parameters are tested elsewhere."""

from __future__ import annotations

import pytest

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.shape import (
    BIC,
    BOOLEAN,
    COUNTRY2,
    COUNTRY2_OR_NUMERIC,
    COUNTRY3,
    COUNTRY_NUMERIC,
    CURRENCY,
    DATE,
    DATE_OR_TIMESTAMP,
    IBAN,
    LOOSE_BOOLEAN,
    RECENT_DATE,
    RETURN_URL,
    TIMESTAMP,
    URL,
    Shape,
    amount,
    choice,
    digits,
    exact_amount,
    is_true,
    may_return_to,
    number,
    pattern,
    text,
)

ACCEPTED = [
    (text(1, 5), "a\tb\r\n"),
    (text(1, 5), "Zoë ü"),
    (text(0, 3), ""),
    (digits(3, 4), "123"),
    (number(1, 98), "98"),
    (number(0, 30000), "0"),
    (choice("M", "F"), "F"),
    (amount(), "9999999999.99"),
    (amount(), "10"),
    (amount(12), "999999999999.00"),
    (exact_amount(), "0.01"),
    (BOOLEAN, "false"),
    (LOOSE_BOOLEAN, "1"),
    (DATE, "2028-02-29"),
    (DATE, "9999-12-31"),
    (RECENT_DATE, "1999-12-31"),
    (TIMESTAMP, "2026-01-31 23:59:59"),
    (DATE_OR_TIMESTAMP, "2026-01-31"),
    (DATE_OR_TIMESTAMP, "2026-01-31 00:00:00"),
    (CURRENCY, "KWD"),
    (COUNTRY2, "DE"),
    (COUNTRY3, "DEU"),
    (COUNTRY_NUMERIC, "276"),
    (COUNTRY2_OR_NUMERIC, "276"),
    (COUNTRY2_OR_NUMERIC, "DE"),
    (URL, "https://shop.example/a?b[0]=c#d"),
    (URL, "HTTP://shop.example"),
    (RETURN_URL, "msdk.demo.async://payment"),
    (RETURN_URL, "HTTPS://shop.example/?mail=a@b.example"),
    (RETURN_URL, "http://localhost:8000/result?order=7"),
    (BIC, "COBADEFF"),
    (BIC, "cobadeffxxx"),
    (IBAN, "DE89370400440532013000"),
    (IBAN, "mt84malt011000012345mtlcast001s"),
]

REFUSED = [
    (text(1, 5), ""),
    (text(1, 5), "123456"),
    (text(1, 5), "a\x00"),
    (text(1, 5), "a\x7f"),
    (text(1, 5), "a\x9b"),
    (text(1, 5), "a\x1b"),
    (text(1, 5), "a\ud800"),
    (digits(3, 4), "12"),
    (digits(3, 4), "12345"),
    (digits(3, 4), "١٢٣"),
    (digits(3, 4), "123\n"),
    (number(1, 98), "0"),
    (number(1, 98), "99"),
    (number(1, 98), "-1"),
    (choice("M", "F"), "m"),
    (amount(), "10.5"),
    (amount(), "10,50"),
    (amount(), "-20.20"),
    (amount(), "+1"),
    (amount(), ".50"),
    (amount(), "99999999999"),
    (amount(), "1e3"),
    (amount(), "10.00\n"),
    (exact_amount(), "10"),
    (BOOLEAN, "1"),
    (BOOLEAN, "TRUE"),
    (LOOSE_BOOLEAN, "2"),
    (LOOSE_BOOLEAN, "yes"),
    (DATE, "2026-02-29"),
    (DATE, "2026-13-01"),
    (DATE, "20260101"),
    (DATE, "0000-01-01"),
    (RECENT_DATE, "1899-12-31"),
    (TIMESTAMP, "2026-01-31T23:59:59"),
    (TIMESTAMP, "2026-01-31 24:00:01"),
    (DATE_OR_TIMESTAMP, "2026-01-31 00:00"),
    (CURRENCY, "eur"),
    (CURRENCY, "XXX"),
    (CURRENCY, "AAA"),
    (COUNTRY2, "de"),
    (COUNTRY2, "ZZ"),
    (COUNTRY3, "ZZZ"),
    (COUNTRY_NUMERIC, "999"),
    (COUNTRY2_OR_NUMERIC, "DEU"),
    (URL, "ftp://shop.example"),
    (URL, "https://"),
    (URL, "https:///path"),
    (URL, "https://shop.example/a b"),
    (URL, 'https://shop.example/"onload'),
    (RETURN_URL, "/relative"),
    (RETURN_URL, "javascript://%0aalert(1)"),
    (RETURN_URL, "JavaScript://x"),
    (RETURN_URL, "intent://x#Intent;scheme=javascript;end"),
    (RETURN_URL, "search-ms://query=x"),
    (RETURN_URL, "ms-msdt://id"),
    (RETURN_URL, "MS-Officecmd://x"),
    (RETURN_URL, " https://shop.example"),
    (RETURN_URL, "\x01https://shop.example"),
    (RETURN_URL, "https://shop.exa\tmple"),
    (RETURN_URL, "https://shop.example\n"),
    (RETURN_URL, "https:\\\\shop.example"),
    (RETURN_URL, "https://shop.example\\@other.example"),
    (RETURN_URL, "https://shop.example@other.example/"),
    (RETURN_URL, "https:shop.example"),
    (URL, "https://shop.example@other.example/"),
    (RETURN_URL, "data://text/html"),
    (RETURN_URL, "vbscript://x"),
    (RETURN_URL, "file:///etc/passwd"),
    (RETURN_URL, "blob://x"),
    (RETURN_URL, "chrome://settings"),
    (RETURN_URL, "ws://shop.example"),
    (RETURN_URL, "https:///path"),
    (RETURN_URL, "http://?x=1"),
    (RETURN_URL, "https://shop.example/\r\nSet-Cookie:a"),
    (RETURN_URL, "https://shop.example\\@evil.example"),
    (BIC, "COBADEFFX"),
    (BIC, "COBAXXFF"),
    (IBAN, "DE89370400440532013001"),
    (IBAN, "DE8937040044053201300"),
    (IBAN, "DE89 3704 0044 0532 0130 00"),
]


@pytest.mark.parametrize(("shape", "value"), ACCEPTED)
def test_a_shape_accepts_what_it_describes(shape: Shape, value: str) -> None:
    assert shape.accepts(value)


@pytest.mark.parametrize(("shape", "value"), REFUSED)
def test_a_shape_refuses_everything_else(shape: Shape, value: str) -> None:
    assert not shape.accepts(value)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (amount(), r"must match ^[0-9]{1,10}(\.[0-9]{2})?$"),
        (amount(12), r"must match ^[0-9]{1,12}(\.[0-9]{2})?$"),
        (choice("PA", "DB"), "must be one of [PA, DB]"),
        (text(8, 255), "must have 8 to 255 characters"),
        (pattern("[A-Z]{2}", 2, 2), "must match ^[A-Z]{2}$"),
        (number(1, 98), "must be a number from 1 to 98"),
    ],
)
def test_the_message_says_what_would_be_accepted(shape: Shape, message: str) -> None:
    assert shape.message == message


@pytest.mark.parametrize(
    ("shape", "notation"),
    [
        (text(1, 255), "AN255"),
        (text(8, 255), "AN255, 8-255"),
        (digits(2, 2), "N2, exactly 2"),
        (amount(), "N10.N2"),
        (choice("M", "F"), "M, F"),
    ],
)
def test_the_notation_is_the_shorthand_of_the_reference(shape: Shape, notation: str) -> None:
    assert shape.notation == notation


def test_no_pattern_of_the_catalogue_nests_an_endless_repeat_in_another() -> None:
    endless_in_group = [
        row.name
        for row in PARAMETERS.values()
        if row.shape.pattern is not None
        for source in [row.shape.pattern.pattern]
        if any(end in source for end in ("+)+", "*)*", "+)*", "*)+", "+){", "*){"))
    ]

    assert endless_in_group == []


@pytest.mark.parametrize(
    ("word", "meaning"), [("true", True), ("True", True), ("1", True), ("false", False), ("0", False), (None, False)]
)
def test_yes_is_read_in_every_accepted_spelling(word: str | None, meaning: bool) -> None:
    assert is_true(word) is meaning


@pytest.mark.parametrize(
    ("address", "schemes", "is_lenient", "may"),
    [
        ("https://shop.example", (), False, True),
        ("HTTP://shop.example", (), False, True),
        ("myshop://back", (), False, False),
        ("myshop://back", (), True, False),
        ("myshop://back", ("myshop",), False, True),
        ("MyShop://back", ("myshop",), False, True),
        ("com.shop.app://back", (), False, False),
        ("com.shop.app://back", (), True, True),
        (".app://back", (), True, False),
        ("com.://back", (), True, False),
        ("javascript://x", ("javascript",), True, False),
        ("ms-msdt.shop://x", (), True, False),
        ("intent://x", ("intent",), True, False),
    ],
)
def test_a_shopper_returns_by_the_web_or_by_a_scheme_that_is_allowed(
    address: str, schemes: tuple[str, ...], is_lenient: bool, may: bool
) -> None:
    assert may_return_to(address, schemes, is_lenient=is_lenient) is may
