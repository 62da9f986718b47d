"""Single values are accepted, or refused with a text. Rows of real parameters are tested elsewhere."""

from __future__ import annotations

import pytest

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.shape import (
    Shape,
    amount,
    bic,
    boolean,
    choice,
    country2,
    country2_or_numeric,
    country3,
    country_numeric,
    currency,
    date,
    date_or_timestamp,
    digits,
    exact_amount,
    iban,
    is_true,
    loose_boolean,
    may_return_to,
    number,
    pattern,
    recent_date,
    return_url,
    text,
    timestamp,
    url,
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
    (boolean(), "false"),
    (loose_boolean(), "1"),
    (date(), "2028-02-29"),
    (date(), "9999-12-31"),
    (recent_date(), "1999-12-31"),
    (timestamp(), "2026-01-31 23:59:59"),
    (date_or_timestamp(), "2026-01-31"),
    (date_or_timestamp(), "2026-01-31 00:00:00"),
    (currency(), "KWD"),
    (country2(), "DE"),
    (country3(), "DEU"),
    (country_numeric(), "276"),
    (country2_or_numeric(), "276"),
    (country2_or_numeric(), "DE"),
    (url(), "https://shop.example/a?b[0]=c#d"),
    (url(), "HTTP://shop.example"),
    (return_url(), "msdk.demo.async://payment"),
    (return_url(), "HTTPS://shop.example/?mail=a@b.example"),
    (return_url(), "http://localhost:8000/result?order=7"),
    (bic(), "COBADEFF"),
    (bic(), "cobadeffxxx"),
    (iban(), "DE89370400440532013000"),
    (iban(), "mt84malt011000012345mtlcast001s"),
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
    (boolean(), "1"),
    (boolean(), "TRUE"),
    (loose_boolean(), "2"),
    (loose_boolean(), "yes"),
    (date(), "2026-02-29"),
    (date(), "2026-13-01"),
    (date(), "20260101"),
    (date(), "0000-01-01"),
    (recent_date(), "1899-12-31"),
    (timestamp(), "2026-01-31T23:59:59"),
    (timestamp(), "2026-01-31 24:00:01"),
    (date_or_timestamp(), "2026-01-31 00:00"),
    (currency(), "eur"),
    (currency(), "XXX"),
    (currency(), "AAA"),
    (country2(), "de"),
    (country2(), "ZZ"),
    (country3(), "ZZZ"),
    (country_numeric(), "999"),
    (country2_or_numeric(), "DEU"),
    (url(), "ftp://shop.example"),
    (url(), "https://"),
    (url(), "https:///path"),
    (url(), "https://shop.example/a b"),
    (url(), 'https://shop.example/"onload'),
    (return_url(), "/relative"),
    (return_url(), "javascript://%0aalert(1)"),
    (return_url(), "JavaScript://x"),
    (return_url(), "intent://x#Intent;scheme=javascript;end"),
    (return_url(), "search-ms://query=x"),
    (return_url(), "ms-msdt://id"),
    (return_url(), "MS-Officecmd://x"),
    (return_url(), " https://shop.example"),
    (return_url(), "\x01https://shop.example"),
    (return_url(), "https://shop.exa\tmple"),
    (return_url(), "https://shop.example\n"),
    (return_url(), "https:\\\\shop.example"),
    (return_url(), "https://shop.example\\@other.example"),
    (return_url(), "https://shop.example@other.example/"),
    (return_url(), "https:shop.example"),
    (url(), "https://shop.example@other.example/"),
    (return_url(), "data://text/html"),
    (return_url(), "vbscript://x"),
    (return_url(), "file:///etc/passwd"),
    (return_url(), "blob://x"),
    (return_url(), "chrome://settings"),
    (return_url(), "ws://shop.example"),
    (return_url(), "https:///path"),
    (return_url(), "http://?x=1"),
    (return_url(), "https://shop.example/\r\nSet-Cookie:a"),
    (return_url(), "https://shop.example\\@evil.example"),
    (bic(), "COBADEFFX"),
    (bic(), "COBAXXFF"),
    (iban(), "DE89370400440532013001"),
    (iban(), "DE8937040044053201300"),
    (iban(), "DE89 3704 0044 0532 0130 00"),
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
